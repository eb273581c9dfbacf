import type { StepStatus, StepView } from './fold'

/** The instances of one step of the plan, counted as they change, so that no event costs more the more there are. */
export interface Group {
  key: string
  members: StepView[]
  counts: Partial<Record<StepStatus, number>>
  /** The one that came to stand so last. */
  latest: Partial<Record<StepStatus, StepView>>
  /** A loop itself, which is not counted among its items. */
  loop: StepView | null
  /** Changed with each change of a member. */
  version: number
}

export type Groups = Map<string, Group>

const isItem = (step: StepView): boolean => step.name.includes('[')

function count(group: Group, status: StepStatus, by: number): void {
  group.counts[status] = (group.counts[status] ?? 0) + by
  if (!group.counts[status]) delete group.counts[status]
}

/** Take a new instance into its group. */
export function groupOf(groups: Groups, step: StepView): void {
  let group = groups.get(step.key)
  if (!group) {
    group = { key: step.key, members: [], counts: {}, latest: {}, loop: null, version: 0 }
    groups.set(step.key, group)
  }
  const first = group.members[0]
  if (isItem(step) && first && !group.loop && !isItem(first)) {
    group.loop = first
    count(group, first.status, -1)
  }
  group.members.push(step)
  count(group, step.status, 1)
  group.latest[step.status] = step
  group.version += 1
}

/** Count an instance that stood otherwise before. */
export function moved(groups: Groups, step: StepView, before: StepStatus): void {
  const group = groups.get(step.key)
  if (!group) return
  group.version += 1
  if (group.loop !== step) {
    count(group, before, -1)
    count(group, step.status, 1)
    group.latest[step.status] = step
  }
}
