import type { RunEvent } from '../api/events'
import { keyOf } from '../graph/shape'
import { groupOf, moved, type Groups } from './groups'
import { roughSize } from './weight'

export type StepStatus =
  | 'pending'
  | 'ready'
  | 'running'
  | 'waiting'
  | 'retrying'
  | 'succeeded'
  | 'failed'
  | 'timed_out'
  | 'skipped'
  | 'cancelled'
  | 'unknown'

export type RunStatus =
  | 'pending'
  | 'running'
  | 'paused'
  | 'waiting'
  | 'completed'
  | 'completed_with_errors'
  | 'failed'
  | 'cancelled'

export interface Failure {
  type: string
  message: string
  code?: string
  hint?: string
  [field: string]: unknown
}

export interface Attempt {
  began: number
  ended?: number
  error?: Failure
  tool?: string
  /** Seconds that the next attempt waited for. */
  delay?: number
  /** Idempotency key of the call. */
  key?: string
}

/** What a call told while it ran. */
export interface LogLine {
  at: number
  kind: 'progress' | 'warning'
  text: string
}

/** What somebody allowed or forbade, and what they were shown. */
export interface Decision {
  at: number
  inputs: unknown
  digest: string
  approved?: boolean
  by?: string
  comment?: string
}

/** A step instance, as the events so far tell it. */
export interface StepView {
  path: string
  /** The path of what it stands in; empty at the run itself. */
  parent: string
  /** The last part of the path. */
  name: string
  /** Its place in the graph: the path without items, visits and entries. */
  key: string
  tool: string
  status: StepStatus
  /** It only holds others, as a round of an agent does: no event tells of it. */
  holds: boolean
  inputs?: unknown
  output?: unknown
  /** The numbers of the events that have inputs and output: where these are too many to be held, they are read again. */
  startedSeq: number
  endedSeq: number
  aside: boolean
  large: boolean
  error?: Failure
  reason: string
  readyAt?: number
  began?: number
  ended?: number
  attempts: Attempt[]
  cached: boolean
  cost: number
  tokens: number
  confidence?: number
  sources: unknown[]
  settledBy: string
  progress?: { progress: number; total?: number; message: string }
  log: LogLine[]
  decisions: Decision[]
  /** Of a loop: how many items it has. */
  items?: number
  children: string[]
}

export interface Ask {
  path: string
  kind: 'approval' | 'input' | 'settle'
  since: number
}

/** A run, as the events so far tell it. */
export interface RunView {
  id: string
  name: string
  status: RunStatus
  reason: string
  plan: Record<string, unknown> | null
  inputs: unknown
  outputs: unknown
  error?: Failure
  began: number
  ended?: number
  steps: Map<string, StepView>
  roots: string[]
  /** Steps in the order in which they began. */
  begun: StepView[]
  /** Instances of each step of the plan, counted by how they stand. */
  groups: Groups
  /** The run that it was forked from, where, and which inputs were changed. */
  forked: { run: string; step: string; inputs: string[] } | null
  /** About how many bytes of inputs and outputs are held. */
  held: number
  asks: Map<string, Ask>
  warnings: { code: string; message: string; path: string }[]
  /** Parts of `steps` that are calls or blocks of the plan itself: for progress. */
  planned: number
  done: number
  last: number
  /** A tool is not what it was when the run began: nothing is called until somebody accepts it. In the engine's words. */
  parked: string
}

export function emptyRun(id: string): RunView {
  return {
    id,
    name: '',
    status: 'pending',
    reason: '',
    plan: null,
    inputs: {},
    outputs: undefined,
    began: 0,
    steps: new Map(),
    roots: [],
    begun: [],
    groups: new Map(),
    forked: null,
    held: 0,
    asks: new Map(),
    warnings: [],
    planned: 0,
    done: 0,
    last: 0,
    parked: '',
  }
}

const ENDED = new Set<StepStatus>(['succeeded', 'failed', 'timed_out', 'skipped', 'cancelled'])
export const hasEnded = (status: StepStatus): boolean => ENDED.has(status)
export const runHasEnded = (status: RunStatus): boolean =>
  status === 'completed' || status === 'completed_with_errors' || status === 'failed' || status === 'cancelled'

