import type { RunView, StepStatus } from '../run/fold'
import { keyOf } from './shape'

/** How a step of the plan stands in a run: of many instances the most telling state, and how many stand so. */
export interface Standing {
  status: StepStatus
  counts: Partial<Record<StepStatus, number>>
  total: number
  attempts: number
  began?: number
  ended?: number
  cached: boolean
  path: string
}

/** Of several instances the first of these that any of them has is shown. */
const RANK: StepStatus[] = [
  'unknown',
  'waiting',
  'failed',
  'timed_out',
  'retrying',
  'running',
  'ready',
  'pending',
  'cancelled',
  'succeeded',
  'skipped',
]

export function standings(run: RunView): Map<string, Standing> {
  const found = new Map<string, Standing>()
  const loops = new Set<string>()
  for (const step of run.steps.values()) {
    const key = keyOf(step.path)
    const known = found.get(key)
    if (known && step.name.endsWith(']') && !known.path.endsWith(']') && !loops.has(key)) {
      // A loop and its items: the items are counted.
      loops.add(key)
      known.total = 0
      known.counts = {}
    }
    if (!known) {
      found.set(key, {
        status: step.status,
        counts: { [step.status]: 1 },
        total: 1,
        attempts: step.attempts.length,
        cached: step.cached,
        path: step.path,
        ...(step.began === undefined ? {} : { began: step.began }),
        ...(step.ended === undefined ? {} : { ended: step.ended }),
      })
      continue
    }
    known.total += 1
    known.counts[step.status] = (known.counts[step.status] ?? 0) + 1
    known.attempts = Math.max(known.attempts, step.attempts.length)
    known.cached &&= step.cached
    if (step.began !== undefined) known.began = Math.min(known.began ?? step.began, step.began)
    if (step.ended !== undefined) known.ended = Math.max(known.ended ?? step.ended, step.ended)
    if (RANK.indexOf(step.status) < RANK.indexOf(known.status)) {
      known.status = step.status
      known.path = step.path
    }
  }
  return found
}
