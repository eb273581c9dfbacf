import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import { get, part, type Schemas } from '../api/client'
import { followRun, type Following } from '../api/events'

/** A run that was begun from a view, and how it stands. */
export interface WatchedRun {
  run: ShallowRef<Schemas['RunDetail'] | null>
  watch: (id: string) => void
  forget: () => void
}

/** Events after which a run as a whole may stand otherwise. */
const TELLING = /^(run|approval|input|step)\./

export function watchedRun(): WatchedRun {
  const run = shallowRef<Schemas['RunDetail'] | null>(null)
  let following: Following | null = null
  let count = 0

  async function look(id: string): Promise<void> {
    count += 1
    const mine = count
    try {
      const found = await get<Schemas['RunDetail']>(`/runs/${part(id)}`)
      if (mine === count) run.value = found
    } catch {
      // The stream tells again; until then what was seen last stays.
    }
  }

  function forget(): void {
    following?.stop()
    following = null
    count += 1
    run.value = null
  }

  function watch(id: string): void {
    forget()
    void look(id)
    following = followRun(
      id,
      (events) => {
        if (events.some((event) => TELLING.test(event.type))) void look(id)
      },
      (state) => {
        if (state === 'ended') void look(id)
      },
    )
  }

  onScopeDispose(forget)
  return { run, watch, forget }
}
