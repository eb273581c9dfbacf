import { expect, it, vi } from 'vitest'
import { namesOf, titleOf } from './names'

const ORDERS = { type: 'array', items: { type: 'object', properties: { id: { type: 'string' }, total: { type: 'number' } } } }
const TOOLS: Record<string, unknown> = {
  'shop.orders': { key: 'shop.orders', input_schema: {}, output_schema: { type: 'object', properties: { orders: ORDERS } } },
  'shop.refund': { key: 'shop.refund', input_schema: { properties: { order: { type: 'string' } } }, output_schema: { type: 'object', properties: { amount: { type: 'number' } } } },
}
vi.mock('../api/client', () => ({
  get: (path: string) =>
    Promise.resolve(path === '/tools' ? { tools: Object.values(TOOLS) } : TOOLS[decodeURIComponent(path.slice('/tools/'.length))]),
}))

const PLAN = {
  flow: 'chain',
  inputs: { type: 'object', properties: { days: { type: 'array', items: { type: 'string' } } } },
  initial_state: { tries: 0 },
  steps: [
    { id: 'all', tool: 'shop.orders', on_success: { map_outputs: { orders: 'open' }, transform: { first: '{{ all.orders }}' } } },
    { id: 'each', loop: { over: '{{ all.orders }}', as: 'order', steps: [{ id: 'back', tool: 'shop.refund' }] } },
    { id: 'daily', loop: { over: '{{ inputs.days }}', steps: [{ id: 'again', tool: 'shop.orders' }] } },
    { id: 'both', parallel: [{ id: 'left', tool: 'shop.refund' }, { steps: [{ id: 'right', tool: 'shop.refund' }] }] },
  ],
}

it('knows loop variables, state and nested steps with their types', async () => {
  const names = await namesOf(PLAN, null)
  const types = Object.fromEntries(names.values.map((one) => [one.name, one.info]))
  expect(types).toMatchObject({
    'inputs.days': 'array of string',
    'state.tries': 'integer',
    'state.open': 'array of object',
    'state.first': 'array of object',
    order: 'object',
    'order.total': 'number',
    item: 'string',
    'back.amount': 'number',
    'left.amount': 'number',
    'right.amount': 'number',
    each: 'array',
  })
  expect(names.values.filter((one) => one.inLoop).map((one) => one.name)).toEqual(['order', 'order.id', 'order.total', 'item'])
  expect(names.inputs['shop.refund']?.map((one) => one.name)).toEqual(['order'])
})

it('knows nothing of what cannot be read, and does not break', async () => {
  const broken = { steps: [null, 'x', { id: 'a', loop: { over: 3, steps: {} }, parallel: [null] }] } as unknown as Record<string, unknown>
  expect((await namesOf(broken, null)).values.map((one) => one.name)).toEqual(['item', 'a'])
})

it('calls a plan by its name, else by the request', () => {
  expect(titleOf({ name: 'plan', request: 'Refund A-1' })).toBe('Refund A-1')
  expect(titleOf({ name: 'Refunds', request: 'Refund A-1' })).toBe('Refunds')
  expect(titleOf({ name: 'plan', request: '' })).toBe('plan')
})
