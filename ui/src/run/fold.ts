import type { RunEvent } from '../api/events'

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
}

/** A step instance, as the events so far tell it. */
export interface StepView {
  path: string
  /** The path of what it stands in; empty at the run itself. */
  parent: string
  /** The last part of the path. */
  name: string
  tool: string
  status: StepStatus
  inputs?: unknown
  output?: unknown
  large: boolean
  error?: Failure
  reason: string
  readyAt?: number
  began?: number
  ended?: number
  attempts: Attempt[]
  cached: boolean
  cost: number
  progress?: { progress: number; total?: number; message: string }
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
  asks: Map<string, Ask>
  warnings: { code: string; message: string; path: string }[]
  /** Parts of `steps` that are calls or blocks of the plan itself: for progress. */
  planned: number
  done: number
  last: number
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
    asks: new Map(),
    warnings: [],
    planned: 0,
    done: 0,
    last: 0,
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

function stepAt(run: RunView, path: string): StepView {
  const known = run.steps.get(path)
  if (known) return known
  const [parent, name] = splitPath(path)
  const step: StepView = {
    path,
    parent,
    name,
    tool: '',
    status: 'pending',
    large: false,
    reason: '',
    attempts: [],
    cached: false,
    cost: 0,
    children: [],
  }
  run.steps.set(path, step)
  if (parent) stepAt(run, parent).children.push(path)
  else run.roots.push(path)
  return step
}

/** Whether it is a step of the plan itself, and neither an item nor inside of another. */
const isPlanned = (step: StepView): boolean => !step.parent && !step.path.includes('[')

function end(run: RunView, event: RunEvent, status: StepStatus): StepView {
  const step = stepAt(run, event.path ?? '')
  if (!hasEnded(step.status) && hasEnded(status) && isPlanned(step)) run.done += 1
  step.status = status
  step.ended = event.at
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
      break
    }
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
      run.reason = ''
      delete run.ended
      delete run.error
      // What was under way when its driver went is begun again, or asked about.
      for (const step of run.steps.values()) {
        if (step.status === 'running' || step.status === 'ready' || step.status === 'retrying') step.status = 'pending'
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
      step.status = 'ready'
      step.readyAt = event.at
      break
    }
    case 'step.started': {
      const step = stepAt(run, path)
      if (hasEnded(step.status) && isPlanned(step)) run.done -= 1
      step.status = 'running'
      step.tool = String(event['tool'] ?? step.tool)
      if (event['inputs'] !== undefined) step.inputs = event['inputs']
      step.began ??= event.at
      delete step.ended
      delete step.error
      step.attempts.push({ began: event.at, tool: step.tool })
      run.asks.delete(path)
      break
    }
    case 'step.progress': {
      const step = stepAt(run, path)
      step.progress = {
        progress: Number(event['progress'] ?? 0),
        message: String(event['message'] ?? ''),
        ...(event['total'] === undefined || event['total'] === null ? {} : { total: Number(event['total']) }),
      }
      break
    }
    case 'step.retrying': {
      const step = stepAt(run, path)
      step.status = 'retrying'
      step.error = event['error'] as Failure
      const attempt = step.attempts.at(-1)
      if (attempt) {
        attempt.ended = event.at
        attempt.error = step.error
      }
      break
    }
    case 'step.succeeded': {
      const step = end(run, event, 'succeeded')
      step.output = event['output']
      step.large = Boolean(event['large'])
      step.cached = Boolean(event['cached'])
      step.cost = Number(event['cost'] ?? 0)
      delete step.error
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
      step.status = 'unknown'
      step.tool = String(event['tool'] ?? step.tool)
      run.asks.set(path, { path, kind: 'settle', since: event.at })
      break
    }
    case 'step.waiting': {
      const step = stepAt(run, path)
      step.status = 'waiting'
      step.reason = String(event['reason'] ?? '')
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
      }
      break
    }
    case 'input.requested':
      run.asks.set(path, { path, kind: 'input', since: event.at })
      break
    case 'approval.decided':
    case 'input.received':
      run.asks.delete(path)
      break
    case 'warning':
      run.warnings.push({ code: String(event['code']), message: String(event['message']), path })
      break
    default:
      // Events that a later version writes change nothing that this page knows.
      break
  }
}
