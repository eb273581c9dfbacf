import type { Json, JsonObject } from '../api/client'
import type { Path } from './text'

/** A step as the plan notation has it. */
export type PlanStep = JsonObject & { id?: string; tool?: string }

/** The step that the graph shows under a key (ids from the outside in), and its place in the plan. */
export const stepAt = (plan: JsonObject | null, key: string): Place | null => stepsAt(plan, key)[0] ?? null

/** All steps of a plan under a key: while it is being written there may be more than one. */
export function stepsAt(plan: JsonObject | null, key: string): Place[] {
  const [first, ...rest] = key.split('/')
  const top = placesIn(plan ?? undefined, []).filter((place) => place.step.id === first)
  return rest.reduce(
    (found, name) => found.flatMap((place) => inside(place.step, place.path)).filter((place) => place.step.id === name),
    top,
  )
}

/** The innermost step that a place of the plan is in or at; its key is empty where a step has no id. */
export function stepAround(plan: JsonObject | null, path: Path): { key: string; path: Path } | null {
  let places = placesIn(plan ?? undefined, [])
  const ids: string[] = []
  let at: Path | null = null
  for (;;) {
    const next = places.find((place) => place.path.every((name, index) => name === path[index]))
    if (!next) return at && { key: ids.every(Boolean) ? ids.join('/') : '', path: at }
    ids.push(typeof next.step.id === 'string' ? next.step.id : '')
    at = next.path
    places = inside(next.step, next.path)
  }
}

/** Ids of all steps, those inside of loops and branches too. */
export function idsIn(plan: JsonObject | null): string[] {
  const within = (places: Place[]): string[] =>
    places.flatMap((place) => [String(place.step.id ?? ''), ...within(inside(place.step, place.path))])
  return within(placesIn(plan ?? undefined, [])).filter(Boolean)
}

/** What stands at a place of the plan. */
export function valueAt(plan: JsonObject | null, path: Path): Json | undefined {
  return path.reduce<Json | undefined>(
    (at, name) => (at as Record<string | number, Json> | null | undefined)?.[name],
    plan ?? undefined,
  )
}

/** Ids of the steps that stand beside the one at the path. */
export function idsBeside(plan: JsonObject | null, path: Path): string[] {
  const list = valueAt(plan, path.slice(0, -1))
  return Array.isArray(list) ? list.map((step) => String((step as PlanStep | null)?.id ?? '')).filter(Boolean) : []
}

type Place = { step: PlanStep; path: Path }

/** What is only begun, in a text that is being written, is a step without fields. */
const stepOf = (written: Json | undefined): PlanStep =>
  written && typeof written === 'object' && !Array.isArray(written) ? written : {}

function placesIn(block: Json | undefined, path: Path): Place[] {
  const steps = (block as JsonObject | null | undefined)?.['steps']
  if (!Array.isArray(steps)) return []
  return steps.map((step, index) => ({ step: stepOf(step), path: [...path, 'steps', index] }))
}

function inside(step: PlanStep, path: Path): Place[] {
  const loop = placesIn(step['loop'], [...path, 'loop'])
  const branches = Array.isArray(step['parallel']) ? step['parallel'] : []
  return [
    ...loop,
    ...branches.flatMap((branch, index) => {
      const at = [...path, 'parallel', index]
      const steps = placesIn(branch, at)
      return steps.length ? steps : [{ step: stepOf(branch), path: at }]
    }),
  ]
}

/** A place of the plan in words: steps by their ids, as `refund › inputs › amount`. */
export function placeName(plan: JsonObject | null, pointer: string): string {
  const parts = pointer.split('/').slice(1).map((part) => part.replaceAll('~1', '/').replaceAll('~0', '~'))
  const names: string[] = []
  let at: Json | undefined = plan ?? undefined
  for (const part of parts) {
    const isList = Array.isArray(at)
    at = (at as Record<string, Json> | null | undefined)?.[part]
    const id = isList ? (at as PlanStep | null | undefined)?.id : undefined
    if (typeof id === 'string' && id) {
      // The list that it stands in says no more than the step itself.
      if (names.at(-1) === 'steps') names.pop()
      names.push(id)
    } else names.push(part)
  }
  return names.join(' › ')
}

/** Other names that the notation reads for the same field: what is written already is written on. */
const ALIASES: Record<string, string[]> = {
  inputs: ['parameters', 'arguments', 'args', 'with'],
  depends_on: ['dependsOn', 'dependencies', 'needs'],
}

/** The name under which the text has a field of a step. */
export function writtenName(written: JsonObject | null | undefined, field: string): string {
  return ALIASES[field]?.find((name) => written && name in written) ?? field
}

/** A step after values were put into it at paths; `undefined` takes one away. */
export function withPuts(step: PlanStep, puts: readonly { path: Path; value: Json | undefined }[]): PlanStep {
  const changed = puts.length ? structuredClone(step) : step
  for (const { path, value } of puts) {
    let at = changed as Record<string | number, Json>
    for (const name of path.slice(0, -1)) at = (at[name] ??= {}) as Record<string | number, Json>
    const last = path.at(-1)
    if (last === undefined) continue
    if (value === undefined) delete at[last]
    else at[last] = value
  }
  return changed
}

/** How a value is shown in a field: text as it is, everything else as JSON. */
export const shownValue = (value: Json | undefined): string =>
  value === undefined ? '' : typeof value === 'string' ? value : JSON.stringify(value)

/** What was typed, as the schema of the field wants it; nothing typed: nothing is given. */
export function typedValue(text: string, schema: JsonObject | undefined): Json | undefined {
  if (text === '') return undefined
  if (text.includes('{{')) return text
  const types = [schema?.['type']].flat().filter((type) => type !== 'null')
  if (types.length === 1 && types[0] === 'string') return text
  try {
    return JSON.parse(text) as Json
  } catch {
    return text
  }
}
