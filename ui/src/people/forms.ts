import type { JsonObject, Json } from '../api/client'

/** A field of a form that a plan or an agent asks people with. */
export interface Field {
  name: string
  label?: string
  type?: string
  required?: boolean
  placeholder?: string
  description?: string
  options?: (string | { value: Json; label?: string })[]
  default?: Json
}

export interface Form {
  title?: string
  description?: string
  inputs: Field[]
}

/** Fields for a JSON Schema of an object: what inputs of a plan or tool are asked with. */
export function fieldsOf(schema: JsonObject | undefined | null): Field[] {
  const properties = (schema?.['properties'] ?? {}) as Record<string, JsonObject>
  const required = new Set((schema?.['required'] ?? []) as string[])
  return Object.entries(properties).map(([name, part]) => ({
    name,
    label: String(part['title'] ?? name),
    description: String(part['description'] ?? ''),
    type: kindOf(part),
    required: required.has(name) && part['default'] === undefined,
    ...(Array.isArray(part['enum']) ? { options: (part['enum'] as Json[]).map((value) => ({ value, label: String(value) })) } : {}),
    ...(part['default'] === undefined ? {} : { default: part['default'] }),
  }))
}

function kindOf(schema: JsonObject): string {
  if (Array.isArray(schema['enum'])) return 'select'
  const declared = schema['type']
  const types = (Array.isArray(declared) ? declared : [declared]).filter((type) => type !== 'null')
  if (types.length !== 1) return 'json'
  switch (types[0]) {
    case 'string':
      return schema['format'] === 'password' || schema['writeOnly'] === true ? 'password' : 'text'
    case 'integer':
    case 'number':
      return 'number'
    case 'boolean':
      return 'checkbox'
    default:
      return 'json'
  }
}

/** What was typed into the fields as values; empty fields are left out. Raises `SyntaxError` for what is no JSON. */
export function valuesOf(fields: Field[], typed: Record<string, unknown>): JsonObject {
  const values: JsonObject = {}
  for (const field of fields) {
    const given = typed[field.name]
    if (given === undefined || given === '') continue
    if (field.type === 'number') values[field.name] = Number(given)
    else if (field.type === 'json') values[field.name] = JSON.parse(String(given)) as Json
    else if (field.type === 'checkbox' && !field.options?.length) values[field.name] = Boolean(given)
    else values[field.name] = given as Json
  }
  return values
}

/** What the fields show before somebody types. */
export function typedOf(fields: Field[], values: JsonObject = {}): Record<string, unknown> {
  const typed: Record<string, unknown> = {}
  for (const field of fields) {
    const value = values[field.name] ?? field.default
    if (value === undefined) continue
    typed[field.name] = field.type === 'json' ? JSON.stringify(value, null, 2) : value
  }
  return typed
}
