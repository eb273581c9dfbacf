type Step = Record<string, unknown>

const isObject = (value: unknown): value is Step => value !== null && typeof value === 'object' && !Array.isArray(value)

/** The steps that a document holds, at whatever depth but those of its steps. */
function stepsIn(value: unknown, depth = 0): Step[] {
  if (depth > 6) return []
  if (Array.isArray(value)) {
    const steps = value.filter(isObject)
    return steps.some((step) => typeof step['id'] === 'string') ? steps : steps.flatMap((one) => stepsIn(one, depth + 1))
  }
  if (!isObject(value)) return []
  return Object.entries(value)
    .filter(([name]) => name !== 'inputs' && name !== 'outputs')
    .flatMap(([, inner]) => stepsIn(inner, depth + 1))
}

/** The step of the plan that an instance is of, with its templates; null: it stands in a template or tool of its own. */
export function plannedAt(document: Step | null, key: string): Step | null {
  let at: Step | null = document
  for (const id of key.split('/')) {
    if (!at) return null
    at = stepsIn(at === document ? at['steps'] : at).find((step) => step['id'] === id) ?? null
  }
  return at
}
