import { expect, it } from 'vitest'
import type { JsonObject } from '../api/client'
import { idsBeside, placeName, stepAt, typedValue, writtenName } from './steps'

const PLAN: JsonObject = JSON.parse(JSON.stringify({
  steps: [
    { id: 'a', tool: 'x' },
    { id: 'b', parallel: [{ id: 'c', tool: 'y' }, { steps: [{ id: 'd', tool: 'z' }] }] },
    { id: 'e', loop: { over: [1], steps: [{ id: 'f', tool: 'x' }] } },
  ],
}))

it('finds steps by the key of the graph', () => {
  expect(stepAt(PLAN, 'a')?.path).toEqual(['steps', 0])
  expect(stepAt(PLAN, 'b/c')?.path).toEqual(['steps', 1, 'parallel', 0])
  expect(stepAt(PLAN, 'b/d')?.path).toEqual(['steps', 1, 'parallel', 1, 'steps', 0])
  expect(stepAt(PLAN, 'e/f')?.path).toEqual(['steps', 2, 'loop', 'steps', 0])
  expect(stepAt(PLAN, 'e/g')).toBeNull()
  expect(idsBeside(PLAN, ['steps', 0])).toEqual(['a', 'b', 'e'])
})

it('reads what is typed as its schema says', () => {
  expect(typedValue('12', { type: 'string' })).toBe('12')
  expect(typedValue('12', { type: 'integer' })).toBe(12)
  expect(typedValue('[1, 2]', { type: 'array' })).toEqual([1, 2])
  expect(typedValue('{{ a.b }}', { type: 'integer' })).toBe('{{ a.b }}')
  expect(typedValue('true', { type: ['boolean', 'null'] })).toBe(true)
  expect(typedValue('', { type: 'string' })).toBeUndefined()
  expect(writtenName({ parameters: {} }, 'inputs')).toBe('parameters')
})

it('tells places in words, by the ids of steps', () => {
  expect(placeName(PLAN, '/steps/0/inputs/amount')).toBe('a › inputs › amount')
  expect(placeName(PLAN, '/steps/1/parallel/1/steps/0/tool')).toBe('b › parallel › 1 › d › tool')
  expect(placeName(PLAN, '/name')).toBe('name')
  expect(placeName(null, '/steps/0/tool')).toBe('steps › 0 › tool')
  expect(placeName(PLAN, '/steps/7/inputs/a~1b')).toBe('steps › 7 › inputs › a/b')
})
