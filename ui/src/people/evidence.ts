import { get, part, Problem, type Schemas } from '../api/client'
import type { RunEvent } from '../api/events'
import { planId } from '../run/places'

/** Something that happened to the step that is asked about. */
export interface Fact {
  at: number
  type: string
  text: string
}

export interface Evidence {
  facts: Fact[]
  /** What was shown the last time somebody allowed this, which no longer holds: name → before. */
  before: Record<string, unknown> | null
  /** The tool that was shown then. */
  beforeTool: string
  /** What the person's word holds for. */
  digest: string
  /** Idempotency key of the call that is in doubt. */
  key: string
  /** Whether the tool is another one than the run began with; null: not known. */
  toolChanged: boolean | null
  /** Why that could not be read. */
  toolUnread: unknown
  /** Whether all of the journal was looked through. */
  whole: boolean
}

type Fields = Record<string, unknown>

const TOLD = /^(step\.(started|retrying|failed|timed_out|unknown|succeeded|cancelled)|approval\.|fallback\.)/
/** Pages of a journal that are looked through. */
const MOST_PAGES = 20

function textOf(event: RunEvent): string {
  const error = event['error'] as { message?: string } | undefined
  const parts = [
    event['attempt'] ? `#${String(event['attempt'])}` : '',
    String(event['tool'] ?? ''),
    error?.message ?? '',
    event.type === 'approval.decided' ? (event['approved'] ? '✓' : '✕') : '',
    String(event['by'] ?? ''),
    String(event['comment'] ?? ''),
  ]
  return parts.filter(Boolean).join(' · ')
}

/** The events of the step that is asked about, or of the run where the whole plan is. */
export async function eventsOf(question: Schemas['Question']): Promise<{ events: RunEvent[]; whole: boolean }> {
  const events: RunEvent[] = []
  const place = planId(question.run_id, question.step)
  let after = 0
  for (let count = 0; count < MOST_PAGES; count += 1) {
    const page = await get<Schemas['EventPage']>(`/runs/${part(place)}/events`, { follow: false, after, limit: 1000 })
    events.push(...(page.events as unknown as RunEvent[]).filter((event) => (event.path ?? '') === question.step))
    if (page.ended || page.last === after) return { events, whole: true }
    after = page.last
  }
  return { events, whole: false }
}

type Changed = Pick<Evidence, 'toolChanged' | 'toolUnread'>

async function changedTool(question: Schemas['Question']): Promise<Changed> {
  if (!question.tool) return { toolChanged: null, toolUnread: null }
  try {
    const [tool, page] = await Promise.all([
      get<Schemas['ToolDetail']>(`/tools/${part(question.tool)}`),
      get<Schemas['EventPage']>(`/runs/${part(question.run_id)}/events`, { follow: false, limit: 1 }),
    ])
    const began = ((page.events[0] as Fields | undefined)?.['tools'] ?? {}) as Record<string, string>
    const then = began[question.tool]
    return { toolChanged: then && tool.fingerprint ? then !== tool.fingerprint : null, toolUnread: null }
  } catch (why) {
    // What is in no catalogue here may be one of the program that drives the run.
    return { toolChanged: null, toolUnread: why instanceof Problem && why.status === 404 ? null : why }
  }
}

/** What the journal and the catalogue tell of a question: what was done, what an answer binds to, what changed since. */
export async function evidenceOf(question: Schemas['Question']): Promise<Evidence> {
  const [{ events, whole }, changed] = await Promise.all([eventsOf(question), changedTool(question)])
  const asked = events.filter((event) => event.type === 'approval.requested')
  const last = asked.at(-1)
  const earlier = asked.at(-2)
  const started = events.filter((event) => event.type === 'step.started').at(-1)
  return {
    facts: events.filter((event) => TOLD.test(event.type)).map((event) => ({ at: event.at, type: event.type, text: textOf(event) })),
    before: earlier && earlier['digest'] !== last?.['digest'] ? ((earlier['inputs'] ?? {}) as Record<string, unknown>) : null,
    beforeTool: String(earlier?.['tool'] ?? ''),
    digest: String(last?.['digest'] ?? ''),
    key: String(started?.['key'] ?? ''),
    ...changed,
    whole,
  }
}
