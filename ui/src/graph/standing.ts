import type { RunView, StepStatus, StepView } from '../run/fold'
import type { Group } from '../run/groups'

/** How a step of the plan stands in a run: of many instances the most telling state, and how many stand so. */
export interface Standing {
  status: StepStatus
  counts: Partial<Record<StepStatus, number>>
  total: number
  attempts: number
  began?: number
  ended?: number
  cached: boolean
  /** Why it was skipped or what it waits for, where all of it stands so. */
  reason: string
  path: string
}

/** A step of a run that no event has told of yet. */
export const NOT_BEGUN: Standing = { status: 'pending', counts: {}, total: 1, attempts: 0, cached: false, reason: '', path: '' }

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

function chosen(group: Group): StepView {
  const status = RANK.find((one) => group.counts[one])
  const last = status && group.latest[status]
  if (last && last.status === status) return last
  return group.members.find((step) => step.status === status && step !== group.loop) ?? (group.members[0] as StepView)
}

function standingOf(group: Group): Standing {
  const shown = chosen(group)
  const whole = group.loop ?? shown
  return {
    status: shown.status,
    counts: { ...group.counts },
    total: group.loop ? (group.loop.items ?? group.members.length - 1) : group.members.length,
    attempts: shown.attempts.length,
    cached: shown.cached,
    reason: shown.reason,
    path: shown.path,
    ...(whole.began === undefined ? {} : { began: whole.began }),
    ...(whole.ended === undefined ? {} : { ended: whole.ended }),
  }
}

/** The standings of a run, renewed for what has changed alone. */
export class Standings {
  private readonly seen = new Map<string, number>()

  constructor(private readonly known: Map<string, Standing>) {}

  /** Take in what has changed since the last time. */
  renew(run: RunView): void {
    for (const group of run.groups.values()) {
      if (this.seen.get(group.key) === group.version) continue
      this.seen.set(group.key, group.version)
      this.known.set(group.key, standingOf(group))
    }
  }
}

export function standings(run: RunView): Map<string, Standing> {
  const found = new Map<string, Standing>()
  new Standings(found).renew(run)
  return found
}
