import { get, type JsonObject, type Schemas } from '../api/client'
import type { Named, Names } from './editor'

type Plan = Record<string, unknown>

/** What a plan's text may name: tools, fields, inputs of tools, and values that steps and inputs give. */
export async function namesOf(plan: Plan | null, known: Names | null): Promise<Names> {
  const tools = known?.tools.length
    ? known.tools
    : (await get<Schemas['ToolPage']>('/tools', { limit: 500 })).tools.map((tool) => ({
        key: tool.key,
        description: tool.description ?? '',
      }))
  const inputs = { ...known?.inputs }
  const steps = stepsOf(plan)
  const named = [...new Set(steps.map((step) => String(step['tool'] ?? '')))].filter((key) => key && !(key in inputs))
  for (const key of named.slice(0, 50)) {
    if (!tools.some((tool) => tool.key === key)) continue
    try {
      const tool = await get<Schemas['ToolDetail']>(`/tools/${encodeURIComponent(key)}`)
      inputs[key] = fields(tool.input_schema as JsonObject | undefined)
    } catch {
      inputs[key] = []
    }
  }
  return { tools, inputs, fields: FIELDS, values: valuesOf(plan, steps) }
}

function stepsOf(plan: Plan | null): Plan[] {
  return Array.isArray(plan?.['steps']) ? (plan['steps'] as Plan[]) : []
}

function fields(schema: JsonObject | undefined): Named[] {
  const properties = (schema?.['properties'] ?? {}) as Record<string, JsonObject>
  return Object.entries(properties).map(([name, part]) => ({
    name,
    info: [part['type'], part['description']].filter(Boolean).map(String).join(' · '),
  }))
}

function valuesOf(plan: Plan | null, steps: Plan[]): Named[] {
  const given = fields(plan?.['inputs'] as JsonObject | undefined).map(({ name, info }) => ({
    name: `inputs.${name}`,
    info,
  }))
  const found = steps.map((step) => ({ name: String(step['id'] ?? ''), info: String(step['tool'] ?? '') }))
  return [...given, ...found.filter((step) => step.name)]
}

/** The fields that people write most; the checker knows all. */
const FIELDS: Names['fields'] = {
  plan: [
    { name: 'name', info: '' },
    { name: 'description', info: '' },
    { name: 'inputs', info: 'JSON Schema' },
    { name: 'steps', info: '' },
    { name: 'outputs', info: '' },
    { name: 'flow', info: 'graph, chain' },
    { name: 'failure_mode', info: 'stop, isolate, continue' },
    { name: 'timeout', info: '' },
    { name: 'budget', info: '' },
  ],
  step: [
    { name: 'id', info: '' },
    { name: 'tool', info: '' },
    { name: 'inputs', info: '' },
    { name: 'when', info: '' },
    { name: 'depends_on', info: '' },
    { name: 'retry', info: '' },
    { name: 'timeout', info: '' },
    { name: 'fallback', info: '' },
    { name: 'requires_approval', info: '' },
    { name: 'on_failure', info: '' },
    { name: 'on_success', info: '' },
    { name: 'loop', info: '' },
    { name: 'parallel', info: '' },
    { name: 'agent', info: '' },
    { name: 'ask', info: '' },
  ],
}
