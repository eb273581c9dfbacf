import { describe, expect, it } from 'vitest'
import { readFilters, withFilter } from './savedFilters'

describe('saved filters', () => {
  it('are read as they were kept, and whatever else stands there is none', () => {
    expect(readFilters('[{"name":"bad","query":"status=failed"},{"name":1},null,"x"]')).toEqual([
      { name: 'bad', query: 'status=failed' },
    ])
    for (const text of [null, '', '{', '{"name":"x"}', '7']) expect(readFilters(text)).toEqual([])
  })

  it('replace the one of their name', () => {
    const first = withFilter([], { name: 'mine', query: 'user=ada' })
    expect(withFilter(first, { name: 'mine', query: 'user=bob' })).toEqual([{ name: 'mine', query: 'user=bob' }])
  })
})
