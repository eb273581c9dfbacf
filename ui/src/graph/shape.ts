import type { Schemas } from '../api/client'

export type ExplainedStep = Schemas['ExplainedStep']
export type ExplainedBlock = Schemas['ExplainedBlock']

/** A step as the graph shows it. `key` is its path without items and visits: the ids from the outside in. */
export interface GraphStep {
  key: string
  parent: string
  id: string
  kind: string
  tool: string
  effect: string
  approval: boolean
  critical: boolean
  note: string
  /** Seconds that it is expected to take; null: not known. */
  expected: number | null
  /** Holds steps of its own. */
  holds: boolean
}

export interface GraphEdge {
  key: string
  from: string
  to: string
  because: string
}

export interface Shape {
  steps: GraphStep[]
  edges: GraphEdge[]
}

/** Steps that are drawn at most; of a larger plan the list tells all. */
export const MOST_DRAWN = 1500

/** What is drawn of a plan: a box for each step, inside of the box of its block, and an edge for each wait. */
export function shapeOf(block: ExplainedBlock): Shape {
  const shape: Shape = { steps: [], edges: [] }
  add(shape, block, '')
  return shape
}

/** What is drawn of the plan that the step with this key holds; null: the plan does not show what it holds. */
export function shapeInside(block: ExplainedBlock, key: string): Shape | null {
  let steps = block.steps ?? []
  for (const id of key.split('/')) {
    const step = steps.find((one) => one.id === id)
    if (!step?.blocks?.length) return null
    const blocks = step.blocks
    steps = blocks.flatMap((inner) => inner.steps ?? [])
  }
  return shapeOf({ ...block, steps })
}

function add(shape: Shape, block: ExplainedBlock, parent: string): void {
  const at = (id: string): string => (parent ? `${parent}/${id}` : id)
  for (const step of block.steps ?? []) {
    if (shape.steps.length >= MOST_DRAWN) return
    const blocks = (step.blocks ?? []).filter((inner) => (inner.steps ?? []).length > 0)
    shape.steps.push({
      key: at(step.id),
      parent,
      id: step.id,
      kind: step.kind,
      tool: step.tool ?? '',
      effect: step.effect ?? '',
      approval: step.approval ?? false,
      critical: step.critical ?? false,
      note: step.note ?? '',
      expected: step.duration?.unknown?.length ? null : (step.duration?.value ?? null),
      holds: blocks.length > 0,
    })
    for (const inner of blocks) add(shape, inner, at(step.id))
    for (const wait of step.waits ?? []) {
      const because = wait.because.filter((why) => why !== 'order').join(', ')
      shape.edges.push({ key: `${at(wait.step)}→${at(step.id)}`, from: at(wait.step), to: at(step.id), because })
    }
  }
}

/** The place of a step instance in the graph: its path without items, visits and entries. */
export function keyOf(path: string): string {
  let depth = 0
  let key = ''
  let skips = false
  for (const sign of path) {
    if (sign === '[') depth += 1
    else if (sign === ']') depth -= 1
    else if (depth === 0) {
      if (sign === '/') skips = false
      else if (sign === '#' || sign === '~') skips = true
      if (!skips) key += sign
    }
  }
  return key
}
