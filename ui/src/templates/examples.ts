import { address, part, type JsonObject, type Schemas } from '../api/client'

/** How a program runs a published template: ready to be taken, with the parameters to be filled in. */
export interface Example {
  label: string
  text: string
}

export function examplesOf(template: Schemas['TemplateDetail']): Example[] {
  const properties = ((template.input_schema as JsonObject | undefined)?.['properties'] ?? {}) as Record<string, JsonObject>
  const inputs = Object.fromEntries(Object.entries(properties).map(([name, schema]) => [name, sample(schema)]))
  const url = address(`/templates/${part(template.template_id)}/runs`)
  const body = JSON.stringify({ inputs }, null, 2)
  const channels: readonly string[] = template.channels ?? []
  const found: Example[] = []
  if (channels.includes('http')) {
    found.push({ label: 'curl', text: `curl -X POST ${quoted(url)} \\\n  -H 'Content-Type: application/json' \\\n  -d ${quoted(body)}` })
    found.push({ label: 'Python', text: python(url, inputs) })
  }
  if (channels.includes('mcp')) {
    const config = { mcpServers: { toolpath: { url: new URL('mcp', document.baseURI).toString() } } }
    found.push({ label: 'MCP: mcp.json', text: JSON.stringify(config, null, 2) })
    // Over MCP a dot is written as two dashes.
    const name = toolKey(template).replace('.', '--')
    if (name) found.push({ label: 'MCP: tools/call', text: JSON.stringify({ name, arguments: inputs }, null, 2) })
  }
  if (channels.includes('tool') && toolKey(template)) {
    const step = { id: 'step', tool: toolKey(template), inputs }
    found.push({ label: 'Plan', text: JSON.stringify({ steps: [step] }, null, 2) })
  }
  return found
}

/** The key of a template as a tool, as `tool_of` makes it; empty where it is made of a digest. */
export function toolKey(template: { group: string; title: string }): string {
  const legal = (text: string): string => text.replaceAll(/[^A-Za-z0-9_-]+/g, '_').replaceAll(/^_+|_+$/g, '')
  const parts = [legal(template.group), legal(template.title)]
  return parts.every(Boolean) ? parts.join('.') : ''
}

function sample(schema: JsonObject): unknown {
  if (schema['default'] !== undefined) return schema['default']
  if (Array.isArray(schema['enum'])) return schema['enum'][0]
  switch (schema['type']) {
    case 'integer':
    case 'number':
      return 0
    case 'boolean':
      return false
    case 'array':
      return []
    case 'object':
      return {}
    default:
      return '…'
  }
}

/** A word of a shell, whatever stands in it. */
const quoted = (text: string): string => `'${text.replaceAll("'", `'\\''`)}'`

function python(url: string, inputs: Record<string, unknown>): string {
  const value = JSON.stringify(JSON.stringify(inputs))
  return [
    'import json',
    '',
    'import httpx',
    '',
    `inputs = json.loads(${value})`,
    `run = httpx.post(${JSON.stringify(url)}, json={"inputs": inputs}).raise_for_status().json()`,
    'print(run["run_id"], run["status"])',
  ].join('\n')
}
