import type { Shape } from '../graph/shape'
import { hasEnded, type RunView } from './fold'

/** Seconds that are left: the longest way through what has not ended; null: too little is known. */
export function timeLeft(run: RunView, shape: Shape, now: number): number | null {
  const left = new Map<string, number>()
  const steps = shape.steps.filter((step) => !step.parent)
  for (const step of steps) {
    const own = stepLeft(run, step.key, step.expected, now)
    if (own === null) return byShare(run, now)
    left.set(step.key, own)
  }
  const before = new Map<string, string[]>()
  for (const edge of shape.edges) if (left.has(edge.from)) before.set(edge.to, [...(before.get(edge.to) ?? []), edge.from])
  const whole = new Map<string, number>()
  const wholeOf = (key: string, depth: number): number => {
    const known = whole.get(key)
    if (known !== undefined) return known
    whole.set(key, left.get(key) ?? 0)
    const waits = depth > 2000 ? [] : (before.get(key) ?? [])
    const found = (left.get(key) ?? 0) + Math.max(0, ...waits.map((from) => wholeOf(from, depth + 1)))
    whole.set(key, found)
    return found
  }
  return Math.max(0, ...steps.map((step) => wholeOf(step.key, 0)))
}

function stepLeft(run: RunView, key: string, expected: number | null, now: number): number | null {
  const step = run.steps.get(key)
  if (step && hasEnded(step.status)) return 0
  const began = step?.began
  if (step?.items && began !== undefined) {
    const group = run.groups.get(key)
    const done = (group?.counts.succeeded ?? 0) + (group?.counts.skipped ?? 0) + (group?.counts.failed ?? 0)
    return done ? ((now - began) / done) * (step.items - done) : null
  }
  if (expected === null) return null
  return Math.max(0, expected - (began === undefined ? 0 : now - began))
}

/** As long for what is left as for what is done. */
function byShare(run: RunView, now: number): number | null {
  if (!run.done || !run.planned) return null
  return ((now - run.began) / run.done) * (run.planned - run.done)
}
