import type { Schemas } from '../api/client'
import type { RunEvent } from '../api/events'
import { words } from '../texts'
import { eventsOf } from './evidence'

const DECIDING = /^(approval\.|input\.received|step\.(succeeded|failed|timed_out|skipped|cancelled|started))/

/** What became of a question that was not answered here: who said what, in one line; empty: the journal does not tell. */
export async function answeredOf(question: Schemas['Question']): Promise<string> {
  const { events } = await eventsOf(question)
  const after = events.filter((event) => event.at >= question.asked_at && DECIDING.test(event.type))
  const said = after.find((event) => event.type === 'approval.decided' || event.type === 'input.received')
  const asked = after.find((event) => event.type === 'approval.requested' && event.at > question.asked_at)
  const last = said ?? asked ?? after.at(-1)
  return last ? lineOf(last) : ''
}

function lineOf(event: RunEvent): string {
  const by = String(event['by'] || words.inbox.somebody)
  switch (event.type) {
    case 'approval.decided':
      return [by, event['approved'] ? words.inbox.approved : words.inbox.denied, event['comment']].filter(Boolean).join(' · ')
    case 'input.received':
      if (event['timed_out']) return words.inbox.nobodyInTime
      return `${by} · ${event['declined'] ? words.inbox.declined : valuesLine(event['values'])}`
    case 'approval.requested':
      return words.inbox.askedAnew
    default: {
      const status = event.type.replace('step.', '').replace('started', 'running')
      return words.states[status] ?? status
    }
  }
}

const valuesLine = (values: unknown): string =>
  Object.entries((values ?? {}) as Record<string, unknown>)
    .filter(([, value]) => value !== null && value !== '')
    .map(([name, value]) => `${name}: ${typeof value === 'string' ? value : JSON.stringify(value)}`)
    .join(', ')
    .slice(0, 400)
