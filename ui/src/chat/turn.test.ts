import { describe, expect, it } from 'vitest'
import { emptyTurn, told } from './turn'

const parts = (...all: [string, Record<string, unknown>][]) => all.reduce((turn, [kind, data]) => told(turn, kind, data), emptyTurn())

describe('a turn is told in parts', () => {
  it('joins its texts, and drops what is written anew', () => {
    expect(parts(['text', { text: 'Hel' }], ['text', { text: 'lo 🙂' }]).text).toBe('Hello 🙂')
    expect(parts(['text', { text: 'Hello 🙂' }], ['restart', { characters: 3 }], ['text', { text: '!' }]).text).toBe('Hell!')
  })

  it('knows what became of each call, and what is asked no more', () => {
    const turn = parts(
      ['call', { step: 's1', tool: 'a.b', inputs: {} }],
      ['question', { step: 's1', kind: 'approval', run_id: 'r' }],
      ['result', { step: 's1', status: 'succeeded' }],
    )
    expect([turn.calls[0]?.status, turn.questions.length]).toEqual(['succeeded', 0])
  })

  it('keeps what is asked while a connection that was lost tells all once more', () => {
    const begun: [string, Record<string, unknown>][] = [['turn', { run_id: 'r' }], ['question', { step: 's1', kind: 'approval', run_id: 'r', asked_at: 7 }]]
    expect(parts(...begun, ['turn', { run_id: 'r' }]).questions.map((one) => one.asked_at)).toEqual([7])
    expect(parts(...begun, ['turn', { run_id: 'another' }]).questions).toEqual([])
  })
})
