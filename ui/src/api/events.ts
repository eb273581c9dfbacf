import { address, get, part, Problem, type JsonObject } from './client'
import type { Schemas } from './client'

/** An event of the journal; its fields are those of docs/reference/events.md. */
export interface RunEvent {
  type: string
  seq: number
  at: number
  path?: string
  [field: string]: unknown
}

export type Connection = 'open' | 'lost' | 'ended' | 'refused'

/** Seconds after which a lost stream is asked for again; doubled up to the last. */
const FIRST_WAIT = 0.5
const LONGEST_WAIT = 15

/**
 * Follows a run's journal from its first event: what is there already in pages, then what comes as it comes. A
 * connection that is lost is taken up behind the last event that came, so that none is missed and none comes twice.
 */
export function followRun(
  run: string,
  told: (events: RunEvent[]) => void,
  connection: (state: Connection, why?: Problem) => void,
): () => void {
  let last = 0
  let wait = FIRST_WAIT
  let stopped = false
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame: ReturnType<typeof setTimeout> | undefined
  let heard: RunEvent[] = []

  function hand(): void {
    frame = undefined
    const batch = heard
    heard = []
    if (!stopped && batch.length) told(batch)
  }

  function take(events: RunEvent[]): void {
    for (const event of events) {
      if (event.seq <= last) continue
      last = event.seq
      heard.push(event)
    }
    // Many events of one moment are one change of the page.
    frame ??= setTimeout(hand, 16)
  }

  async function pages(): Promise<void> {
    for (;;) {
      const page = await get<Schemas['EventPage']>(`/runs/${part(run)}/events`, {
        follow: false,
        after: last,
        limit: 1000,
      })
      take(page.events as unknown as RunEvent[])
      if (stopped) return
      if (page.ended) return connection('ended')
      if (!page.events.length) return stream()
    }
  }

  function stream(): void {
    source = new EventSource(address(`/runs/${part(run)}/events?after=${last}`))
    source.onopen = () => {
      wait = FIRST_WAIT
      connection('open')
    }
    source.onmessage = (message) => {
      take([JSON.parse(message.data as string) as RunEvent])
    }
    source.addEventListener('end', () => {
      source?.close()
      source = null
      connection('ended')
    })
    // The browser would come back by itself, but not where it was answered with an error: pages tell which it was.
    source.onerror = () => {
      source?.close()
      source = null
      connection('lost')
      again()
    }
  }

  function again(): void {
    if (stopped) return
    timer = setTimeout(begin, wait * 1000)
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }

  function begin(): void {
    pages().catch((error: unknown) => {
      if (stopped) return
      const problem = error instanceof Problem ? error : new Problem(0, 'page', String(error))
      const passes = problem.status === 0 || problem.status === 429 || problem.status >= 500
      connection(passes ? 'lost' : 'refused', problem)
      if (passes) again()
    })
  }

  begin()
  return () => {
    stopped = true
    source?.close()
    clearTimeout(timer)
    clearTimeout(frame)
  }
}

export type { JsonObject }