/** The id that a step has in its plan: its name without item, visit and entry. */
export const stepId = (name: string): string => /^[^[#~]*/.exec(name)?.[0] ?? name

/** The path of what a step stands in, and its own name: parts are parted by `/`, never inside of brackets. */
export function splitPath(path: string): [string, string] {
  let depth = 0
  for (let at = path.length - 1; at >= 0; at -= 1) {
    const sign = path[at]
    if (sign === ']') depth += 1
    else if (sign === '[') depth -= 1
    else if (sign === '/' && depth === 0) return [path.slice(0, at), path.slice(at + 1)]
  }
  return ['', path]
}

/** Bytes of inputs and outputs that a page holds; what comes after is read again when somebody looks at it. */
export const MOST_HELD = 96_000_000
/** Lines that are kept of what one call tells. */
const MOST_LINES = 200

/** What an instance hangs in: an item in its loop, a block that was begun anew in its step. */
function holderOf(run: RunView, parent: string, name: string): string {
  const opening = name.indexOf('[')
  const again = name.indexOf('~')
  if (opening < 0 && again < 0) return parent
  const head = parent ? `${parent}/` : ''
  const around = again < 0 ? [] : [name.slice(0, again)]
  if (opening >= 0) {
    const visit = /\](#\d+)/.exec(name)?.[1] ?? ''
    around.push(`${name.slice(0, opening)}${visit}`, name.slice(0, opening))
  }
  return around.map((one) => head + one).find((one) => run.steps.has(one)) ?? parent
}

/** The step at a path; where no event has told of it, as of a round of an agent, it only holds others. */
function placeAt(run: RunView, path: string): StepView {
  const known = run.steps.get(path)
  if (known) return known
  const [around, name] = splitPath(path)
  const parent = holderOf(run, around, name)
  const step: StepView = {
    path,
    parent,
    name,
    key: keyOf(path),
    tool: '',
    status: 'pending',
    holds: true,
    startedSeq: 0,
    endedSeq: 0,
    aside: false,
    large: false,
    reason: '',
    attempts: [],
    cached: false,
    cost: 0,
    tokens: 0,
    sources: [],
    settledBy: '',
    log: [],
    decisions: [],
    children: [],
  }
  run.steps.set(path, step)
  if (parent) placeAt(run, parent).children.push(path)
  else run.roots.push(path)
  return step
}

function stepAt(run: RunView, path: string): StepView {
  const step = placeAt(run, path)
  if (step.holds) {
    step.holds = false
    groupOf(run.groups, step)
  }
  return step
}

function stand(run: RunView, step: StepView, status: StepStatus): void {
  const before = step.status
  step.status = status
  moved(run.groups, step, before)
}

function keep(run: RunView, step: StepView, field: 'inputs' | 'output', value: unknown): void {
  if (run.held > MOST_HELD) {
    delete step[field]
    step.aside = true
    return
  }
  run.held += roughSize(value)
  step[field] = value
}

function tell(step: StepView, line: LogLine): void {
  step.log.push(line)
  if (step.log.length > MOST_LINES) step.log.shift()
}

/** Whether it is a step of the plan itself, and neither an item nor inside of another. */
const isPlanned = (step: StepView): boolean => !step.parent && !step.path.includes('[')

function end(run: RunView, event: RunEvent, status: StepStatus): StepView {
  const step = stepAt(run, event.path ?? '')
  if (!hasEnded(step.status) && hasEnded(status) && isPlanned(step)) run.done += 1
  step.ended = event.at
  step.endedSeq = event.seq
  stand(run, step, status)
  delete step.progress
  const attempt = step.attempts.at(-1)
  if (attempt && attempt.ended === undefined) attempt.ended = event.at
  run.asks.delete(step.path)
  return step
}

function fail(run: RunView, event: RunEvent, status: StepStatus): void {
  const step = end(run, event, status)
  step.error = event['error'] as Failure
  const attempt = step.attempts.at(-1)
  if (attempt) attempt.error = step.error
}

/** Take one event in. The same rules as the engine's own fold, for what a page shows. */
export function take(run: RunView, event: RunEvent): void {
  if (event.seq <= run.last) return
  run.last = event.seq
  const path = event.path ?? ''
  switch (event.type) {
    case 'run.started': {
      const plan = event['plan'] as Record<string, unknown>
      run.plan = plan
      run.name = String(plan['name'] ?? '')
      run.planned = Array.isArray(plan['steps']) ? plan['steps'].length : 0
      run.inputs = event['inputs'] ?? {}
      run.began = event.at
      run.status = 'running'
      const parent = (event['parent'] ?? {}) as { run_id?: string; from_step?: string; inputs?: string[] }
      if (parent.run_id) run.forked = { run: parent.run_id, step: parent.from_step ?? '', inputs: parent.inputs ?? [] }
      break
    }
    case 'run.began':
      // Of a plan inside a run: the call that began it.
      run.inputs = event['inputs'] ?? {}
      run.began ||= event.at
      run.status = 'running'
      delete run.ended
      delete run.error
      break
    case 'plan.revised': {
      const plan = event['plan'] as Record<string, unknown>
      run.plan = plan
      run.planned = Array.isArray(plan['steps']) ? plan['steps'].length : run.planned
      break
    }
    case 'run.paused':
      run.status = 'paused'
      run.reason = String(event['reason'] ?? '')
      break
    case 'run.resumed':
      run.status = 'running'
      run.parked = ''
      run.reason = ''
      delete run.ended
      delete run.error
      // What was under way when its driver went is begun again, or asked about.
      for (const step of run.steps.values()) {
        if (step.status === 'running' || step.status === 'ready' || step.status === 'retrying') stand(run, step, 'pending')
      }
      break
    case 'run.completed':
      run.status = (event['status'] as RunStatus | undefined) ?? 'completed'
      run.outputs = event['outputs']
      run.ended = event.at
      break
    case 'run.failed':
      run.status = 'failed'
      run.reason = String(event['reason'] ?? '')
      run.error = event['error'] as Failure
      run.outputs = event['outputs']
      run.ended = event.at
      break
    case 'run.cancelled':
      run.status = 'cancelled'
      run.reason = String(event['reason'] ?? '')
      run.ended = event.at
      break
    case 'step.ready': {
      const step = stepAt(run, path)
      step.readyAt = event.at
      stand(run, step, 'ready')
      break
    }
    case 'step.started': {
      const step = stepAt(run, path)
      if (hasEnded(step.status) && isPlanned(step)) run.done -= 1
      step.tool = String(event['tool'] ?? step.tool)
      step.startedSeq = event.seq
      if (event['inputs'] !== undefined) {
        const over = (event['inputs'] as { over?: unknown } | null)?.over
        if (!step.tool && Array.isArray(over)) step.items = over.length
        keep(run, step, 'inputs', event['inputs'])
      }
      if (step.began === undefined) {
        step.began = event.at
        run.begun.push(step)
      }
      delete step.ended
      delete step.error
      step.attempts.push({ began: event.at, tool: step.tool, ...(event['key'] ? { key: String(event['key']) } : {}) })
      run.asks.delete(path)
      stand(run, step, 'running')
      break
    }
    case 'step.progress': {
      const step = stepAt(run, path)
      step.progress = {
        progress: Number(event['progress'] ?? 0),
        message: String(event['message'] ?? ''),
        ...(event['total'] === undefined || event['total'] === null ? {} : { total: Number(event['total']) }),
      }
      if (step.progress.message) tell(step, { at: event.at, kind: 'progress', text: step.progress.message })
      break
    }
    case 'step.retrying': {
      const step = stepAt(run, path)
      step.error = event['error'] as Failure
      const attempt = step.attempts.at(-1)
      if (attempt) {
        attempt.ended = event.at
        attempt.error = step.error
        attempt.delay = Number(event['delay'] ?? 0)
      }
      stand(run, step, 'retrying')
      break
    }
    case 'step.succeeded': {
      const step = stepAt(run, path)
      keep(run, step, 'output', event['output'])
      step.large = Boolean(event['large'])
      step.cached = Boolean(event['cached'])
      step.cost = Number(event['cost'] ?? 0)
      step.tokens = Number(event['tokens'] ?? 0)
      step.settledBy = String(event['settled_by'] ?? '')
      step.sources = (event['sources'] as unknown[] | undefined) ?? []
      if (typeof event['confidence'] === 'number') step.confidence = event['confidence']
      delete step.error
      end(run, event, 'succeeded')
      break
    }
    case 'step.failed':
      fail(run, event, 'failed')
      break
    case 'step.timed_out':
      fail(run, event, 'timed_out')
      break
    case 'step.skipped':
      end(run, event, 'skipped').reason = String(event['reason'] ?? '')
      break
    case 'step.cancelled':
      end(run, event, 'cancelled').reason = String(event['reason'] ?? '')
      break
    case 'step.unknown': {
      const step = stepAt(run, path)
      step.tool = String(event['tool'] ?? step.tool)
      run.asks.set(path, { path, kind: 'settle', since: event.at })
      stand(run, step, 'unknown')
      break
    }
    case 'step.waiting': {
      const step = stepAt(run, path)
      step.reason = String(event['reason'] ?? '')
      stand(run, step, 'waiting')
      break
    }
    case 'fallback.started': {
      const step = stepAt(run, path)
      step.tool = String(event['tool'] ?? step.tool)
      break
    }
    case 'approval.requested': {
      run.asks.set(path, { path, kind: 'approval', since: event.at })
      if (path) {
        const step = stepAt(run, path)
        step.tool = String(event['tool'] ?? step.tool)
        step.inputs = event['inputs']
        step.decisions.push({ at: event.at, inputs: event['inputs'], digest: String(event['digest'] ?? '') })
      }
      break
    }
    case 'input.requested':
      run.asks.set(path, { path, kind: 'input', since: event.at })
      break
    case 'approval.decided': {
      run.asks.delete(path)
      const asked = path ? stepAt(run, path).decisions.at(-1) : undefined
      if (asked) {
        asked.approved = Boolean(event['approved'])
        asked.by = String(event['by'] ?? '')
        asked.comment = String(event['comment'] ?? '')
      }
      break
    }
    case 'input.received':
      run.asks.delete(path)
      break
    case 'warning': {
      const message = String(event['message'])
      run.warnings.push({ code: String(event['code']), message, path })
      if (event['code'] === 'tool_changed') run.parked = message.replace(/ Settle it .*$/, '')
      const step = run.steps.get(path)
      if (step) tell(step, { at: event.at, kind: 'warning', text: message })
      break
    }
    default:
      // Events that a later version writes change nothing that this page knows.
      break
  }
}
