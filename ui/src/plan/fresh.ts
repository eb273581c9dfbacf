/** Stands where a tool is to be named. */
export const NO_TOOL = 'name.a_tool'

/** A plan to begin with: it checks once its tool is named. */
export const NEW_PLAN = {
  name: 'new',
  inputs: { type: 'object', properties: {} },
  steps: [{ id: 'first', tool: NO_TOOL, inputs: {} }],
}
