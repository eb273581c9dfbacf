/** Have the browser keep a text as a file. */
export function saveFile(name: string, text: string, type = 'text/plain'): void {
  const link = document.createElement('a')
  link.href = URL.createObjectURL(new Blob([text], { type }))
  link.download = name.replaceAll(/[^\p{L}\p{N}._-]+/gu, '_').slice(0, 120)
  link.click()
  // The browser has taken it by the next turn of its loop.
  setTimeout(() => URL.revokeObjectURL(link.href))
}

/** Bytes of the largest file that is read: the server takes no larger document. */
export const LARGEST_FILE = 5_000_000

/** The text of the file that a person chose in an input, which may then choose the same one again. */
export async function chosenFile(event: Event): Promise<string | null> {
  const input = event.target as HTMLInputElement
  const file = input.files?.[0]
  if (!file) return null
  const text = file.size > LARGEST_FILE ? null : await file.text()
  input.value = ''
  return text
}
