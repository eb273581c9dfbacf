/** What somebody wrote and did not save, kept in this browser until they do. */
const PREFIX = 'toolpath.draft.'
/** Characters of the longest draft that is kept. */
const LONGEST = 500_000

export interface Draft {
  text: string
  revision: number
}

export function keepDraft(id: string, draft: Draft): void {
  if (draft.text.length > LONGEST) return
  try {
    localStorage.setItem(PREFIX + id, JSON.stringify(draft))
  } catch {
    // The browser's store is full: the text is still on the page, which asks before it is left.
  }
}

export function draftOf(id: string): Draft | null {
  try {
    const found = JSON.parse(localStorage.getItem(PREFIX + id) ?? 'null') as Draft | null
    return found && typeof found.text === 'string' ? found : null
  } catch {
    return null
  }
}

export function dropDraft(id: string): void {
  localStorage.removeItem(PREFIX + id)
}
