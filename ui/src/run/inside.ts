import type { RunEvent } from '../api/events'

/** What an event of a call says of the plan that the call began, as if that were a run. */
const OWN: Record<string, string> = {
  'step.started': 'run.began',
  'step.succeeded': 'run.completed',
  'step.failed': 'run.failed',
  'step.timed_out': 'run.failed',
  'step.cancelled': 'run.cancelled',
  'step.skipped': 'run.cancelled',
}

/** An event of a plan inside a run, as the event of a run of its own: paths begin at that plan. */
export function asOwn(event: RunEvent, head: string): RunEvent | null {
  const path = event.path ?? ''
  if (path === head) {
    const type = OWN[event.type]
    if (!type) return null
    return { ...event, type, path: '', outputs: event['output'] }
  }
  return path.startsWith(`${head}/`) ? { ...event, path: path.slice(head.length + 1) } : itemOf(event, head)
}

/** What stands beside the call in the journal and belongs to it: items of a loop, a block that was begun anew. */
function itemOf(event: RunEvent, head: string): RunEvent | null {
  const path = event.path ?? ''
  const beside = path.startsWith(`${head}[`) || path.startsWith(`${head}~`)
  return beside ? { ...event, path: path.slice(head.lastIndexOf('/') + 1) } : null
}
