import type { RunView, StepStatus, StepView } from './fold'

interface AskedCall {
  name: string
  arguments: unknown
  id?: string
}

/** A call that the model asked for in a round, with what came of it. */
export interface RoundCall {
  path: string
  step: StepView | null
  tool: string
  arguments: unknown
}

export interface Round {
  number: number
  path: string
  status: StepStatus
  think: StepView | null
  /** What was added for this round: words of the house, and of results where they are kept. */
  asked: { text: string; of: string }[]
  leftOut: string[]
  thought: string
  calls: RoundCall[]
  tokensIn: number
  tokensOut: number
  cost: number
  model: string
  characters: number
}

/** A message as the model was told it. */
export interface Told {
  role: 'system' | 'user' | 'assistant' | 'tool'
  text: string
  calls: AskedCall[]
}

type Fields = Record<string, unknown>

const fields = (value: unknown): Fields => (value !== null && typeof value === 'object' ? (value as Fields) : {})
const list = (value: unknown): unknown[] => (Array.isArray(value) ? value : [])
const textOf = (value: unknown): string => (typeof value === 'string' ? value : (JSON.stringify(value) ?? ''))

/** The number of a round or call in the last part of its path. */
const numberIn = (path: string): number => Number(/\[(\d+)\]$/.exec(path)?.[1] ?? 0)

/** The rounds of an agent, from its first to the one that goes on. */
export function roundsOf(run: RunView, agent: StepView): Round[] {
  return agent.children
    .filter((path) => /(^|\/)round\[\d+\]$/.test(path))
    .map((path) => roundAt(run, path))
    .sort((a, b) => a.number - b.number)
}

function roundAt(run: RunView, path: string): Round {
  const think = run.steps.get(`${path}/think`) ?? null
  const adds = fields(think?.inputs)
  const reply = fields(think?.output)
  const usage = fields(reply['usage'])
  const asked = list(adds['messages']).map((one) => {
    const message = fields(one)
    return { text: String(message['text'] ?? ''), of: String(message['result_of'] ?? '') }
  })
  const wanted = list(reply['tool_calls']) as AskedCall[]
  const made = new Map((run.steps.get(path)?.children ?? []).filter((one) => one.includes('/act[')).map((one) => [numberIn(one), one]))
  const count = Math.max(wanted.length, ...[...made.keys()].map((index) => index + 1), 0)
  const calls = Array.from({ length: count }, (_, index): RoundCall => {
    const step = run.steps.get(made.get(index) ?? '') ?? null
    const call = wanted[index]
    return {
      path: made.get(index) ?? `${path}/act[${index}]`,
      step,
      tool: step?.tool || call?.name || '',
      arguments: call?.arguments ?? step?.inputs,
    }
  })
  const going = calls.find((call) => call.step && ['running', 'waiting', 'retrying', 'unknown'].includes(call.step.status))
  const thought = String(reply['text'] ?? '')
  return {
    number: numberIn(path),
    path,
    status: going?.step?.status ?? think?.status ?? 'pending',
    think,
    asked,
    leftOut: list(adds['left_out']).map(String),
    thought,
    calls,
    tokensIn: Number(usage['input_tokens'] ?? 0),
    tokensOut: Number(usage['output_tokens'] ?? 0),
    cost: Number(reply['cost'] ?? think?.cost ?? 0),
    model: String(reply['model'] ?? ''),
    characters: textOf(adds['system'] ?? '').length + asked.reduce((sum, one) => sum + one.text.length + resultOf(run, path, one).length, 0),
  }
}

function resultOf(run: RunView, roundPath: string, asked: { text: string; of: string }): string {
  if (!asked.of || asked.text) return ''
  const around = roundPath.slice(0, roundPath.lastIndexOf('/') + 1)
  return textOf(run.steps.get(`${around}${asked.of}`)?.output)
}

/** Characters that stay of a result that is left out. */
const KEPT = 400

/** What the model saw when it was asked in a round: the rules, and all that was said before it. */
export function contextOf(run: RunView, agent: StepView, upTo: number): Told[] {
  const told: (Told & { of?: string })[] = []
  let system = ''
  for (const round of roundsOf(run, agent)) {
    if (round.number > upTo) break
    const adds = fields(round.think?.inputs)
    if (adds['system']) system = String(adds['system'])
    for (const one of round.asked) {
      const text = one.text || resultOf(run, round.path, one)
      told.push({ role: one.of ? 'tool' : 'user', text, calls: [], ...(one.of ? { of: one.of } : {}) })
    }
    for (const key of round.leftOut) {
      const message = told.find((one) => one.of === key)
      if (message && message.text.length > KEPT) message.text = `${message.text.slice(0, KEPT)}\n[…]`
    }
    if (round.number < upTo) {
      const reply = fields(round.think?.output)
      if (round.thought || round.calls.length) {
        told.push({ role: 'assistant', text: round.thought, calls: list(reply['tool_calls']) as AskedCall[] })
      }
    }
  }
  return [{ role: 'system', text: system, calls: [] }, ...told]
}
