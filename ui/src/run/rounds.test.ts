import { describe, expect, it } from 'vitest'
import { emptyRun, take } from './fold'
import { contextOf, roundsOf } from './rounds'

const reply = (text: string, names: string[]) => ({
  text,
  tool_calls: names.map((name) => ({ name, arguments: { q: name } })),
  usage: { input_tokens: 10, output_tokens: 2 },
  cost: 0.5,
})

function agent() {
  const run = emptyRun('run_1')
  const events: [string, string, Record<string, unknown>][] = [
    ['step.started', 'a', { tool: 'toolpath.agent' }],
    ['step.started', 'a/round[1]/think', { inputs: { round: 1, system: 'rules', messages: [{ text: 'goal' }] } }],
    ['step.succeeded', 'a/round[1]/think', { output: reply('look', ['x', 'y']) }],
    ['step.started', 'a/round[1]/act[0]', { tool: 'x' }],
    ['step.succeeded', 'a/round[1]/act[0]', { output: 'z'.repeat(900) }],
    ['step.failed', 'a/round[1]/act[1]', { error: { type: 'E', message: 'no' } }],
    ['step.started', 'a/round[2]/think', { inputs: { messages: [{ result_of: 'round[1]/act[0]' }], left_out: ['round[1]/act[0]'] } }],
  ]
  events.forEach(([type, path, more], index) => take(run, { type, path, seq: index + 1, at: index, ...more }))
  return run
}

describe('the rounds of an agent', () => {
  const run = agent()
  const step = run.steps.get('a')
  if (!step) throw new Error('no agent')

  it('have what was asked, thought, called and given', () => {
    const [first, second] = roundsOf(run, step)
    expect([first?.asked[0]?.text, first?.thought, first?.tokensIn, first?.cost]).toEqual(['goal', 'look', 10, 0.5])
    expect(first?.calls.map((call) => [call.tool, call.step?.status])).toEqual([
      ['x', 'succeeded'],
      ['y', 'failed'],
    ])
    expect(second?.status).toBe('running')
  })

  it('are told as the model saw them, with what was left out shortened', () => {
    const told = contextOf(run, step, 2)
    expect(told.map((one) => one.role)).toEqual(['system', 'user', 'assistant', 'tool'])
    expect(told[3]?.text).toHaveLength(404)
    expect(contextOf(run, step, 1).map((one) => one.text)).toEqual(['rules', 'goal'])
  })
})
