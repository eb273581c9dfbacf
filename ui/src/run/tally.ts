import { hasEnded, type RunView, type StepStatus, type StepView } from './fold'

/** How many steps of the plan itself stand how. */
export function tallyOf(run: RunView): Partial<Record<StepStatus, number>> {
  const tally: Partial<Record<StepStatus, number>> = {}
  for (const path of run.roots) {
    const step = run.steps.get(path)
    // An item or a further visit is of a step that is counted already.
    if (!step || step.holds || /[[#~]/.test(path)) continue
    tally[step.status] = (tally[step.status] ?? 0) + 1
  }
  return tally
}

const HAS_FAILED = new Set<StepStatus>(['failed', 'timed_out'])

/** The steps in which a run failed: of blocks that failed the steps inside that did, in the order in which they began. */
export function failuresOf(run: RunView, most = 5): StepView[] {
  const found: StepView[] = []
  const visit = (paths: readonly string[]): boolean => {
    let any = false
    for (const path of paths) {
      const step = run.steps.get(path)
      if (!step || found.length >= most) break
      const failed = HAS_FAILED.has(step.status)
      if (!failed && !step.holds) continue
      const inside = visit(step.children)
      if (failed && !inside) found.push(step)
      any ||= failed || inside
    }
    return any
  }
  visit(run.roots)
  return found
}

/** How many items of a loop have ended, and how many of them well. */
export function itemsOf(run: RunView, loop: StepView): { ended: number; well: number } {
  const group = run.groups.get(loop.key)
  if (group?.loop) {
    const counts = group.counts
    const ended = Object.entries(counts).reduce((sum, [status, count]) => sum + (hasEnded(status as StepStatus) ? count : 0), 0)
    return { ended, well: counts.succeeded ?? 0 }
  }
  // Items of which no event tells are seen by what they hold.
  let ended = 0
  let well = 0
  for (const path of loop.children) {
    const item = run.steps.get(path)
    if (!item) continue
    const statuses = item.holds ? item.children.map((child) => run.steps.get(child)?.status ?? 'pending') : [item.status]
    if (!statuses.length || !statuses.every(hasEnded)) continue
    ended += 1
    if (!statuses.some((status) => HAS_FAILED.has(status))) well += 1
  }
  return { ended, well }
}
