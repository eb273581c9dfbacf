import { describe, expect, it } from 'vitest'
import type { RunEvent } from '../api/events'
import { emptyRun, splitPath, stepId, take } from './fold'

const event = (seq: number, type: string, more: Record<string, unknown> = {}): RunEvent => ({ type, seq, at: seq, ...more })

function folded(...events: RunEvent[]) {
  const run = emptyRun('run_1')
  for (const one of events) take(run, one)
  return run
}

const begun = event(1, 'run.started', { plan: { name: 'p', steps: [{ id: 'a' }, { id: 'b' }] }, inputs: { x: 1 } })

describe('a run is folded from its events', () => {
  it('knows plan, steps and end', () => {
    const run = folded(
      begun,
      event(2, 'step.started', { path: 'a', tool: 't.a', inputs: {} }),
      event(3, 'step.succeeded', { path: 'a', output: 7 }),
      event(4, 'step.skipped', { path: 'b', reason: 'when' }),
      event(5, 'run.completed', { outputs: { y: 7 } }),
    )
    expect([run.status, run.done, run.planned, run.outputs]).toEqual(['completed', 2, 2, { y: 7 }])
    expect(run.steps.get('a')?.output).toBe(7)
    expect(run.steps.get('b')?.reason).toBe('when')
  })

  it('takes no event twice', () => {
    const started = event(2, 'step.started', { path: 'a', tool: 't.a' })
    const run = folded(begun, started, started)
    expect(run.steps.get('a')?.attempts).toHaveLength(1)
  })

  it('keeps what is asked until it is answered', () => {
    const run = folded(begun, event(2, 'approval.requested', { path: 'a', tool: 't', inputs: {} }))
    expect([...run.asks.values()]).toEqual([{ path: 'a', kind: 'approval', since: 2 }])
    take(run, event(3, 'approval.decided', { path: 'a', approved: true }))
    expect(run.asks.size).toBe(0)
  })

  it('counts attempts with their errors', () => {
    const run = folded(
      begun,
      event(2, 'step.started', { path: 'a', tool: 't' }),
      event(3, 'step.retrying', { path: 'a', error: { type: 'E', message: 'no' } }),
      event(4, 'step.started', { path: 'a', tool: 't' }),
      event(5, 'step.failed', { path: 'a', error: { type: 'E', message: 'never' } }),
    )
    expect(run.steps.get('a')?.attempts.map((attempt) => attempt.error?.message)).toEqual(['no', 'never'])
  })

  it('hangs steps into what they stand in', () => {
    const run = folded(begun, event(2, 'step.started', { path: 'loop[a/b]/call', tool: 't' }))
    expect(run.roots).toEqual(['loop[a/b]'])
    expect(run.steps.get('loop[a/b]')?.children).toEqual(['loop[a/b]/call'])
  })
})

describe('a path', () => {
  it.each([
    ['a', ['', 'a']],
    ['a/b', ['a', 'b']],
    ['loop[x/y]#2~1/c[0]', ['loop[x/y]#2~1', 'c[0]']],
  ])('%s is split at its last part', (path, parts) => expect(splitPath(path)).toEqual(parts))
  it.each([
    ['a[0]#2~1', 'a'],
    ['a', 'a'],
  ])('%s names the step of the plan', (name, id) => expect(stepId(name)).toBe(id))
})
