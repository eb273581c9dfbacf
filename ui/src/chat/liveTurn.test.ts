import { expect, test, vi } from 'vitest'
import { effectScope, nextTick } from 'vue'
import { keptQuestions, type KeptQuestion } from '../people/keptQuestions'
import { liveTurn } from './liveTurn'
import type { OpenTurn, Question } from './turn'

type Event = [kind: string, data: Record<string, unknown>]

/** What a server tells of a turn in which something is asked before it is called. */
const TOLD: Event[] = [
  ['turn', { run_id: 'r' }],
  ['text', { text: 'Let me see. ' }],
  ['question', { step: 's1', kind: 'approval', run_id: 'r', asked_at: 7 }],
  ['call', { step: 's1', tool: 'send', inputs: {} }],
  ['result', { step: 's1', status: 'succeeded' }],
  ['text', { text: 'Sent.' }],
  ['end', {}],
]
const ASKED = 3
const ANSWERED = 4

/** A server with one turn that is `told` so far, and a page that follows it. */
function stage() {
  let open: { tell: Parameters<OpenTurn>[1]; over: Parameters<OpenTurn>[2]; sent: number } | null = null
  let known = 0
  let reads = 0
  const scope = effectScope()
  const opened: OpenTurn = (_, tell, over) => {
    const mine = { tell, over, sent: 0 }
    open = mine
    return () => {
      if (open === mine) open = null
    }
  }
  const page = scope.run(() => {
    const live = liveTurn(
      () => undefined,
      () => (reads += 1),
      opened,
    )
    return { live, ...keptQuestions(() => 'c', () => live.turn.value?.questions ?? []) }
  })!
  const isOver = (): boolean => known === TOLD.length

  /** What is known of the turn reaches the page; a question that was answered before it came is not told. */
  async function pass(): Promise<void> {
    while (open && open.sent < known) {
      const [kind, data] = TOLD[open.sent]!
      open.sent += 1
      if (kind === 'question' && known >= ANSWERED && open.sent < known) continue
      if (kind === 'end') {
        const { over } = open
        open = null
        over(true)
      } else open.tell(kind, data)
      await nextTick()
    }
  }
  /** The conversation is read, as it was when `goesOn` was true of it. */
  async function read(goesOn = !isOver()): Promise<void> {
    page.live.stands('c', goesOn)
    await nextTick()
    if (open?.sent === 0 && isOver()) await refuse()
  }
  /** No turn goes on, or the server refuses the stream. */
  async function refuse(): Promise<void> {
    const was = open
    open = null
    was?.over(false)
    await nextTick()
  }
  const upsets: Record<string, () => Promise<void>> = {
    nothing: async () => undefined,
    'read once more': () => read(),
    'read twice, and followed after': async () => {
      await read()
      page.live.follow('c')
      await read()
    },
    // When a stream is over the conversation is read anew, and of several answers the latest counts.
    'read late, from before it began': async () => {
      if (open) await read(false)
    },
    'read late, from before it ended': () => read(true),
    'broken off and come back': async () => {
      if (open) open.sent = 0
    },
    'refused, and not read': () => refuse(),
    'refused, and read': async () => {
      await refuse()
      await read()
    },
  }
  return {
    ...page,
    upsets,
    reads: () => reads,
    isFollowed: () => open !== null,
    next: async () => {
      known += 1
      await pass()
    },
    pass,
    read,
    stop: () => scope.stop(),
  }
}

const names = Object.keys(stage().upsets)
const moments = TOLD.map((_, index) => index + 1)

/** Every two upsets at every two moments of a turn. */
const orders = moments.flatMap((at) => moments.filter((then) => then >= at).flatMap((then) => names.flatMap((first) => names.map((second) => [at, first, then, second] as const))))

test('what a turn asks stays asked, in the same place, until it is answered, and what was answered elsewhere stays gone', async () => {
  const faults: string[] = []
  for (const [at, first, then, second] of orders) {
    const order = `${first} after ${String(at)}, ${second} after ${String(then)}`
    const here = stage()
    let card: KeptQuestion | undefined
    let isShown = false
    const look = (count: number): void => {
      const [one, ...more] = here.kept.value
      // It is a card from the moment on at which it was first told, through everything that follows.
      const isRight = !more.length && (one ? count >= ANSWERED || !one.gone : !isShown)
      if (!isRight) faults.push(`${order}: seen after ${String(count)}`)
      isShown ||= Boolean(one)
      card = one
    }
    here.live.follow('c')
    for (let count = 1; count <= TOLD.length; count += 1) {
      await here.next()
      look(count)
      if (count === at) await here.upsets[first]!()
      look(count)
      await here.pass()
      look(count)
      if (count === then) await here.upsets[second]!()
      look(count)
      await here.pass()
      look(count)
    }
    // In the end the page reads, and knows.
    await here.read()
    await here.pass()
    await here.read()
    look(TOLD.length)
    if (here.live.turn.value || here.isFollowed() || (card && !card.gone)) faults.push(`${order}: not ended`)
    here.stop()
  }
  expect(faults).toEqual([])
  expect(orders.length).toBeGreaterThan(1000)
})

test('a question that is asked is shown, whatever upset it before, and one that was answered here is not told again', async () => {
  for (const name of names) {
    const here = stage()
    here.live.follow('c')
    for (let count = 1; count <= ASKED; count += 1) await here.next()
    await here.upsets[name]!()
    await here.read()
    await here.pass()
    expect(here.kept.value, name).toMatchObject([{ gone: false, question: { step: 's1' } }])
    const question = here.kept.value[0]!.question as Question
    here.putAway(question)
    here.live.answered(question)
    await nextTick()
    expect(here.kept.value, name).toEqual([])
    for (let count = ASKED; count < TOLD.length; count += 1) {
      await here.next()
      expect(here.kept.value, name).toEqual([])
    }
    here.stop()
  }
})

test('the conversation is read when its turn is told no more, and another conversation has another turn', async () => {
  const here = stage()
  here.live.follow('c')
  for (const _ of TOLD) await here.next()
  expect(here.reads()).toBe(1)
  here.live.follow('d')
  await here.pass()
  expect(here.isFollowed()).toBe(false)
  here.live.leave()
  expect(here.live.turn.value).toBe(null)
})

test('a stream that is refused again and again is asked for more and more rarely, and no more when the page is left', () => {
  vi.useFakeTimers()
  let opened = 0
  const scope = effectScope()
  const live = scope.run(() =>
    liveTurn(
      () => undefined,
      () => {
        if (opened < 1_000) live.stands('c', true)
      },
      (_, __, over) => {
        opened += 1
        setTimeout(() => over(false), 1)
        return () => undefined
      },
    ),
  )!
  live.follow('c')
  vi.advanceTimersByTime(60_000)
  expect(opened).toBeGreaterThan(3)
  expect(opened).toBeLessThan(10)
  const before = opened
  scope.stop()
  vi.advanceTimersByTime(120_000)
  expect(opened).toBeLessThanOrEqual(before + 1)
  vi.useRealTimers()
})
