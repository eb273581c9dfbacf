import { address, get, part, Problem, type Schemas } from './client'

/** An event of the journal; its fields are those of docs/reference/events.md. */
export interface RunEvent {
  type: string
  seq: number
  at: number
  path?: string
  /** What it says to people, in English. */
  text?: string
  [field: string]: unknown
}

export type Connection = 'open' | 'lost' | 'ended' | 'refused'

/** Seconds after which a lost stream is asked for again; doubled up to the last. */
const FIRST_WAIT = 0.5
const LONGEST_WAIT = 15
/** Milliseconds that an event which came too early waits for those before it; then they are asked for. */
const PATIENCE = 400
/** Events of a page after which there is another page to ask for, before what comes is followed. */
const ENOUGH = 500
/** Milliseconds for which events are gathered: many of one moment are one change of the page. */
const FRAME = 16

/** Events in their order, each once, in whatever order they come. */
export class InOrder {
  private readonly early = new Map<number, RunEvent>()

  /** `dense`: numbers have no gaps, as those of a whole run; of a plan inside one they do. */
  constructor(
    private readonly dense: boolean,
    public last = 0,
  ) {}

  take(events: RunEvent[]): RunEvent[] {
    const found: RunEvent[] = []
    for (const event of events) {
      if (event.seq <= this.last) continue
      if (this.dense && event.seq !== this.last + 1) {
        this.early.set(event.seq, event)
        continue
      }
      this.last = event.seq
      found.push(event)
      for (let next = this.early.get(this.last + 1); next; next = this.early.get(this.last + 1)) {
        this.early.delete(next.seq)
        this.last = next.seq
        found.push(next)
      }
    }
    return found
  }

  /** Whether something waits for what has not come. */
  get waits(): boolean {
    return this.early.size > 0
  }

  forget(): void {
    this.early.clear()
  }
}

export interface Following {
  stop: () => void
  /** Ask at once, and not when the wait is over. */
  now: () => void
}

/**
 * Follows a run's journal from its first event: what is there already in pages, then what comes as it comes. A
 * connection that is lost is taken up behind the last event that came, so that none is missed and none comes twice.
 */
export function followRun(
  run: string,
  told: (events: RunEvent[]) => void,
  connection: (state: Connection, why?: Problem) => void,
  /** Number of the last event that is known already; 0: all are told. */
  from = 0,
): Following {
  const dense = !run.includes(':')
  const order = new InOrder(dense, from)
  let after = from
  let wait = FIRST_WAIT
  let stopped = false
  let source: EventSource | null = null
  let timer: ReturnType<typeof setTimeout> | undefined
  let frame: ReturnType<typeof setTimeout> | undefined
  let gap: ReturnType<typeof setTimeout> | undefined
  let heard: RunEvent[] = []
  let over = false

  function hand(): void {
    clearTimeout(frame)
    frame = undefined
    const batch = heard
    heard = []
    if (!stopped && batch.length) told(batch)
  }

  function take(events: RunEvent[]): void {
    for (const event of order.take(events)) heard.push(event)
    after = Math.max(after, order.last)
    clearTimeout(gap)
    if (order.waits) gap = setTimeout(lost, PATIENCE)
    frame ??= setTimeout(hand, FRAME)
  }

  async function pages(): Promise<void> {
    for (;;) {
      const page = await get<Schemas['EventPage']>(`/runs/${part(run)}/events`, { follow: false, after, limit: 1000, texts: true })
      if (stopped) return
      take(page.events as unknown as RunEvent[])
      const moved = page.last > after
      after = Math.max(after, page.last)
      if (page.ended) {
        over = true
        hand()
        return connection('ended')
      }
      // Of a run that goes on fast no page is empty: what comes from here on comes by the stream.
      if (dense ? page.events.length < ENOUGH : !moved) return stream()
    }
  }

  function stream(): void {
    source = new EventSource(address(`/runs/${part(run)}/events?after=${after}&texts=true`))
    source.onopen = () => {
      wait = FIRST_WAIT
      connection('open')
    }
    source.onmessage = (message) => {
      take([JSON.parse(message.data as string) as RunEvent])
    }
    source.addEventListener('end', () => {
      // What is still missing, or came meanwhile, is in the pages.
      if (order.waits) return lost()
      close()
      over = true
      hand()
      connection('ended')
    })
    // The browser would come back by itself, but not where it was answered with an error: pages tell which it was.
    source.onerror = lost
  }

  function close(): void {
    clearTimeout(gap)
    source?.close()
    source = null
  }

  function lost(): void {
    close()
    order.forget()
    after = order.last
    connection('lost')
    again()
  }

  function again(least = 0): void {
    if (stopped) return
    clearTimeout(timer)
    timer = setTimeout(begin, Math.max(wait, least) * 1000)
    wait = Math.min(wait * 2, LONGEST_WAIT)
  }

  function begin(): void {
    clearTimeout(timer)
    close()
    pages().catch((error: unknown) => {
      if (stopped) return
      const problem = error instanceof Problem ? error : new Problem(0, 'page', String(error))
      const passes = problem.status === 0 || problem.status === 429 || problem.status >= 500
      connection(passes ? 'lost' : 'refused', problem)
      if (passes) again(problem.retryAfter ?? 0)
    })
  }

  function now(): void {
    if (stopped || over || source) return
    wait = FIRST_WAIT
    begin()
  }

  window.addEventListener('online', now)
  begin()
  return {
    now,
    stop: () => {
      stopped = true
      close()
      clearTimeout(timer)
      clearTimeout(frame)
      window.removeEventListener('online', now)
    },
  }
}
