import type { Shape } from '../graph/shape'
import type { Standing } from '../graph/standing'

/** The steps that each step waits for, by key. */
export function waitsOf(shape: Shape): Map<string, string[]> {
  const found = new Map<string, string[]>()
  for (const edge of shape.edges) {
    const known = found.get(edge.to)
    if (known) known.push(edge.from)
    else found.set(edge.to, [edge.from])
  }
  return found
}

const endOf = (standing: Standing | undefined): number => standing?.ended ?? standing?.began ?? -Infinity

/** Keys of the steps that decided how long the run took, as it ran: from the last back to what each waited for longest. */
export function criticalPath(shape: Shape, standing: ReadonlyMap<string, Standing>): Set<string> {
  const waits = waitsOf(shape)
  const last = (keys: string[]): string | undefined =>
    keys.filter((key) => standing.get(key)?.began !== undefined).sort((a, b) => endOf(standing.get(b)) - endOf(standing.get(a)))[0]
  const found = new Set<string>()
  let at = last(shape.steps.filter((step) => !step.parent).map((step) => step.key))
  while (at && !found.has(at)) {
    found.add(at)
    at = last(waits.get(at) ?? [])
  }
  return found
}
