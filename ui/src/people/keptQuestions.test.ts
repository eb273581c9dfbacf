import { expect, test } from 'vitest'
import { nextTick, shallowRef } from 'vue'
import type { Schemas } from '../api/client'
import { keptQuestions, mergedQuestions, questionKey, type KeptQuestion } from './keptQuestions'

const question = (step: string, asked = 1): Schemas['Question'] =>
  ({ run_id: 'run_1', step, kind: 'approval', asked_at: asked }) as Schemas['Question']
const told = (kept: KeptQuestion[]): string[] => kept.map((one) => (one.gone ? `(${one.question.step})` : one.question.step))

test('what somebody else has answered stays in its place, and what was answered here goes', () => {
  const all = ['a', 'b', 'c'].map((step) => question(step))
  const shown = mergedQuestions([], all, new Set())
  expect(told(shown)).toEqual(['a', 'b', 'c'])
  const less = mergedQuestions(shown, [all[0]!, all[2]!], new Set())
  expect(told(less)).toEqual(['a', '(b)', 'c'])
  expect(told(mergedQuestions(less, [all[2]!, question('d')], new Set([questionKey(all[0]!)])))).toEqual(['c', '(b)', 'd'])
  expect(told(mergedQuestions(less, all, new Set()))).toEqual(['a', 'b', 'c'])
})

test('a question that went by itself and is listed once more is asked again, and goes in its place', async () => {
  const listed = shallowRef([question('a')])
  const { kept, putAway } = keptQuestions(
    () => 'one',
    () => listed.value,
  )
  const lists = async (...questions: Schemas['Question'][]): Promise<string[]> => {
    listed.value = questions
    await nextTick()
    return told(kept.value)
  }
  expect(await lists()).toEqual(['(a)'])
  putAway(question('a'))
  expect(told(kept.value)).toEqual([])
  expect(await lists(question('a'))).toEqual(['a'])
  expect(await lists()).toEqual(['(a)'])
  // What was answered here goes, though an older list may still name it.
  expect(await lists(question('b'))).toEqual(['(a)', 'b'])
  putAway(question('b'))
  expect(await lists(question('b'))).toEqual(['(a)', 'b'])
  expect(await lists()).toEqual(['(a)'])
})
