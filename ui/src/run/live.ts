import { computed, onScopeDispose, ref, shallowReactive, shallowRef, triggerRef, type ComputedRef, type Ref, type ShallowRef } from 'vue'
import { get, part, type Problem, type Schemas } from '../api/client'
import { followRun, type Connection, type Following, type RunEvent } from '../api/events'
import { shapeInside, shapeOf, keyOf, type Shape } from '../graph/shape'
import { Standings, type Standing } from '../graph/standing'
import { emptyRun, take, type RunView } from './fold'
import { asOwn } from './inside'
import { splitPlanId } from './places'

/** Events that are kept for the list of events; what they told is kept whole. */
const MOST_EVENTS = 20_000

export interface LiveRun {
  run: ShallowRef<RunView>
  /** Changes with each batch of events. */
  version: Ref<number>
  events: ShallowRef<RunEvent[]>
  standing: Map<string, Standing>
  connection: Ref<Connection>
  refused: ShallowRef<Problem | null>
  shape: ShallowRef<Shape>
  /** The plan in the notation of plans: the journal has it as the engine reads it. */
  document: ShallowRef<Record<string, unknown> | null>
  row: ShallowRef<Schemas['RunDetail'] | null>
  questions: ShallowRef<Schemas['Question'][]>
  /** Why the plan, or what waits, is not known; `again` asks for both. */
  fault: ComputedRef<unknown>
  again: () => void
  begin: (id: string) => void
  /** Ask for what has come at once. */
  now: () => void
  askWhatWaits: () => Promise<void>
}

/** A run, or a plan inside one, as its journal tells it, from the first event on and while it goes on. */
export function liveRun(): LiveRun {
  const run = shallowRef<RunView>(emptyRun(''))
  const version = ref(0)
  const events = shallowRef<RunEvent[]>([])
  const standing = shallowReactive(new Map<string, Standing>())
  const connection = ref<Connection>('open')
  const refused = shallowRef<Problem | null>(null)
  const shape = shallowRef<Shape>({ steps: [], edges: [] })
  const document = shallowRef<Record<string, unknown> | null>(null)
  const row = shallowRef<Schemas['RunDetail'] | null>(null)
  const questions = shallowRef<Schemas['Question'][]>([])
  /** Of the plan and of what waits, apart: that one of them came does not mend the other. */
  const unexplained = shallowRef<{ seq: number; why: unknown } | null>(null)
  const unasked = shallowRef<unknown>(null)
  const fault = computed(() => unexplained.value?.why ?? unasked.value)
  let standings = new Standings(standing)
  let following: Following | null = null
  let id = ''
  /** How often the plan, and what waits, were asked for: answers overtake one another, and the one asked for last counts. */
  let explained = 0
  let waited = 0

  async function explain(seq: number): Promise<void> {
    const [root, path] = splitPlanId(id)
    explained += 1
    const mine = explained
    try {
      const review = await get<Schemas['PlanReview']>(`/runs/${part(root)}/plan`, { seq })
      if (mine !== explained) return
      unexplained.value = null
      document.value = review.plan as Record<string, unknown>
      const found = path ? shapeInside(review.explanation.block, keyOf(path)) : shapeOf(review.explanation.block)
      shape.value = found ?? { steps: [], edges: [] }
    } catch (error) {
      if (mine === explained) unexplained.value = { seq, why: error }
    }
  }

  /** What waits for people is asked of the server, which knows the forms as they are shown. */
  async function askWhatWaits(): Promise<void> {
    waited += 1
    const mine = waited
    try {
      const found = await get<Schemas['RunDetail']>(`/runs/${part(id)}`, { results: false })
      if (mine !== waited) return
      row.value = found
      const [root] = splitPlanId(id)
      questions.value = (found.questions ?? []).map((question) => ({ ...question, run_id: root }))
      unasked.value = null
    } catch (error) {
      if (mine === waited) unasked.value = error
    }
  }

  function told(batch: RunEvent[], path: string): void {
    let drawn = 0
    let asks = false
    for (const one of batch) {
      const event = path ? asOwn(one, path) : one
      if (!event) continue
      take(run.value, event)
      if (event.type === 'run.started' || event.type === 'plan.revised') drawn = event.seq
      asks ||= /^(approval|input|step\.unknown|step\.waiting|run\.)/.test(event.type)
    }
    events.value = [...events.value, ...batch].slice(-MOST_EVENTS)
    standings.renew(run.value)
    version.value += 1
    triggerRef(run)
    if (drawn) void explain(drawn)
    if (asks) void askWhatWaits()
  }

  function begin(wanted: string): void {
    following?.stop()
    // What a run asks is known until it is asked for anew: words may stand in its cards.
    if (id !== wanted) questions.value = []
    id = wanted
    explained += 1
    waited += 1
    const [, path] = splitPlanId(id)
    run.value = emptyRun(id)
    events.value = []
    standing.clear()
    standings = new Standings(standing)
    shape.value = { steps: [], edges: [] }
    document.value = null
    row.value = null
    refused.value = null
    unexplained.value = null
    unasked.value = null
    connection.value = 'open'
    following = followRun(
      id,
      (batch) => told(batch, path),
      (state, why) => {
        connection.value = state
        if (state === 'refused') refused.value = why ?? null
      },
    )
    if (path) void explain(1)
    void askWhatWaits()
  }

  onScopeDispose(() => following?.stop())
  const now = (): void => following?.now()
  function again(): void {
    if (unexplained.value) void explain(unexplained.value.seq)
    void askWhatWaits()
  }
  return { run, version, events, standing, connection, refused, shape, document, row, questions, fault, again, begin, now, askWhatWaits }
}
