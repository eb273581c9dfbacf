import type { JsonObject, Json } from '../api/client'

/** A field of a form that a plan or an agent asks people with. */
export interface Field {
  name: string
  label?: string
  type?: string
  required?: boolean
  placeholder?: string
  description?: string
  /** With options: any number of them may be chosen. */
  multiple?: boolean
  options?: (string | { value: Json; label?: string })[]
  default?: Json
  /** Endings that a file may have. */
  accept?: string[]
  max_bytes?: number
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
  if (types.length === 1 && types[0] === undefined) return 'any'
  if (types.length !== 1) return 'json'
  switch (types[0]) {
    case 'string':
      return schema['format'] === 'password' || schema['writeOnly'] === true ? 'password' : 'text'
    case 'integer':
      return 'integer'
    case 'number':
      return 'number'
    case 'boolean':
      return 'checkbox'
    default:
      return 'json'
  }
}

/** Whether any number of the field's options may be chosen; else one. */
export const takesSeveral = (field: Field): boolean =>
  field.type !== 'file' && Boolean(field.options?.length) && Boolean(field.multiple || field.type === 'checkbox')

/** Why what is typed is no answer to its field. */
export type Fault = 'required' | 'file' | 'number' | 'integer' | 'email' | 'date' | 'json'

const isBlank = (given: unknown): boolean => given === undefined || given === null || (typeof given === 'string' && !given.trim())
const NUMBER = /^[+-]?(\d+\.?\d*|\.\d+)(e[+-]?\d+)?$/i
const MAIL = /^[^\s@]+@[^\s@.]+(\.[^\s@.]+)*$/

function isDate(text: string): boolean {
  const found = /^(\d{4})-(\d\d)-(\d\d)$/.exec(text)
  if (!found) return false
  const date = new Date(`${text}T00:00:00Z`)
  return !Number.isNaN(date.getTime()) && date.toISOString().startsWith(text)
}

/** What is wrong with what is typed into a field; null: it may be sent. */
export function faultOf(field: Field, given: unknown): Fault | null {
  if (isBlank(given) || (Array.isArray(given) && !given.length)) return field.required && field.type !== 'checkbox' ? 'required' : null
  const text = String(given).trim()
  switch (field.type) {
    case 'number':
      return NUMBER.test(text) && Number.isFinite(Number(text)) ? null : 'number'
    case 'integer':
      return /^[+-]?\d+$/.test(text) && Number.isSafeInteger(Number(text)) ? null : 'integer'
    case 'email':
      return MAIL.test(text) ? null : 'email'
    case 'date':
      return isDate(text) ? null : 'date'
    case 'file':
      return typeof given === 'object' ? null : 'file'
    case 'json':
      try {
        JSON.parse(text)
        return null
      } catch {
        return 'json'
      }
    default:
      return null
  }
}

/** What was typed into the fields as values; empty fields are left out. Raises `SyntaxError` for what is no JSON. */
export function valuesOf(fields: Field[], typed: Record<string, unknown>): JsonObject {
  const values: JsonObject = {}
  for (const field of fields) {
    const given = typed[field.name]
    if (isBlank(given)) continue
    if (field.options?.length) values[field.name] = given as Json
    else if (field.type === 'number' || field.type === 'integer') values[field.name] = Number(given)
    else if (field.type === 'json') values[field.name] = JSON.parse(String(given)) as Json
    else if (field.type === 'any') values[field.name] = anyValue(String(given))
    else if (field.type === 'checkbox') values[field.name] = Boolean(given)
    else values[field.name] = (field.type === 'email' || field.type === 'date' ? String(given).trim() : given) as Json
  }
  return values
}

/** What was typed where any value may stand: as JSON where it is some, else as text. */
function anyValue(text: string): Json {
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}

/**
 * What stands in the fields when they, or what they show at first, have changed: what somebody has typed stays, as long as it
 * is an answer that may be given; all else is shown as it is now. `before`: what was shown at first until now.
 */
export function typedStill(
  typed: Record<string, unknown>,
  before: Record<string, unknown>,
  fields: Field[],
  values: JsonObject = {},
): Record<string, unknown> {
  const still = typedOf(fields, values)
  for (const field of fields) {
    const given = typed[field.name]
    if (JSON.stringify(given) === JSON.stringify(before[field.name]) || !mayStand(field, given)) continue
    still[field.name] = given
  }
  return still
}

/** Whether it is among what may be chosen, where something is to be chosen. */
function mayStand(field: Field, given: unknown): boolean {
  if (!field.options?.length) return true
  const known = new Set(field.options.map((option) => JSON.stringify(typeof option === 'object' ? option.value : option)))
  return (Array.isArray(given) ? (given as unknown[]) : [given]).every((one) => known.has(JSON.stringify(one)))
}

/** What the fields show before somebody types. */
export function typedOf(fields: Field[], values: JsonObject = {}): Record<string, unknown> {
  const typed: Record<string, unknown> = {}
  for (const field of fields) {
    const value = values[field.name] ?? field.default
    if (value === undefined) continue
    typed[field.name] = field.type === 'json' || (field.type === 'any' && typeof value !== 'string') ? JSON.stringify(value, null, 2) : value
  }
  return typed
}
