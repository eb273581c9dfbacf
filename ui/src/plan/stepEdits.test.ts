import { beforeEach, describe, expect, it } from 'vitest'
import { ref, shallowRef } from 'vue'
import { parse } from 'yaml'
import type { Finding, JsonObject, Schemas } from '../api/client'
import { NO_TOOL } from './fresh'
import { placeNow, planIn, stepEdits } from './stepEdits'

const CHECKED = `steps:
  - id: one   # the first
    tool: x.y
    inputs: {a: 1, to: smoe}
  - id: all
    loop:
      over: [1]
      steps:
        - {id: each, tool: x.y}
outputs: "{{ one }}"
`
const ABOVE = '  - {id: above, tool: x.z, inputs: {to: smoe}}\n'
/** The text with another step above all others. */
const later = (text: string): string => text.replace('steps:\n', `steps:\n${ABOVE}`)

const text = ref('')
const plan = shallowRef<JsonObject | null>(null)
let refused: string | null = null

type Step = Record<string, unknown>
const steps = (): Step[] => (parse(text.value) as { steps: Step[] }).steps
const step = (id: string): Step => steps().find((one) => one['id'] === id) ?? {}

/** What is checked is of one text, and the text goes on. */
function edits(chosen = '', checked = CHECKED) {
  text.value = checked
  plan.value = planIn(checked)
  const made = stepEdits(text, plan, (why) => (refused = why))
  made.checked(checked)
  made.found(checked)
  made.chosen.value = chosen
  return made
}

beforeEach(() => void (refused = null))

describe('a text that went on since it was checked', () => {
  it('is written at the step that is meant', () => {
    const made = edits('one')
    text.value = later(text.value)
    made.put(['timeout'], '5s')
    made.put(['when'], '{{ inputs.a }}')
    expect(step('one')).toMatchObject({ timeout: '5s', when: '{{ inputs.a }}' })
    expect(step('above')).toEqual({ id: 'above', tool: 'x.z', inputs: { to: 'smoe' } })
    expect(text.value).toContain('# the first')
    expect(refused).toBeNull()
  })

  it('is written inside of loops', () => {
    const made = edits('all/each')
    text.value = later(text.value)
    made.put(['inputs', 'b'], 2)
    expect(step('all')['loop']).toMatchObject({ steps: [{ id: 'each', tool: 'x.y', inputs: { b: 2 } }] })
  })

  it('loses the step that is meant', () => {
    const made = edits('one')
    text.value = later(text.value)
    made.remove()
    expect(steps().map((one) => one['id'])).toEqual(['above', 'all'])
    expect(made.chosen.value).toBe('')
  })

  it('keeps what it waits for by now', () => {
    const made = edits()
    text.value = later(text.value).replace('  - id: all\n', '  - id: all\n    needs: [above]\n')
    made.join('one', 'all')
    expect(step('all')['needs']).toEqual(['above', 'one'])
    made.wait('above', false)
    expect(step('all')['needs']).toEqual(['one'])
    made.wait('one', false)
    expect(step('all')).not.toHaveProperty('needs')
  })

  it('gets a step with an id that it has not', () => {
    const fresh = `steps:\n  - {id: first, tool: ${NO_TOOL}}\n`
    const made = edits('', fresh)
    text.value = `steps:\n  - {id: z, tool: x.z}\n`
    made.add({ key: 'x.z' } as Schemas['ToolDetail'])
    expect(steps().map((one) => one['id'])).toEqual(['z', 'z_2'])
    expect(made.chosen.value).toBe('z_2')
  })

  it('is mended where the finding is', () => {
    const made = edits()
    const finding = { code: 'unknown_value', path: '/steps/0/inputs/to', message: '', severity: 'error' } as Finding
    text.value = later(text.value)
    expect(made.pointer(finding.path ?? '')).toBe('/steps/1/inputs/to')
    made.fix(finding, 'some')
    expect(step('one')['inputs']).toEqual({ a: 1, to: 'some' })
    expect(step('above')['inputs']).toEqual({ to: 'smoe' })
    // What was found is there no more.
    const before = text.value
    made.fix(finding, 'same')
    expect(text.value).toBe(before)
    expect(refused).not.toBeNull()
  })

  it.each([
    ['has another id', (now: string) => now.replace('id: one', 'id: other')],
    ['is gone', (now: string) => now.replace(/ {2}- id: one[^-]*/, '')],
    ['is there twice', (now: string) => now.replace('steps:\n', 'steps:\n  - {id: one, tool: x.z}\n')],
    ['cannot be read', (now: string) => `${now}other: [`],
  ])('is left alone where the step %s', (_, change) => {
    for (const act of ['put', 'wait', 'remove'] as const) {
      const made = edits('one')
      text.value = change(text.value)
      const before = text.value
      refused = null
      if (act === 'put') made.put(['timeout'], '5s')
      else if (act === 'wait') made.wait('all', true)
      else made.remove()
      expect(text.value).toBe(before)
      expect(refused).not.toBeNull()
      expect(made.chosen.value).toBe('one')
    }
  })

  it('is read though a step is only begun', () => {
    expect(placeNow(['steps', 0, 'tool'], CHECKED, CHECKED.replace('steps:\n', 'steps:\n  -\n'))).toEqual(['steps', 1, 'tool'])
    expect(placeNow(['outputs'], CHECKED, later(CHECKED))).toEqual(['outputs'])
  })
})

it('writes at steps without an id while the text is the one that was checked', () => {
  const made = edits('', 'steps:\n  - {tool: x.y}\n')
  plan.value = { steps: [{ id: 'y', tool: 'x.y' }] } as JsonObject
  made.chosen.value = 'y'
  made.put(['timeout'], '5s')
  made.put(['when'], 'a')
  expect(steps()).toEqual([{ tool: 'x.y', timeout: '5s', when: 'a' }])
})
