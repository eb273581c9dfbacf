import { onScopeDispose } from 'vue'
import { get, part, type Schemas } from '../api/client'
import { followRun, type Following } from '../api/events'

/** Runs that are followed at once: a browser has few connections to a server. */
const MOST = 3
/** Events after which another question may wait, or one waits no more. */
const ASKING = /^(approval\.|input\.|step\.unknown|run\.)/

/** Runs in which something was answered here: what they ask next is told at once, by their events. */
export function answeredRuns(asks: () => void): { follow: (run: string) => Promise<void> } {
  const followed = new Map<string, Following>()
  let over = false

  function leave(run: string): void {
    followed.get(run)?.stop()
    followed.delete(run)
  }

  async function follow(run: string): Promise<void> {
    if (followed.has(run)) return asks()
    try {
      const found = await get<Schemas['RunDetail']>(`/runs/${part(run)}`, { results: false })
      const hasEnded = Boolean(found.ended_at)
      if (!over && !hasEnded && !followed.has(run)) {
        const [oldest] = followed.keys()
        if (followed.size >= MOST && oldest) leave(oldest)
        const following = followRun(
          run,
          (events) => {
            if (events.some((event) => ASKING.test(event.type))) asks()
          },
          (state) => {
            if (state === 'ended' || state === 'refused') leave(run)
          },
          found.last_seq ?? 0,
        )
        followed.set(run, following)
      }
    } catch {
      // The inbox asks again by itself, and says what is wrong.
    }
    // What was asked before the run is followed is in what is read now.
    asks()
  }

  onScopeDispose(() => {
    over = true
    for (const run of [...followed.keys()]) leave(run)
  })
  return { follow }
}
