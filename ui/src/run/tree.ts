import { hasEnded, type RunView, type StepStatus, type StepView } from './fold'

export interface TreeRow {
  step: StepView
  depth: number
  status: StepStatus
  open: boolean
}

/** What a step that only holds others is shown as: how those stand that it holds. */
export function statusOf(run: RunView, step: StepView): StepStatus {
  if (!step.holds) return step.status
  // A round went well where anything in it did: of what failed the agent was told.
  let found: StepStatus = 'pending'
  for (const path of step.children.slice(0, 200)) {
    const child = run.steps.get(path)
    if (!child) continue
    const status = statusOf(run, child)
    if (!hasEnded(status) && status !== 'pending') return status
    if (found !== 'succeeded') found = status
  }
  return found
}

/** Children that are opened by themselves: of more, the person says which to see. */
const MOST_OPENED = 60

export function isOpen(run: RunView, step: StepView, said: ReadonlyMap<string, boolean>): boolean {
  const told = said.get(step.path)
  if (told !== undefined) return told
  return step.children.length > 0 && step.children.length <= MOST_OPENED && run.steps.size <= 3000
}

/** The rows of the tree as it is opened, in the order in which things began; with words, those rows that have them. */
export function treeRows(run: RunView, said: ReadonlyMap<string, boolean>, wanted = ''): TreeRow[] {
  const rows: TreeRow[] = []
  const words = wanted.trim().toLowerCase()
  const visit = (paths: string[], depth: number): void => {
    for (const path of paths) {
      const step = run.steps.get(path)
      if (!step) continue
      if (words) {
        if (`${path} ${step.tool} ${step.error?.message ?? ''}`.toLowerCase().includes(words)) {
          rows.push({ step, depth: 0, status: statusOf(run, step), open: false })
        }
        visit(step.children, depth + 1)
        continue
      }
      const open = isOpen(run, step, said)
      rows.push({ step, depth, status: statusOf(run, step), open })
      if (open) visit(step.children, depth + 1)
    }
  }
  visit(run.roots, 0)
  return rows
}
