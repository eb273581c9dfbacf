import { describe, expect, it } from 'vitest'
import { parse } from 'yaml'
import { freshId, pathOf, withStep, withValue } from './text'

const TEXT = `# About the plan.
name: post   # its name
inputs: {type: object, properties: {a: {type: integer}}}

steps:
  # The writer comes first.
  - id: writer
    tool: blog.author   # makes one
    inputs:
      name: "{{ inputs.name }}"
      tags: [a, b]
  - {id: post, tool: blog.post, inputs: {by: "{{ writer.id }}"}}  # in one line
# The end.
outputs: "{{ post }}"
`

function sizeAt(text: string, path: (string | number)[]): number {
  let at = parse(text) as Record<string | number, unknown>
  for (const name of path) at = at[name] as Record<string | number, unknown>
  return Object.keys(at).length
}

describe('a change of one place', () => {
  const cases: [string, (string | number)[], unknown][] = [
    ['a scalar', ['steps', 0, 'inputs', 'name'], 'Ada'],
    ['a template', ['steps', 1, 'inputs', 'by'], '{{ inputs.a }}'],
    ['a new field in a block', ['steps', 0, 'inputs', 'email'], 'a@b.c'],
    ['a new field in braces', ['steps', 1, 'inputs', 'title'], 'Hello: "you"'],
    ['a new list in a block', ['steps', 0, 'depends_on'], ['post']],
    ['a new list in braces', ['steps', 1, 'depends_on'], ['writer']],
    ['a text of lines', ['steps', 0, 'inputs', 'name'], 'one\ntwo\n'],
    ['an object', ['steps', 0, 'inputs', 'name'], { first: 'A', last: ['b', { c: 1 }] }],
    ['a tool', ['steps', 0, 'tool'], 'other.tool'],
    ['a new field at the top', ['timeout'], '5m'],
    ['a place that is not there with what is around it', ['steps', 0, 'retry', 'max_retries'], 3],
    ['a number', ['steps', 0, 'inputs', 'name'], 3],
  ]
  it.each(cases)('%s keeps everything around it', (_, path, value) => {
    const made = withValue(TEXT, path, value as never)
    let at = parse(made) as never
    for (const name of path) at = at[name] as never
    expect(at).toEqual(value)
    for (const comment of ['# About the plan.', '# its name', '# The writer comes first.', '# in one line', '# The end.'])
      expect(made).toContain(comment)
    // All lines but those of the place are the very same.
    const before = TEXT.split('\n')
    const after = made.split('\n')
    expect(before.filter((line) => !after.includes(line)).length).toBeLessThanOrEqual(1)
  })

  it('takes a place out', () => {
    for (const path of [['outputs'], ['steps', 0, 'inputs', 'tags'], ['steps', 1], ['steps', 0, 'id'], ['steps', 1, 'tool']]) {
      const made = withValue(TEXT, path, undefined)
      expect(made).toContain('# The writer comes first.')
      expect(sizeAt(made, path.slice(0, -1))).toBe(sizeAt(TEXT, path.slice(0, -1)) - 1)
    }
  })

  it('adds steps to lists of every form', () => {
    const step = { id: 'more', tool: 'x.y', inputs: { n: 1 } }
    const made = withStep(TEXT, step)
    expect((parse(made) as { steps: unknown[] }).steps[2]).toEqual(step)
    expect(made).toContain('# in one line')
    for (const text of ['name: a\n', 'name: a\nsteps: []\n', '{"name": "a", "steps": []}', 'steps: [{tool: b}]'])
      expect((parse(withStep(text, step)) as { steps: unknown[] }).steps.at(-1)).toEqual(step)
    expect(JSON.parse(withStep('{"name": "a", "steps": [{"tool": "b"}]}', step))).toBeTruthy()
  })

  it('leaves a text alone that cannot be read', () => {
    expect(withValue('a: [', ['a'], 1)).toBe('a: [')
  })

  it('makes ids and paths', () => {
    expect(freshId('blog.create-author', ['create_author'])).toBe('create_author_2')
    expect(pathOf('/steps/0/a~1b')).toEqual(['steps', 0, 'a/b'])
  })
})
