import { describe, expect, it } from 'vitest'
import { emptyRun, take } from '../run/fold'
import { standings } from './standing'

describe('how a step stands', () => {
  it('counts the items of a loop, and tells the most telling state', () => {
    const run = emptyRun('run_1')
    const events: [string, string][] = [
      ['step.started', 'each'],
      ['step.started', 'each[0]'],
      ['step.started', 'each[1]'],
      ['step.succeeded', 'each[0]'],
      ['step.failed', 'each[1]'],
    ]
    events.forEach(([type, path], index) => take(run, { type, path, seq: index + 1, at: index, tool: 't' }))
    const each = standings(run).get('each')
    expect([each?.total, each?.status, each?.counts]).toEqual([2, 'failed', { succeeded: 1, failed: 1 }])
  })
})
