import type { JsonObject } from '../api/client'

/** What a template was run with, in this browser, newest first. */
const PREFIX = 'toolpath.inputs.'
/** Sets of values that are kept of each template, and characters of the longest of them. */
const MOST = 20
const LONGEST = 20_000

export function inputHistory(template: string): JsonObject[] {
  try {
    const found = JSON.parse(localStorage.getItem(PREFIX + template) ?? '[]') as unknown
    return Array.isArray(found) ? (found as JsonObject[]).filter((one) => one && typeof one === 'object') : []
  } catch {
    return []
  }
}

/** Keep the values, but those of the fields that are secret. */
export function keepInputs(template: string, values: JsonObject, secret: readonly string[]): JsonObject[] {
  const open = Object.fromEntries(Object.entries(values).filter(([name]) => !secret.includes(name)))
  const text = JSON.stringify(open)
  const known = inputHistory(template)
  if (text.length > LONGEST || text === '{}') return known
  const next = [open, ...known.filter((one) => JSON.stringify(one) !== text)].slice(0, MOST)
  try {
    localStorage.setItem(PREFIX + template, JSON.stringify(next))
  } catch {
    // The browser's store is full: what was typed is in the run.
  }
  return next
}
