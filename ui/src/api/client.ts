import { words } from '../texts'
import type { components } from './schema'

export type Schemas = components['schemas']
export type Json = null | boolean | number | string | Json[] | { [name: string]: Json }
export type JsonObject = { [name: string]: Json }
export type Finding = Schemas['Finding']

/** What the server said no with: problem details as every door gives them. */
export class Problem extends Error {
  constructor(
    readonly status: number,
    readonly code: string,
    message: string,
    readonly hint = '',
    readonly findings: Finding[] = [],
    readonly suggestions: string[] = [],
    /** Seconds after which to come back. */
    readonly retryAfter: number | null = null,
  ) {
    super(message)
  }
}

type Told = (problem: Problem) => void
const listeners = new Set<Told>()

/** Hear of every request that was refused for want of credentials. */
export function onSignedOut(told: Told): () => void {
  listeners.add(told)
  return () => listeners.delete(told)
}

/** Counts sign-ins: who has signed in is not asked to again by what was asked before, and is refused after. */
let entered = 0
export const enter = (): void => void (entered += 1)

/** Where a route is, seen from the page: the service may be mounted under a path. */
export function address(path: string): string {
  return new URL(`api/v1${path}`, new URL('.', document.baseURI)).toString()
}

type Query = Record<string, string | number | boolean | null | undefined>

export function withQuery(path: string, query: Query): string {
  const given = Object.entries(query).filter(([, value]) => value !== undefined && value !== null && value !== '')
  const text = new URLSearchParams(given.map(([name, value]) => [name, String(value)])).toString()
  return text ? `${path}?${text}` : path
}

/** The answer of a route, or `Problem`. */
export async function call<Answer>(
  method: 'GET' | 'POST' | 'PUT' | 'DELETE',
  path: string,
  body?: unknown,
  more: { headers?: Record<string, string>; signal?: AbortSignal } = {},
): Promise<Answer> {
  let response: Response
  const before = entered
  try {
    response = await fetch(address(path), {
      method,
      headers: { ...(body === undefined ? {} : { 'Content-Type': 'application/json' }), ...more.headers },
      ...(body === undefined ? {} : { body: JSON.stringify(body) }),
      ...(more.signal ? { signal: more.signal } : {}),
    })
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    throw unreachable()
  }
  if (response.status === 204) return undefined as Answer
  let text: string
  try {
    text = await response.text()
    if (response.ok) return JSON.parse(text) as Answer
  } catch (error) {
    if (error instanceof DOMException && error.name === 'AbortError') throw error
    // The connection broke off in the answer, or what stands before the server answered in its place.
    throw error instanceof SyntaxError ? new Problem(response.status, 'unreadable', words.problem.unreadable, words.problem.hints[0]) : unreachable()
  }
  const problem = problemOf(response, text)
  if (problem.status === 401 && before !== entered) {
    if (method === 'GET') return call<Answer>(method, path, body, more)
  } else if (problem.status === 401) for (const told of listeners) told(problem)
  throw problem
}

const unreachable = (): Problem => new Problem(0, 'unreachable', words.problem.of(0), words.problem.hints[0])

/** Seconds after which to come back, as the header says: so many, or until a date. */
function secondsUntil(header: string | null): number | null {
  if (!header) return null
  const seconds = /^\d+$/.test(header) ? Number(header) : (Date.parse(header) - Date.now()) / 1000
  return Number.isFinite(seconds) && seconds > 0 ? Math.ceil(seconds) : null
}

function problemOf(response: Response, text: string): Problem {
  let said: Record<string, unknown> = {}
  try {
    said = JSON.parse(text) as Record<string, unknown>
  } catch {
    // What stands before the server may answer in its own words.
  }
  return new Problem(
    response.status,
    String(said['code'] ?? `http_${response.status}`),
    String(said['detail'] ?? said['title'] ?? words.problem.of(response.status)),
    String(said['hint'] ?? words.problem.hints[response.status] ?? ''),
    (said['findings'] as Finding[] | undefined) ?? [],
    (said['suggestions'] as string[] | undefined) ?? [],
    secondsUntil(response.headers.get('Retry-After')),
  )
}

export const get = <Answer>(path: string, query: Query = {}, signal?: AbortSignal): Promise<Answer> =>
  call<Answer>('GET', withQuery(path, query), undefined, signal ? { signal } : {})
export const post = <Answer>(path: string, body: unknown = {}): Promise<Answer> => call<Answer>('POST', path, body)
export const put = <Answer>(path: string, body: unknown): Promise<Answer> => call<Answer>('PUT', path, body)
export const remove = (path: string): Promise<void> => call<void>('DELETE', path)
/** A path of a step inside of a route. */
export const part = encodeURIComponent
