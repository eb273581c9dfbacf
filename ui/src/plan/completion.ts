import schema from '../../../src/toolpath/notation/plan.schema.json'
import type { JsonObject } from '../api/client'

/** Names that may stand at a place of the plan. */
export interface Names {
  /** Keys of tools with what they do. */
  tools: { key: string; description: string }[]
  /** Fields of the inputs of each tool that a step names. */
  inputs: Record<string, Named[]>
  /** Schema of what each of these tools gives. */
  gives: Record<string, JsonObject | null | undefined>
  /** What `{{ }}` may name, with its type. */
  values: Named[]
  /** Why not all of it could be read. */
  unread?: unknown
}

export interface Named {
  name: string
  info: string
  /** It is known inside of its loop alone. */
  inLoop?: boolean
}

/** What may be written at a place: `from` is where it begins in the line. */
export interface Offer {
  kind: 'value' | 'tool' | 'field' | 'word'
  from: number
  options: Named[]
}

const ROOT = schema as unknown as JsonObject

/** What may be written where a line ends, seen from the lines above it; null: nothing is known. */
export function offerAt(above: readonly string[], before: string, names: Names): Offer | null {
  const template = /\{\{[^}]*?([\w.]*)$/.exec(before)
  if (template) {
    const lead = /^\s*(?:-\s+)*/.exec(before)?.[0] ?? ''
    const isInside = pathAt(above, lead).includes('loop')
    const options = names.values.filter((one) => isInside || !one.inLoop)
    return { kind: 'value', from: before.length - (template[1] ?? '').length, options }
  }
  const tool = /(?:^|[\s{,-])tool:\s*([\w.-]*)$/.exec(before)
  if (tool) {
    const options = names.tools.map((one) => ({ name: one.key, info: one.description }))
    return { kind: 'tool', from: before.length - (tool[1] ?? '').length, options }
  }
  const word = /^(\s*(?:-\s+)*)([\w$]+):\s*(\w*)$/.exec(before)
  if (word) {
    const parts = schemasAt([...pathAt(above, word[1] ?? ''), word[2] ?? ''])
    const options = parts.flatMap(wordsOf).map((name) => ({ name, info: '' }))
    return options.length ? { kind: 'word', from: before.length - (word[3] ?? '').length, options } : null
  }
  const field = /^(\s*(?:-\s+)*)(\w*)$/.exec(before)
  if (!field) return null
  const path = pathAt(above, field[1] ?? '')
  const from = before.length - (field[2] ?? '').length
  if (path.at(-1) === 'inputs' && path.length > 1) {
    const known = names.inputs[toolAbove(above, field[1]?.length ?? 0)]
    if (known?.length) return { kind: 'field', from, options: known }
  }
  const found = new Map(schemasAt(path).flatMap(fieldsOf).map((one) => [one.name, one]))
  return found.size ? { kind: 'field', from, options: [...found.values()] } : null
}

/** Names of the fields that a line is inside of, with `-` for an entry of a list. */
export function pathAt(above: readonly string[], lead: string): string[] {
  const path: string[] = []
  let depth = lead.length
  const dashes = [...lead.matchAll(/-\s+/g)]
  for (const dash of dashes.reverse()) {
    path.unshift('-')
    depth = dash.index
  }
  for (let row = above.length - 1; row >= 0 && depth >= 0; row -= 1) {
    const line = above[row] ?? ''
    const own = /^(\s*)((?:-\s+)*)(?:([\w$]+):)?(.*)$/.exec(line)
    if (!own || !line.trim() || line.trim().startsWith('#')) continue
    const indent = (own[1] ?? '').length
    const at = indent + (own[2] ?? '').length
    // A list may stand as deep as the field that it is the value of.
    const isList = path[0] === '-' && own[3] && !own[2] && at === depth
    if (own[3] && (at < depth || isList) && (own[4] ?? '').replace(/#.*/, '').trim() === '') {
      path.unshift(own[3])
      depth = at
    }
    if (own[2] && indent < depth && at <= depth) {
      path.unshift('-')
      depth = indent
    }
    if (depth === 0 && !own[2] && path[0] !== '-') break
  }
  return path
}

/** The tool of the step that a line of its inputs stands in. */
function toolAbove(above: readonly string[], depth: number): string {
  for (let row = above.length - 1; row >= 0; row -= 1) {
    const own = /^(\s*(?:-\s+)?)tool:\s*["']?([\w.-]+)/.exec(above[row] ?? '')
    if (own && (own[1] ?? '').length < depth) return own[2] ?? ''
  }
  return ''
}

/** All schemas that hold for the place: more than one where it may be of several kinds. */
function schemasAt(path: readonly string[]): JsonObject[] {
  let found = opened(ROOT)
  for (const name of path) {
    found = found.flatMap((part) => {
      const inner = name === '-' ? part['items'] : (part['properties'] as JsonObject | undefined)?.[name]
      return inner && typeof inner === 'object' ? opened(inner as JsonObject) : []
    })
  }
  return found
}

/** The schema and what it is made of: references and alternatives. */
function opened(part: JsonObject, depth = 0): JsonObject[] {
  if (depth > 6) return []
  const more: unknown[] = ['anyOf', 'oneOf', 'allOf'].flatMap((word) => (part[word] as unknown[] | undefined) ?? [])
  for (const word of ['then', 'else']) if (part[word]) more.push(part[word])
  const named = /^#\/\$defs\/(\w+)$/.exec(String(part['$ref'] ?? ''))
  if (named) more.push((ROOT['$defs'] as JsonObject)[named[1] ?? ''])
  return [part, ...more.flatMap((inner) => (inner ? opened(inner as JsonObject, depth + 1) : []))]
}

function fieldsOf(part: JsonObject): Named[] {
  return Object.entries((part['properties'] ?? {}) as Record<string, JsonObject>)
    .filter(([name, field]) => field['deprecated'] !== true && !name.startsWith('$'))
    .map(([name, field]) => ({ name, info: String(field['description'] ?? '') }))
}

function wordsOf(part: JsonObject): string[] {
  if (Array.isArray(part['enum'])) return part['enum'].filter((word) => typeof word === 'string').map(String)
  const types = [part['type']].flat()
  return types.includes('boolean') ? ['true', 'false'] : []
}
