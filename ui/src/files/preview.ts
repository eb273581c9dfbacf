/** How a file is shown: what could do anything in the page, as SVG and HTML, is shown as its text. */
export type Shown = 'image' | 'csv' | 'json' | 'markdown' | 'text' | 'binary'

const IMAGES: Record<string, string> = {
  png: 'image/png',
  jpg: 'image/jpeg',
  jpeg: 'image/jpeg',
  gif: 'image/gif',
  webp: 'image/webp',
  bmp: 'image/bmp',
}

const ending = (name: string): string => /\.([^.]+)$/.exec(name)?.[1]?.toLowerCase() ?? ''

/** The type with which an image is given to the browser; empty: it is none that may be drawn. */
export const imageType = (name: string): string => IMAGES[ending(name)] ?? ''

export function shownAs(name: string, bytes: Uint8Array): Shown {
  const end = ending(name)
  if (IMAGES[end]) return 'image'
  // Texts have no NUL.
  if (bytes.subarray(0, 8000).includes(0)) return 'binary'
  if (end === 'csv' || end === 'tsv') return 'csv'
  if (end === 'json') return 'json'
  return end === 'md' || end === 'markdown' ? 'markdown' : 'text'
}

/** The rows of a table in CSV, with quotes as RFC 4180 has them; at most so many rows. */
export function rowsOf(text: string, separator: string, most: number): string[][] {
  const rows: string[][] = []
  let row: string[] = []
  let cell = ''
  let quoted = false
  for (let at = 0; at < text.length && rows.length < most; at += 1) {
    const sign = text[at]
    if (quoted) {
      if (sign !== '"') cell += sign
      else if (text[at + 1] === '"') {
        cell += '"'
        at += 1
      } else quoted = false
    } else if (sign === '"' && cell === '') quoted = true
    else if (sign === separator) {
      row.push(cell)
      cell = ''
    } else if (sign === '\n') {
      row.push(cell.replace(/\r$/, ''))
      rows.push(row)
      row = []
      cell = ''
    } else cell += sign
  }
  if (rows.length < most && (cell || row.length)) rows.push([...row, cell])
  return rows
}
