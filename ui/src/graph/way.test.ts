import { describe, expect, it } from 'vitest'
import { pathOf } from './way'

describe('a line of the graph', () => {
  it('goes through its points, round at the corners and not beyond half of what is between them', () => {
    expect(pathOf([{ x: 0, y: 0 }, { x: 0, y: 20 }])).toBe('M0,0 L0,20')
    expect(pathOf([{ x: 0, y: 0 }, { x: 0, y: 20 }, { x: 8, y: 20 }])).toBe('M0,0 L0,16 Q0,20 4,20 L8,20')
  })
  it('bears points that lie on one another, and none', () => {
    expect(pathOf([{ x: 1, y: 1 }, { x: 1, y: 1 }, { x: 1, y: 9 }])).toBe('M1,1 L1,1 Q1,1 1,1 L1,9')
    expect(pathOf([])).toBe('')
  })
})
