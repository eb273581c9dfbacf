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
      // What is called now was allowed, by whomever.
      const questions = turn.questions.filter((one) => one.kind !== 'approval' || one.step !== call.step)
      return { ...turn, calls: [...turn.calls.filter((one) => one.step !== call.step), call], questions }
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

/** Opens the stream of a turn, from its first moment; the browser comes back by itself where the connection is lost. */
export type OpenTurn = (
  conversation: string,
  tell: (kind: string, data: Part) => void,
  /** No more comes: the turn has ended, or (false) none goes on, or the server refuses. */
  over: (hasEnded: boolean) => void,
) => () => void

export const openTurn: OpenTurn = (conversation, tell, over) => {
  const source = new EventSource(address(`/conversations/${part(conversation)}/turn`))
  for (const kind of KINDS) {
    source.addEventListener(kind, (event) => {
      if (event instanceof MessageEvent) tell(kind, JSON.parse(String(event.data)) as Part)
    })
  }
  const end = (hasEnded: boolean): void => {
    source.close()
    over(hasEnded)
  }
  source.addEventListener('end', () => end(true))
  source.onerror = () => {
    if (source.readyState === EventSource.CLOSED) end(false)
  }
  return () => source.close()
}
