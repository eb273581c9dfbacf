import { afterAll, beforeAll, expect, it, vi } from 'vitest'
import { examplesOf, toolKey } from './examples'

beforeAll(() => void vi.stubGlobal('document', { baseURI: 'http://host/page/' }))
afterAll(() => void vi.unstubAllGlobals())

const TEMPLATE = {
  template_id: 'tpl_1',
  title: "It's a $(test) `x`",
  group: 'a b',
  channels: ['http', 'mcp', 'tool'],
  input_schema: { properties: { who: { type: 'string', default: "O'Brien $(x)" }, n: { type: 'integer' } } },
}

it('gives words of a shell that hold whatever stands in them', () => {
  const examples = examplesOf(TEMPLATE as never)
  expect(examples.map((one) => one.label)).toEqual(['curl', 'Python', 'MCP: mcp.json', 'MCP: tools/call', 'Plan'])
  const curl = examples[0]?.text ?? ''
  expect(curl).toContain(`'http://host/page/api/v1/templates/tpl_1/runs'`)
  expect(curl).toContain(String.raw`O'\''Brien $(x)`)
  expect(JSON.parse(examples[3]?.text ?? '')).toEqual({ name: 'a_b--It_s_a_test_x', arguments: { who: "O'Brien $(x)", n: 0 } })
})

it('names the tool that a template is', () => {
  expect(toolKey({ group: 'onboarding', title: 'Welcome' })).toBe('onboarding.Welcome')
  expect(toolKey({ group: '你好', title: 'x' })).toBe('')
})
