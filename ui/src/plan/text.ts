import { isMap, isPair, isScalar, isSeq, parseDocument, stringify, type Document, type Node, type Pair, type YAMLMap, type YAMLSeq } from 'yaml'
import type { Json } from '../api/client'

/** A place in a plan: names of fields and numbers of list entries, from the outside in. */
export type Path = (string | number)[]

/** What a pointer such as `/steps/0/inputs` names. */
export function pathOf(pointer: string): Path {
  return pointer
    .split('/')
    .slice(1)
    .map((name) => name.replaceAll('~1', '/').replaceAll('~0', '~'))
    .map((name) => (/^\d+$/.test(name) ? Number(name) : name))
}

/** The pointer to a place, such as `/steps/0/inputs`. */
export const pointerOf = (path: Path): string =>
  path.map((name) => `/${String(name).replaceAll('~', '~0').replaceAll('/', '~1')}`).join('')

/**
 * The text with another value at the place; `undefined` takes the place out. Only that place of the text changes: what
 * is written around it, comments too, stays as it is. Where this cannot be done, as inside of an alias, the document
 * is written anew with its comments.
 */
export function withValue(text: string, path: Path, value: Json | undefined): string {
  const document = parseDocument(text)
  if (document.errors.length) return text
  const wanted = changed(document.toJS() as Json, path, value)
  const cut = value === undefined ? cutOut(text, document, path) : putIn(text, document, path, value)
  if (cut !== null && says(cut, wanted)) return cut
  if (value === undefined) document.deleteIn(path)
  else document.setIn(path, value)
  return document.toString({ lineWidth: 0 })
}

/** The text with a step behind those that are there. */
export function withStep(text: string, step: Record<string, Json>): string {
  const steps = parseDocument(text).getIn(['steps']) as Node | undefined
  const count = isSeq(steps) ? steps.items.length : 0
  return count ? withValue(text, ['steps', count], step) : withValue(text, ['steps'], [step])
}

/** An id that no step has yet, made of a tool's name. */
export function freshId(tool: string, taken: readonly string[]): string {
  const name = (tool.split('.').at(-1) ?? tool).replaceAll(/\W/g, '_').replace(/^(\d|$)/, 'step_$1')
  let id = name
  for (let number = 2; taken.includes(id); number += 1) id = `${name}_${number}`
  return id
}

function says(text: string, wanted: Json): boolean {
  const document = parseDocument(text)
  return !document.errors.length && JSON.stringify(document.toJS()) === JSON.stringify(wanted)
}

function changed(root: Json, path: Path, value: Json | undefined): Json {
  const copy = structuredClone(root)
  let at = copy as Record<string | number, Json>
  for (const [index, name] of path.entries()) {
    const isLast = index === path.length - 1
    if (isLast && value === undefined) {
      if (Array.isArray(at)) at.splice(Number(name), 1)
      else delete at[name]
    } else if (isLast) at[name] = value as Json
    else {
      if (at[name] === null || typeof at[name] !== 'object') at[name] = {}
      at = at[name] as Record<string | number, Json>
    }
  }
  return copy
}

/** Where a collection is written with braces, all inside is too. */
function isFlow(document: Document, path: Path): boolean {
  for (let depth = 0; depth <= path.length; depth += 1) {
    const node = depth ? document.getIn(path.slice(0, depth), true) : document.contents
    if ((isMap(node) || isSeq(node)) && node.flow) return true
  }
  return false
}

function putIn(text: string, document: Document, path: Path, value: Json): string | null {
  const above = path.slice(0, -1)
  const name = path.at(-1)
  const parent = (above.length ? document.getIn(above, true) : document.contents) as Node | null | undefined
  if (name === undefined) return null
  if (isMap(parent)) return putField(text, parent, String(name), value, isFlow(document, above))
  if (isSeq(parent)) return putEntry(text, parent, Number(name), value, isFlow(document, above))
  // The place around it is not there yet: it comes with its one field.
  return above.length ? putIn(text, document, above, typeof name === 'number' ? [value] : { [name]: value }) : null
}

function pairOf(map: YAMLMap, name: string): Pair<Node, Node | null> | undefined {
  return map.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === name) as
    | Pair<Node, Node | null>
    | undefined
}

