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
})
