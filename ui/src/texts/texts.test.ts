import { expect, test } from 'vitest'
import { parse } from 'vue/compiler-sfc'
import { en } from './en'
import { zh } from './zh'

type Text = [path: string, text: string]

/** Every text of a language with its place; of what counts something, the text for a number. */
function textsOf(found: unknown, path = ''): Text[] {
  if (typeof found === 'string') return [[path, found]]
  if (typeof found === 'function') return [[path, String((found as (...given: unknown[]) => unknown)(3, 4))]]
  return Object.entries(found as object).flatMap(([name, inner]) => textsOf(inner, path ? `${path}.${name}` : name))
}

/** What is written alike in every language: names of formats, protocols and measures. */
const ALIKE = /^(HTTP|MCP|URL|p50|p95|token|mcpServers)$/
const LETTER = /\p{L}/u

test('every text is there in Chinese, and is Chinese', () => {
  const english = new Map(textsOf(en))
  const chinese = new Map(textsOf(zh))
  expect([...chinese.keys()].sort()).toEqual([...english.keys()].sort())
  const left = [...chinese].filter(([, text]) => LETTER.test(text) && !/\p{Script=Han}/u.test(text) && !ALIKE.test(text))
  expect(left).toEqual([])
  expect([...english].filter(([path, text]) => path !== 'name' && /\p{Script=Han}/u.test(text))).toEqual([])
})

const VIEWS = import.meta.glob<string>('../**/*.vue', { query: '?raw', import: 'default', eager: true })
/** Attributes that people read or hear. */
const READ = /^(title|label|placeholder|alt|aria-label|aria-description|aria-roledescription|hint|what|back|word|action)$/

interface Node {
  type: number
  content?: unknown
  children?: Node[]
  props?: { type: number; name: string; value?: { content: string } }[]
}

/** Texts that stand in a view itself. */
function literalsOf(node: Node): string[] {
  const own = node.type === 2 ? [String(node.content)] : []
  const read = (node.props ?? []).filter((prop) => prop.type === 6 && READ.test(prop.name)).map((prop) => prop.value?.content ?? '')
  return [...own, ...read, ...(node.children ?? []).flatMap(literalsOf)]
}

/** Names that are no words of a language. */
const NAMES = /^(JSON Schema|JSON|YAML|Toolpath|USD|Ctrl K|s|30s)$/

test('no view holds words of its own: all stand in the texts', () => {
  const literal = Object.entries(VIEWS).flatMap(([file, source]) => {
    const root = parse(source).descriptor.template?.ast as unknown as Node | undefined
    return literalsOf(root ?? { type: 0 })
      .map((text) => text.trim())
      .filter((text) => LETTER.test(text) && !NAMES.test(text))
      .map((text) => `${file}: ${text}`)
  })
  expect(Object.keys(VIEWS).length).toBeGreaterThan(50)
  expect(literal).toEqual([])
})
