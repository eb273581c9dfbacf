import type { JsonObject } from '../api/client'

/** A schema with the definition in place of a reference to one of its own. */
export function resolved(schema: JsonObject | null | undefined, root: JsonObject | null | undefined = schema): JsonObject {
  let found = schema ?? {}
  for (let depth = 0; depth < 10; depth += 1) {
    const name = /^#\/(\$defs|definitions)\/([^/]+)$/.exec(String(found['$ref'] ?? ''))
    const next = name && (root?.[name[1] ?? ''] as JsonObject | undefined)?.[name[2] ?? '']
    if (!next || typeof next !== 'object') return found
    found = next as JsonObject
  }
  return found
}

/** The fields of an object's schema, references in them resolved. */
export function propertiesOf(schema: JsonObject | null | undefined, root = schema): Record<string, JsonObject> {
  const found = (resolved(schema, root)['properties'] ?? {}) as Record<string, JsonObject>
  return Object.fromEntries(Object.entries(found).map(([name, field]) => [name, resolved(field, root)]))
}

/** The type of a value in a word or two; empty where it may be anything. */
export function typeName(schema: JsonObject | null | undefined): string {
  const type = [schema?.['type']].flat().filter(Boolean).map(String).join(' | ')
  const items = schema?.['items'] as JsonObject | undefined
  return type === 'array' && items?.['type'] ? `array of ${String(items['type'])}` : type
}
