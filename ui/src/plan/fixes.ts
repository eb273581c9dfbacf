import { parseDocument } from 'yaml'
import type { Finding } from '../api/client'
import { placeOf } from './editor'
import { pathOf } from './text'

/** The text with what was suggested at the finding's place: what is around it stays as it is. */
export function fixed(text: string, finding: Finding, suggestion: string): string {
  const at = parseDocument(text).getIn(pathOf(finding.path ?? ''), true) as
    | { range?: [number, number, number]; value?: unknown }
    | undefined
  if (at?.range && typeof at.value === 'string') {
    const raw = text.slice(at.range[0], at.range[1])
    const wrong = /unknown_(?:reference|step|variable)/.test(finding.code) ? misspelt(raw, suggestion) : at.value
    return text.slice(0, at.range[0]) + raw.replace(wrong, suggestion) + text.slice(at.range[1])
  }
  const [from, to] = placeOf(text, finding.path ?? '')
  return text.slice(0, from) + suggestion + text.slice(to)
}

/** Of the names in a template the one most like the suggestion. */
function misspelt(raw: string, suggestion: string): string {
  const all = raw.match(/[A-Za-z_][\w.]*/g) ?? []
  const likeness = (name: string): number =>
    [...name].filter((sign) => suggestion.includes(sign)).length - Math.abs(name.length - suggestion.length)
  return all.filter((name) => name !== suggestion).sort((a, b) => likeness(b) - likeness(a))[0] ?? raw
}
