import { computed, ref, shallowRef, watch, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { parseDocument } from 'yaml'
import type { Finding, Json, JsonObject, Schemas } from '../api/client'
import { words } from '../texts'
import { fixed } from './fixes'
import { NO_TOOL } from './fresh'
import { idsIn, stepAround, stepAt, stepsAt, valueAt, withPuts, writtenName, type PlanStep } from './steps'
import { freshId, pathOf, pointerOf, withStep, withValue, type Path } from './text'

/** The plan as a text says it; null where it cannot be read. */
export function planIn(text: string): JsonObject | null {
  try {
    const document = parseDocument(text)
    const read = document.errors.length ? null : (document.toJS() as Json)
    return read && typeof read === 'object' && !Array.isArray(read) ? read : null
  } catch {
    // It names an anchor that it does not have.
    return null
  }
}

/**
 * Where a place of the text before is in the text as it is now: steps are known by their ids, whatever was written
 * above them. Null where the step is there no more, or more than once, and where one of the texts cannot be read.
 */
export function placeNow(path: Path, before: string, now: string): Path | null {
  if (before === now) return path
  const [then, plan] = [planIn(before), planIn(now)]
  if (!then || !plan) return null
  const around = stepAround(then, path)
  if (!around) return path
  const [found, second] = around.key ? stepsAt(plan, around.key) : []
  return found && !second ? [...found.path, ...path.slice(around.path.length)] : null
}

export interface StepEdits {
  chosen: Ref<string>
  place: ComputedRef<{ step: PlanStep; path: Path } | null>
  /** The plan is of this text. */
  checked: (of: string) => void
  /** The findings are of this text. */
  found: (of: string) => void
  /** Where a finding's place, or the chosen step, is now; where it is not, as it was. */
  pointer: (finding?: string) => string
  put: (path: Path, value: Json | undefined) => void
  wait: (id: string, is: boolean) => void
  remove: () => void
  add: (tool: Schemas['ToolDetail']) => void
  join: (from: string, to: string) => void
  fix: (finding: Finding, suggestion: string) => void
}

/** What forms, graph and findings write into the text. They show what was checked last; the text may be further. */
export function stepEdits(
  text: Ref<string>,
  plan: ShallowRef<JsonObject | null>,
  tell: (refused: string | null) => void,
): StepEdits {
  const chosen = ref('')
  /** The texts in which the places of the plan, and those of the findings, are. */
  let ofPlan = ''
  let ofFindings = ''
  /** What was put into the chosen step since the plan was checked last. */
  const puts = shallowRef<{ path: Path; value: Json | undefined }[]>([])
  /** The text as it was when the last of them had been put in. */
  let putInto = ''
  const place = computed(() => {
    const known = chosen.value ? stepAt(plan.value, chosen.value) : null
    return known && { ...known, step: withPuts(known.step, puts.value) }
  })
  watch(chosen, () => (puts.value = []), { flush: 'sync' })
  watch(text, (now) => {
    if (now !== putInto) puts.value = []
  })

  /** Where the chosen step is now; where it is not, the person is told. */
  function chosenNow(): Path | null {
    if (!place.value) return null
    if (!planIn(text.value)) tell(words.editor.unreadable)
    else {
      const at = placeNow(place.value.path, ofPlan, text.value)
      tell(at ? null : words.editor.notThere)
      return at
    }
    return null
  }

  function put(path: Path, value: Json | undefined): void {
    const at = chosenNow()
    if (at) putAt(at, path, value)
  }

  /** Write a field of the chosen step into the text, under the name that the text has for it. */
  function putAt(at: Path, path: Path, value: Json | undefined): void {
    const [field, ...rest] = path
    if (field === undefined) return
    const name = writtenName(valueAt(planIn(text.value), at) as JsonObject | undefined, String(field))
    const isOfPlan = text.value === ofPlan
    text.value = withValue(text.value, [...at, name, ...rest], value)
    // A field more or less moves no step.
    if (isOfPlan) ofPlan = text.value
    putInto = text.value
    puts.value = [...puts.value, { path, value }]
    if (field === 'id' && typeof value === 'string') chosen.value = [...chosen.value.split('/').slice(0, -1), value].join('/')
  }

  function wait(id: string, is: boolean): void {
    const at = chosenNow()
    if (!at) return
    const written = valueAt(planIn(text.value), at) as JsonObject | undefined
    const step = text.value === ofPlan ? place.value?.step : written
    const waits = [step?.[writtenName(step, 'depends_on')] ?? []].flat() as string[]
    if (waits.includes(id) === is) return
    const next = is ? [...waits, id] : waits.filter((one) => one !== id)
    putAt(at, ['depends_on'], next.length ? next : undefined)
  }

  function remove(): void {
    const at = chosenNow()
    if (!at) return
    text.value = withValue(text.value, at, undefined)
    chosen.value = ''
  }

  function add(tool: Schemas['ToolDetail']): void {
    const now = planIn(text.value)
    tell(now ? null : words.editor.unreadable)
    if (!now) return
    const id = freshId(tool.key, [...idsIn(plan.value), ...idsIn(now)])
    const needed = ((tool.input_schema as JsonObject | undefined)?.['required'] ?? []) as string[]
    const step = { id, tool: tool.key, inputs: Object.fromEntries(needed.map((name) => [name, ''])) }
    const [first, ...others] = [now['steps'] ?? []].flat() as (JsonObject | null)[]
    // The step that a new plan begins with makes room for the first real one.
    const isFresh = first?.['tool'] === NO_TOOL && !others.length
    text.value = isFresh ? withValue(text.value, ['steps', 0], step) : withStep(text.value, step)
    chosen.value = id
  }

  /** Let one step wait for another, where both stand beside each other. */
  function join(from: string, to: string): void {
    const above = (key: string): string => key.split('/').slice(0, -1).join('/')
    if (!stepAt(plan.value, to) || from === to || above(from) !== above(to)) return
    chosen.value = to
    wait(from.split('/').at(-1) ?? from, true)
  }

  /** Take what was suggested, where what it is for still stands in the text. */
  function fix(finding: Finding, suggestion: string): void {
    const path = pathOf(finding.path ?? '')
    const at = placeNow(path, ofFindings, text.value)
    const isThere =
      at !== null &&
      (text.value === ofFindings ||
        JSON.stringify(valueAt(planIn(ofFindings), path)) === JSON.stringify(valueAt(planIn(text.value), at)))
    tell(isThere ? null : words.editor.notThere)
    if (isThere) text.value = fixed(text.value, { ...finding, path: pointerOf(at) }, suggestion)
  }

  return {
    chosen,
    place,
    checked: (of) => {
      ofPlan = of
      puts.value = []
    },
    found: (of) => (ofFindings = of),
    pointer: (finding) => {
      const path = finding === undefined ? (place.value?.path ?? []) : pathOf(finding)
      return pointerOf(placeNow(path, finding === undefined ? ofPlan : ofFindings, text.value) ?? path)
    },
    put,
    wait,
    remove,
    add,
    join,
    fix,
  }
}
