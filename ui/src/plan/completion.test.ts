import { describe, expect, it } from 'vitest'
import { offerAt, pathAt, type Names } from './completion'

const NAMES: Names = {
  tools: [{ key: 'blog.post', description: 'Post.' }],
  inputs: { 'blog.post': [{ name: 'title', info: 'string' }] },
  gives: {},
  values: [
    { name: 'writer.id', info: 'string' },
    { name: 'book.title', info: 'string', inLoop: true },
  ],
}
const TEXT = `name: a
flow: graph
steps:
  - id: post
    tool: blog.post
    inputs:
      by: x
    retry:
      backoff: none
  - loop:
      steps:
        - id: inner
          tool: blog.post
`.split('\n')

function offered(row: number, before: string): string[] {
  return (offerAt(TEXT.slice(0, row), before, NAMES)?.options ?? []).map((one) => one.name)
}

describe('completion', () => {
  it('knows what a line is inside of', () => {
    expect(pathAt(TEXT.slice(0, 7), '      ')).toEqual(['steps', '-', 'inputs'])
    expect(pathAt(TEXT.slice(0, 9), '      ')).toEqual(['steps', '-', 'retry'])
    expect(pathAt(TEXT.slice(0, 13), '          ')).toEqual(['steps', '-', 'loop', 'steps', '-'])
    expect(pathAt(TEXT.slice(0, 9), '  - ')).toEqual(['steps', '-'])
    expect(pathAt(TEXT.slice(0, 2), '')).toEqual([])
  })

  it('offers what the place admits', () => {
    expect(offered(2, 'fail')).toContain('failure_mode')
    expect(offered(9, '  - ')).toContain('on_failure')
    expect(offered(9, '      max')).toContain('max_retries')
    expect(offered(8, '      backoff: ')).toEqual(['exponential', 'fixed', 'none'])
    expect(offered(1, 'flow: ')).toEqual(['graph', 'chain'])
    expect(offered(7, '      ti')).toEqual(['title'])
    expect(offered(5, '    tool: bl')).toEqual(['blog.post'])
    expect(offered(6, '      by: "{{ wri')).toEqual(['writer.id'])
    expect(offered(7, '    exclusive: ')).toEqual(['true', 'false'])
  })

  it('offers the variable of a loop inside of loops alone', () => {
    expect(offered(13, '          inputs: { by: "{{ bo')).toEqual(['writer.id', 'book.title'])
    expect(offered(6, '      by: "{{ bo')).toEqual(['writer.id'])
  })

  it('offers no name that is only read for old plans', () => {
    expect(offered(9, '  - ')).not.toContain('parameters')
  })
})
