import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../api/events'
import { emptyRun, take } from './fold'
import { failuresOf, itemsOf, tallyOf } from './tally'

function folded(...told: [string, string, Record<string, unknown>?][]) {
  const run = emptyRun('run_1')
  const steps = [{ id: 'loop' }, { id: 'report' }]
  const events: RunEvent[] = [{ type: 'run.started', seq: 1, at: 1, plan: { name: 'p', steps } }]
  told.forEach(([type, path, more], index) => events.push({ type, path, seq: index + 2, at: index + 2, ...more }))
  for (const event of events) take(run, event)
  return run
}

const item = (index: number, end: string): [string, string, Record<string, unknown>?][] => [
  ['step.started', `loop[${index}]/count`, { tool: 't.count', inputs: {} }],
  [`step.${end}`, `loop[${index}]/count`, { error: { type: 'E', message: 'm' } }],
]
const begun: [string, string, Record<string, unknown>] = ['step.started', 'loop', { inputs: { over: ['a', 'b', 'c'] } }]

describe('how the steps of a run stand', () => {
  it('counts what failed and what was skipped, and no item as a step of the plan', () => {
    const run = folded(begun, ...item(0, 'succeeded'), ...item(1, 'failed'), ['step.failed', 'loop'], ['step.skipped', 'report'])
    expect(tallyOf(run)).toEqual({ failed: 1, skipped: 1 })
    expect(failuresOf(run).map((step) => step.path)).toEqual(['loop[1]/count'])
  })

  it('counts the items of a loop that ended well', () => {
    const run = folded(begun, ...item(0, 'succeeded'), ...item(1, 'failed'))
    const loop = run.steps.get('loop')
    expect(loop && itemsOf(run, loop)).toEqual({ ended: 2, well: 1 })
    for (const event of [{ type: 'step.started', path: 'loop[2]/count', tool: 't.count', seq: 9, at: 9 }]) take(run, event)
    expect(loop && itemsOf(run, loop).ended).toBe(2)
  })

  it('names the step itself where nothing inside it failed', () => {
    const run = folded(['step.started', 'report', { tool: 't' }], ['step.timed_out', 'report'])
    expect(failuresOf(run).map((step) => step.path)).toEqual(['report'])
  })
})
