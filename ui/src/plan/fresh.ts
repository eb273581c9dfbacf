/** A plan to begin with: it checks once its tool is named. */
export const NEW_PLAN = {
  name: 'new',
  inputs: { type: 'object', properties: {} },
  steps: [{ id: 'first', tool: 'name.a_tool', inputs: {} }],
}
