import { describe, expect, it } from 'vitest'
import { boxAt, placedBoxes, wholeSight } from './field'
import type { Shape } from './shape'

const shape = { steps: [{ key: 'a', parent: '' }, { key: 'a/b', parent: 'a' }], edges: [] } as unknown as Shape
const boxes = placedBoxes(shape, [
  { key: 'a/b', x: 10, y: 20, width: 50, height: 30 },
  { key: 'a', x: 100, y: 100, width: 200, height: 100 },
])

describe('a large picture', () => {
  it('has boxes where they stand in the whole', () => {
    expect([boxes.get('a/b')?.x, boxes.get('a/b')?.y, boxes.get('a/b')?.depth]).toEqual([110, 120, 1])
  })
  it('is seen whole, and finds the innermost box at a point', () => {
    const sight = wholeSight(boxes.values(), 150, 1000)
    expect(sight.zoom).toBeCloseTo(0.46)
    const at = (x: number, y: number) => boxAt(boxes.values(), { x: 5, y: 0, zoom: 0.5 }, x, y)?.key
    expect([at(65, 65), at(130, 95), at(0, 0)]).toEqual(['a/b', 'a', undefined])
  })
})
