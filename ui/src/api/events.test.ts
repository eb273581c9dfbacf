import { describe, expect, it } from 'vitest'
import { InOrder, type RunEvent } from './events'

const events = (...numbers: number[]): RunEvent[] => numbers.map((seq) => ({ type: 'x', seq, at: seq }))
const taken = (order: InOrder, ...numbers: number[]): number[] => order.take(events(...numbers)).map((event) => event.seq)

describe('events of a run', () => {
  it('come in their order and each once, however they arrive', () => {
    const order = new InOrder(true)
    expect(taken(order, 1, 3, 3)).toEqual([1])
    expect(order.waits).toBe(true)
    expect(taken(order, 4, 1)).toEqual([])
    expect(taken(order, 2)).toEqual([2, 3, 4])
    expect(order.waits).toBe(false)
  })

  it('of a plan inside a run have gaps', () => {
    expect(taken(new InOrder(false), 4, 9, 9, 7)).toEqual([4, 9])
  })
})
