import { address, part, type Schemas } from '../api/client'

export type Question = Schemas['Question']

/** What a turn tells while it goes on. */
export interface Turn {
  runId: string
  text: string
  calls: { step: string; tool: string; inputs: unknown; status: string; error: string }[]
  questions: Question[]
  leftOut: number
  error: string
}

export const emptyTurn = (): Turn => ({ runId: '', text: '', calls: [], questions: [], leftOut: 0, error: '' })

type Part = Record<string, unknown>

/** The turn after one more part of it. */
export function told(turn: Turn, kind: string, data: Part): Turn {
  switch (kind) {
    case 'turn':
      // A connection that came back tells all of it once more: what waits for somebody stands meanwhile.
      return { ...emptyTurn(), runId: String(data['run_id']), questions: turn.runId === data['run_id'] ? turn.questions : [] }
    case 'memory':
      return { ...turn, leftOut: Number(data['left_out']) }
    case 'text':
      return { ...turn, text: turn.text + String(data['text']) }
    case 'restart': {
      const kept = [...turn.text]
      return { ...turn, text: kept.slice(0, kept.length - Number(data['characters'])).join('') }
    }
    case 'call': {
      const call = { step: String(data['step']), tool: String(data['tool']), inputs: data['inputs'], status: 'running', error: '' }
      return { ...turn, calls: [...turn.calls.filter((one) => one.step !== call.step), call] }
    }
    case 'result': {
      const step = String(data['step'])
      const status = String(data['status'])
      const error = String(data['error'] ?? '')
      return {
        ...turn,
        calls: turn.calls.map((call) => (call.step === step ? { ...call, status, error } : call)),
        questions: turn.questions.filter((question) => question.step !== step && !question.step.startsWith(`${step}/`)),
      }
    }
    case 'question': {
      const question = { ...data, deadline: null } as unknown as Question
      return { ...turn, questions: [...turn.questions.filter((one) => one.step !== question.step), question] }
    }
    case 'error':
      return { ...turn, error: String(data['detail'] ?? '') }
    default:
      return turn
  }
}

const KINDS = ['turn', 'memory', 'text', 'restart', 'call', 'result', 'question', 'error']

/** Follows the turn that goes on, from its first moment; the browser comes back by itself where the connection is lost. */
export function followTurn(conversation: string, change: (turn: Turn) => void, over: () => void): () => void {
  let turn = emptyTurn()
  const source = new EventSource(address(`/conversations/${part(conversation)}/turn`))
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => {
      if (!(event instanceof MessageEvent)) return
      turn = told(turn, kind, JSON.parse(String(event.data)) as Part)
      change(turn)
    })
  }
  const end = (): void => {
    source.close()
    over()
  }
  source.addEventListener('end', end)
  source.onerror = () => {
    // No turn goes on, or the server refuses: what is kept tells which.
    if (source.readyState === EventSource.CLOSED) end()
  }
  return () => source.close()
}
