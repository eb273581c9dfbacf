export interface Place {
  /** As an expression names it, behind the name of the whole. */
  path: string
  text: string
}

/** Parts of a value that are looked at in one search, and places that it gives. */
const MOST_LOOKED = 300_000
export const MOST_FOUND = 100
const LONGEST = 120

/** What a part is called inside of the value that holds it. */
export function inside(path: string, name: string, isList: boolean): string {
  if (isList) return `${path}[${name}]`
  return /^[A-Za-z_]\w*$/.test(name) ? `${path}.${name}` : `${path}[${JSON.stringify(name)}]`
}

function around(text: string, at: number): string {
  const from = Math.max(0, at - 30)
  const cut = text.slice(from, from + LONGEST)
  return `${from ? '…' : ''}${cut}${from + LONGEST < text.length ? '…' : ''}`
}

/** The places in a value whose name or text has the words; `whole` is false where not all of it was looked at. */
export function findIn(value: unknown, wanted: string, head: string): { places: Place[]; whole: boolean } {
  const words = wanted.toLowerCase()
  const places: Place[] = []
  const left: [string, string, unknown][] = [[head, '', value]]
  let looked = 0
  while (left.length && looked < MOST_LOOKED && places.length < MOST_FOUND) {
    const [path, name, part] = left.pop() as [string, string, unknown]
    looked += 1
    const isMany = part !== null && typeof part === 'object'
    const text = isMany ? '' : String(part)
    const at = text.toLowerCase().indexOf(words)
    if (at >= 0) places.push({ path, text: around(text, at) })
    else if (name && name.toLowerCase().includes(words)) places.push({ path, text: isMany ? (Array.isArray(part) ? '[ … ]' : '{ … }') : around(text, 0) })
    if (!isMany) continue
    const isList = Array.isArray(part)
    const entries = isList ? part.map((item, index): [string, unknown] => [String(index), item]) : Object.entries(part)
    // What is pushed last is looked at first.
    for (let index = entries.length - 1; index >= 0; index -= 1) {
      const [key, item] = entries[index] as [string, unknown]
      left.push([inside(path, key, isList), isList ? '' : key, item])
    }
  }
  return { places, whole: !left.length }
}
