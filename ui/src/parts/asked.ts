import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'

/** Something that is asked of the server: what it answered, whether it is being asked, and what went wrong. */
export interface Asked<Answer> {
  value: ShallowRef<Answer | null>
  /** Its own alone, since the next answer takes it away: what came of something else is kept elsewhere. */
  error: Readonly<ShallowRef<unknown>>
  busy: ShallowRef<boolean>
  /** Ask (again). What was there stays until the answer comes; of several answers the latest counts. */
  load: () => Promise<void>
  /** What came of something else is newer than what is being asked for. */
  take: (answer: Answer) => void
}

/** `again`: ask once more when the person comes back to the page. */
export function asked<Answer>(ask: () => Promise<Answer>, again = false): Asked<Answer> {
  const value = shallowRef<Answer | null>(null)
  const error = shallowRef<unknown>(null)
  const busy = shallowRef(false)
  let count = 0

  async function load(): Promise<void> {
    count += 1
    const mine = count
    busy.value = true
    try {
      const answer = await ask()
      if (mine !== count) return
      value.value = answer
      error.value = null
    } catch (fault) {
      if (mine === count) error.value = fault
    } finally {
      if (mine === count) busy.value = false
    }
  }

  function take(answer: Answer): void {
    count += 1
    busy.value = false
    value.value = answer
    error.value = null
  }

  if (again) {
    const seen = (): void => {
      if (document.visibilityState === 'visible') void load()
    }
    document.addEventListener('visibilitychange', seen)
    window.addEventListener('focus', seen)
    onScopeDispose(() => {
      document.removeEventListener('visibilitychange', seen)
      window.removeEventListener('focus', seen)
    })
  }
  void load()
  return { value, error, busy, load, take }
}
