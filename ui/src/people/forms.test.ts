import { describe, expect, it } from 'vitest'
import { faultOf, fieldsOf, takesSeveral, typedOf, typedStill, valuesOf } from './forms'

const schema = {
  type: 'object',
  properties: {
    name: { type: 'string' },
    age: { type: ['integer', 'null'] },
    tags: { type: 'array', items: { type: 'string' } },
    kind: { enum: ['a', 'b'] },
    sure: { type: 'boolean', default: true },
  },
  required: ['name', 'sure'],
}

describe('fields of a schema', () => {
  const fields = fieldsOf(schema)
  it('have the kinds of their values', () => {
    expect(fields.map((field) => [field.name, field.type, field.required])).toEqual([
      ['name', 'text', true],
      ['age', 'integer', false],
      ['tags', 'json', false],
      ['kind', 'select', false],
      ['sure', 'checkbox', false],
    ])
  })
  it('give back what was in them', () => {
    const values = { name: 'x', age: 3, tags: ['t'], kind: 'a', sure: false }
    expect(valuesOf(fields, typedOf(fields, values))).toEqual(values)
  })
  it('leave out what is empty, and refuse what is no JSON', () => {
    expect(valuesOf(fields, { name: '', age: '' })).toEqual({})
    expect(() => valuesOf(fields, { tags: '[' })).toThrow(SyntaxError)
  })
})

describe('what is typed is checked', () => {
  it.each([
    ['integer', '36', null],
    ['integer', '3.5', 'integer'],
    ['integer', '1e3', 'integer'],
    ['integer', '9007199254740993', 'integer'],
    ['number', '1.5e3', null],
    ['number', '1,5', 'number'],
    ['number', '0x10', 'number'],
    ['email', 'a@b.c', null],
    ['email', 'a@b@c', 'email'],
    ['date', '2024-02-29', null],
    ['date', '2023-02-29', 'date'],
    ['json', '{', 'json'],
    ['text', ' ', 'required'],
    ['checkbox', undefined, null],
  ] as const)('%s: %s', (type, given, fault) => expect(faultOf({ name: 'x', type, required: true }, given)).toBe(fault))

  it('a file is an answer when it is uploaded', () => {
    const field = { name: 'x', type: 'file' }
    expect(faultOf(field, 'tea.csv')).toBe('file')
    expect(faultOf(field, { upload_id: 'upload_1', name: 'tea.csv' })).toBe(null)
    expect(valuesOf([field], { x: { upload_id: 'upload_1' } })).toEqual({ x: { upload_id: 'upload_1' } })
  })
  it('nothing is no fault where nothing is needed', () => expect(faultOf({ name: 'x', type: 'integer' }, '')).toBe(null))

  it('numbers are sent as numbers, and several choices as a list', () => {
    const fields = [
      { name: 'age', type: 'integer' },
      { name: 'days', type: 'select', multiple: true, options: ['a', 'b'] },
    ]
    expect(fields.map(takesSeveral)).toEqual([false, true])
    expect(valuesOf(fields, { age: '36', days: ['b'] })).toEqual({ age: 36, days: ['b'] })
  })
})

describe('fields, or what they show at first, that change while somebody types', () => {
  const fields = [{ name: 'title' }, { name: 'zone', default: 'UTC' }, { name: 'target', options: ['a'] }]

  it('leave what was typed, and show the rest as it is now', () => {
    expect(typedStill({ title: 'mine', zone: 'UTC' }, { zone: 'UTC' }, fields, { title: 'late', zone: 'CET' })).toEqual({ title: 'mine', zone: 'CET' })
    // What was taken away was typed, too.
    expect(typedStill({ title: '' }, { title: 'first' }, fields, { title: 'late' })).toEqual({ title: '', zone: 'UTC' })
  })

  it('leave no choice that is not there any more', () => {
    const typed = { target: 'a' }
    expect(typedStill(typed, {}, fields)).toEqual({ target: 'a', zone: 'UTC' })
    expect(typedStill(typed, {}, [{ name: 'target', options: ['b'] }])).toEqual({})
    expect(typedStill(typed, {}, [{ name: 'title' }])).toEqual({})
  })
})
