import { describe, expect, it } from 'vitest'
import { findIn } from './finder'

describe('a search in a value', () => {
  const value = { name: 'Ada', list: [{ 'first name': 'Bob' }, 7], deep: { ada: null } }
  it('finds names and texts, by the paths that expressions have', () => {
    expect(findIn(value, 'ada', 'out').places.map((place) => place.path)).toEqual(['out.name', 'out.deep.ada'])
    expect(findIn(value, 'bob', 'out').places).toEqual([{ path: 'out.list[0]["first name"]', text: 'Bob' }])
    expect(findIn(value, '7', 'out').places[0]?.path).toBe('out.list[1]')
  })
  it('says when it has not looked at all of it', () => {
    expect(findIn(Array.from({ length: 400 }, () => 'x'), 'x', 'out').whole).toBe(false)
  })
})
