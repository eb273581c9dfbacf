import { expect, test } from 'vitest'
import { fieldsBesideText } from './templateForm'

const text = { type: 'string' }

test('one text is the value of the only parameter; several, or one of another type, have a form', () => {
  expect(fieldsBesideText({ properties: { who: text } })).toEqual([])
  expect(fieldsBesideText({ properties: { who: {} } })).toEqual([])
  expect(fieldsBesideText(undefined)).toEqual([])
  expect(fieldsBesideText({ properties: { who: text, subject: text } }).map((field) => field.name)).toEqual(['who', 'subject'])
  expect(fieldsBesideText({ properties: { count: { type: 'integer' } } }).map((field) => field.type)).toEqual(['integer'])
  expect(fieldsBesideText({ properties: { key: { type: 'string', format: 'password' } } })).toHaveLength(1)
})
