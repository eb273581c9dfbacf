import { session } from '../parts/session'

/** What somebody has typed into an answer and not sent: kept with this tab, so that a reload does not lose it. */
const PREFIX = 'toolpath.answer.'
/** Characters of the longest that is kept. */
const LONGEST = 200_000

const placeOf = (key: string): string => `${PREFIX}${session.value?.tenant ?? ''} ${session.value?.user ?? ''} ${key}`

export function keepTyped(key: string, typed: Record<string, unknown>): void {
  const text = JSON.stringify(typed)
  if (text.length > LONGEST) return
  try {
    sessionStorage.setItem(placeOf(key), text)
  } catch {
    // The browser's store is full: what was typed is still on the page.
  }
}

export function typedBefore(key: string): Record<string, unknown> {
  try {
    const found = JSON.parse(sessionStorage.getItem(placeOf(key)) ?? 'null') as unknown
    return found && typeof found === 'object' ? (found as Record<string, unknown>) : {}
  } catch {
    return {}
  }
}

export function dropTyped(key: string): void {
  sessionStorage.removeItem(placeOf(key))
}

/** Whoever comes to this tab next finds nothing of it. */
export function dropAllTyped(): void {
  for (const key of Object.keys(sessionStorage)) if (key.startsWith(PREFIX)) sessionStorage.removeItem(key)
}