function putField(text: string, map: YAMLMap, name: string, value: Json, flow: boolean): string | null {
  const known = pairOf(map, name)
  if (flow) {
    if (known?.value?.range) return spliced(text, known.value.range[0], known.value.range[1], JSON.stringify(value))
    const last = map.items.at(-1) as Pair<Node, Node | null> | undefined
    const end = last?.value?.range?.[1] ?? last?.key.range?.[1]
    const isJson = text.trimStart().startsWith('{') && isJsonText(text)
    const entry = `${isJson || !/^\w+$/.test(name) ? JSON.stringify(name) : name}: ${JSON.stringify(value)}`
    if (end !== undefined) return spliced(text, end, end, `, ${entry}`)
    return map.range ? spliced(text, map.range[0], map.range[1], `{${entry}}`) : null
  }
  const column = columnOf(text, (map.items[0] as Pair<Node> | undefined)?.key.range?.[0] ?? map.range?.[0] ?? 0)
  const written = indented(stringify({ [name]: value }, { lineWidth: 0 }).trimEnd(), column)
  if (known?.key.range) {
    const start = known.key.range[0]
    const end = known.value?.range ? Math.max(trimmedEnd(text, known.value), known.key.range[1]) : known.key.range[1]
    // A value that is not there leaves its colon.
    const colon = known.value?.range ? 0 : (/^\s*:/.exec(text.slice(end))?.[0].length ?? 0)
    return spliced(text, start, end + colon, written)
  }
  const last = map.items.at(-1) as Pair<Node, Node | null> | undefined
  if (!last) return null
  const end = lineEnd(text, last.value?.range ? trimmedEnd(text, last.value) : (last.key.range?.[1] ?? 0))
  return spliced(text, end, end, `\n${' '.repeat(column)}${written}`)
}

function putEntry(text: string, list: YAMLSeq, index: number, value: Json, flow: boolean): string | null {
  const known = list.items[index] as Node | undefined
  if (flow) {
    if (known?.range) return spliced(text, known.range[0], known.range[1], JSON.stringify(value))
    const last = list.items.at(-1) as Node | undefined
    if (last?.range) return spliced(text, last.range[1], last.range[1], `, ${JSON.stringify(value)}`)
    return list.range ? spliced(text, list.range[0], list.range[1], `[${JSON.stringify(value)}]`) : null
  }
  const beside = (known ?? list.items.at(-1)) as Node | undefined
  if (!beside?.range) return null
  const dash = text.lastIndexOf('-', beside.range[0] - 1)
  if (dash < 0) return null
  const column = columnOf(text, dash)
  const written = indented(stringify([value], { lineWidth: 0 }).trimEnd(), column)
  if (known) return spliced(text, dash, trimmedEnd(text, known), written)
  const end = lineEnd(text, trimmedEnd(text, beside))
  return spliced(text, end, end, `\n${' '.repeat(column)}${written}`)
}

function cutOut(text: string, document: Document, path: Path): string | null {
  const above = path.slice(0, -1)
  const parent = (above.length ? document.getIn(above, true) : document.contents) as Node | null | undefined
  const name = path.at(-1)
  if (!(isMap(parent) || isSeq(parent)) || name === undefined) return null
  const index = isMap(parent) ? parent.items.indexOf(pairOf(parent, String(name)) as Pair) : Number(name)
  const item = parent.items[index]
  if (!item) return text
  const node = (isPair(item) ? item.value : item) as Node | null
  const key = (isPair(item) ? item.key : item) as Node
  if (!key.range || parent.items.length === 1) return null
  let start = key.range[0]
  let end = node?.range ? trimmedEnd(text, node) : key.range[1]
  if (isFlow(document, above)) {
    const comma = /^\s*,\s*/.exec(text.slice(end))?.[0].length
    if (comma) end += comma
    else start -= /,\s*$/.exec(text.slice(0, start))?.[0].length ?? 0
    return spliced(text, start, end, '')
  }
  if (isSeq(parent)) start = text.lastIndexOf('-', start - 1)
  const line = text.lastIndexOf('\n', start - 1) + 1
  // The first field of a list's entry shares its line with the dash, where the next field moves.
  if (text.slice(line, start).trim()) {
    const next = /^[^\n]*\n\s*/.exec(text.slice(end))
    return next ? spliced(text, start, end + next[0].length, '') : null
  }
  return spliced(text, line, Math.min(lineEnd(text, end) + 1, text.length), '')
}

function isJsonText(text: string): boolean {
  try {
    JSON.parse(text)
    return true
  } catch {
    return false
  }
}

const spliced = (text: string, from: number, to: number, by: string): string => text.slice(0, from) + by + text.slice(to)

/** The lines of the text, the further ones set in by so many columns. */
const indented = (text: string, column: number): string =>
  text.replaceAll(/\n(?=[^\n])/g, `\n${' '.repeat(column)}`)

const columnOf = (text: string, at: number): number => at - (text.lastIndexOf('\n', at - 1) + 1)

function lineEnd(text: string, at: number): number {
  const end = text.indexOf('\n', at)
  return end < 0 ? text.length : end
}

/** Where a value ends, without the line ends that a block takes to itself. */
function trimmedEnd(text: string, node: Node): number {
  let end = node.range?.[1] ?? 0
  while (end > 0 && /\s/.test(text[end - 1] ?? '')) end -= 1
  return end
}
