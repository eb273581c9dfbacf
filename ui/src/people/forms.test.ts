import { describe, expect, it } from 'vitest'
import { fieldsOf, typedOf, valuesOf } from './forms'

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
      ['age', 'number', false],
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
