import { get, Problem, type JsonObject, type Schemas } from '../api/client'
import { propertiesOf, resolved, typeName } from '../parts/schemas'
import { words } from '../texts'
import type { Named, Names } from './completion'

type Plan = Record<string, unknown>

/** What a plan's text may name: tools, fields, inputs of tools, and values that steps and inputs give. */
export async function namesOf(plan: Plan | null, known: Names | null): Promise<Names> {
  let unread: unknown = null
  let tools = known?.tools ?? []
  if (!tools.length) {
    try {
      const page = await get<Schemas['ToolPage']>('/tools', { limit: 500 })
      tools = page.tools.map((tool) => ({ key: tool.key, description: tool.description ?? '' }))
    } catch (why) {
      unread = why
    }
  }
  const inputs = { ...known?.inputs }
  const gives = { ...known?.gives }
  const steps = stepsOf(plan)
  const named = [...new Set(steps.map((step) => String(step['tool'] ?? '')))].filter((key) => key && !(key in inputs))
  for (const key of named.slice(0, 50)) {
    if (!tools.some((tool) => tool.key === key)) continue
    try {
      const tool = await get<Schemas['ToolDetail']>(`/tools/${encodeURIComponent(key)}`)
      inputs[key] = fields(tool.input_schema as JsonObject | undefined)
      gives[key] = tool.output_schema as JsonObject | null
    } catch (why) {
      // What is not there gives nothing; what could not be read is asked for again with the next change.
      if (why instanceof Problem && why.status === 404) inputs[key] = []
      else unread ??= why
    }
  }
  return { unread, tools, inputs, gives, values: new Values(plan, steps, gives).all() }
}

/** What a plan is called where people see it: what rules planned has no name of its own, but the request's words. */
export function titleOf(plan: { name?: string | null; request?: string | null }): string {
  const request = (plan.request ?? '').trim()
  const name = plan.name && !(plan.name === 'plan' && request) ? plan.name : ''
  return name || (request.length > 90 ? `${request.slice(0, 90)}…` : request) || words.plan.unnamed
}

/** All steps of a plan, those inside of loops and branches too. */
function stepsOf(block: Plan | null | undefined): Plan[] {
  const listed = Array.isArray(block?.['steps']) ? (block['steps'] as unknown[]) : []
  return listed.flatMap((one) => {
    if (!one || typeof one !== 'object') return []
    const step = one as Plan
    const branches = Array.isArray(step['parallel']) ? (step['parallel'] as Plan[]) : []
    const inside = branches.flatMap((branch) => (branch && Array.isArray(branch['steps']) ? stepsOf(branch) : stepsOf({ steps: [branch] })))
    return [step, ...stepsOf(step['loop'] as Plan | undefined), ...inside]
  })
}

function fields(schema: JsonObject | undefined): Named[] {
  return Object.entries(propertiesOf(schema)).map(([name, part]) => ({
    name,
    info: [typeName(part), part['description']].filter(Boolean).map(String).join(' · '),
  }))
}

/** Fields of a value that are named below it. */
const DEEPEST = 2

/** What `{{ }}` may name, with the schema of each: by it the items of a loop are known. */
class Values {
  private readonly schemas = new Map<string, JsonObject | null | undefined>()

  constructor(
    private readonly plan: Plan | null,
    private readonly steps: Plan[],
    private readonly gives: Names['gives'],
  ) {
    this.schemas.set('inputs', plan?.['inputs'] as JsonObject | undefined)
    for (const step of steps) {
      const id = String(step['id'] ?? '')
      if (id) this.schemas.set(id, step['loop'] ? { type: 'array' } : gives[String(step['tool'] ?? '')])
    }
  }

  all(): Named[] {
    const inputs = fields(this.schemas.get('inputs') ?? undefined).map(({ name, info }) => ({ name: `inputs.${name}`, info }))
    const state = [...this.state()].flatMap(([name, schema]) => named(`state.${name}`, schema, 1))
    const loops = this.steps.flatMap((step) => this.item(step['loop'] as Plan | undefined))
    const steps = this.steps.flatMap((step) => {
      const id = String(step['id'] ?? '')
      return id ? named(id, this.schemas.get(id), DEEPEST) : []
    })
    return unique([...inputs, ...loops, ...state, ...steps])
  }

  /** Variables of a chain's state: what it starts with, and what its steps write. */
  private state(): Map<string, JsonObject | null | undefined> {
    const found = new Map<string, JsonObject | null | undefined>()
    const start = (this.plan?.['initial_state'] ?? this.plan?.['state'] ?? {}) as Plan
    for (const [name, value] of Object.entries(start)) found.set(name, { type: kindOf(value) })
    for (const step of this.steps) {
      const after = (step['on_success'] ?? {}) as Plan
      const gives = this.gives[String(step['tool'] ?? '')]
      for (const [field, variable] of Object.entries((after['map_outputs'] ?? {}) as Plan)) {
        found.set(String(variable), propertiesOf(gives)[field] ?? null)
      }
      for (const [variable, template] of Object.entries((after['transform'] ?? {}) as Plan)) {
        found.set(variable, this.schemaOf(template))
      }
    }
    return found
  }

  /** The variable of a loop, with its fields. */
  private item(loop: Plan | undefined): Named[] {
    if (!loop) return []
    const name = typeof loop['as'] === 'string' && loop['as'] ? loop['as'] : 'item'
    const over = this.schemaOf(loop['over'])
    const items = over?.['items'] as JsonObject | undefined
    return named(name, items ?? null, DEEPEST).map((one) => ({ ...one, inLoop: true }))
  }

  /** The schema of a value: of a template that only names something that of what it names. */
  private schemaOf(value: unknown): JsonObject | null {
    const path = typeof value === 'string' ? /^\s*\{\{\s*([\w.]+)\s*\}\}\s*$/.exec(value)?.[1] : undefined
    if (path === undefined) {
      if (typeof value === 'string' && value.includes('{{')) return null
      const type = kindOf(value)
      return Array.isArray(value) && value.length ? { type, items: { type: kindOf(value[0]) } } : { type }
    }
    const [head, ...rest] = path.split('.')
    let [from, names] = [head ?? '', rest]
    if (head === 'state') [from, names] = ['inputs', rest]
    if (head === 'steps') [from, names] = [rest[0] ?? '', rest.slice(2)]
    const root = this.schemas.get(from)
    return names.reduce<JsonObject | null>((at, name) => (at ? (propertiesOf(at, root)[name] ?? null) : null), resolved(root))
  }
}

function kindOf(value: unknown): string {
  if (Array.isArray(value)) return 'array'
  if (value === null) return 'null'
  return typeof value === 'number' ? (Number.isInteger(value) ? 'integer' : 'number') : typeof value
}

const unique = (values: Named[]): Named[] => [...new Map(values.map((one) => [one.name, one])).values()]

function named(
  name: string,
  schema: JsonObject | null | undefined,
  depth: number,
  root: JsonObject | null | undefined = schema,
): Named[] {
  const properties = depth ? Object.entries(propertiesOf(schema, root)) : []
  const inside = properties.flatMap(([field, part]) => named(`${name}.${field}`, part, depth - 1, root))
  return [{ name, info: typeName(resolved(schema, root)) }, ...inside]
}
