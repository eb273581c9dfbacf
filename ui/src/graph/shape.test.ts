import { describe, expect, it } from 'vitest'
import { keyOf, shapeOf, type ExplainedBlock } from './shape'

describe('the place of a step in the graph', () => {
  it.each([
    ['a', 'a'],
    ['loop[0]/call', 'loop/call'],
    ['loop[x/y]#2~1/c[0]#3', 'loop/c'],
  ])('%s is %s', (path, key) => expect(keyOf(path)).toBe(key))
})

describe('the shape of a plan', () => {
  it('holds steps inside of blocks, and waits as edges', () => {
    const block = {
      steps: [
        { id: 'a', path: '/steps/0', kind: 'call', tool: 't' },
        {
          id: 'each',
          path: '/steps/1',
          kind: 'loop',
          waits: [{ step: 'a', because: ['a', 'order'] }],
          blocks: [{ steps: [{ id: 'one', path: '', kind: 'call', tool: 't' }] }],
        },
      ],
    } as unknown as ExplainedBlock
    const shape = shapeOf(block)
    expect(shape.steps.map((step) => [step.key, step.parent, step.holds])).toEqual([
      ['a', '', false],
      ['each', '', true],
      ['each/one', 'each', false],
    ])
    expect(shape.edges).toEqual([{ key: 'a→each', from: 'a', to: 'each', because: 'a' }])
  })
})
