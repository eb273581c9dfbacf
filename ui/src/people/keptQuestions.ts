import { shallowRef, watch, type ShallowRef } from 'vue'
import type { Schemas } from '../api/client'

type Question = Schemas['Question']

/** A question in its place; `gone`: it is listed no more, and it was not answered here. */
export interface KeptQuestion {
  question: Question
  gone: boolean
}

export const questionKey = (question: Question): string =>
  `${question.run_id} ${question.step} ${question.kind} ${question.asked_at}`

/** What is listed now, with those that went in their places between. What is asked anew stands for what went. */
export function mergedQuestions(before: KeptQuestion[], listed: Question[], answered: ReadonlySet<string>): KeptQuestion[] {
  const keys = new Set(listed.map(questionKey))
  const merged: KeptQuestion[] = listed.map((question) => ({ question, gone: false }))
  before.forEach(({ question }, index) => {
    const key = questionKey(question)
    if (!keys.has(key) && !answered.has(key)) merged.splice(Math.min(index, merged.length), 0, { question, gone: true })
  })
  return merged
}

/** The questions of a view. What somebody else has answered stays until it is put away: words may stand in its card. */
export function keptQuestions(
  of: () => string,
  listed: () => Question[] | null | undefined,
): { kept: ShallowRef<KeptQuestion[]>; putAway: (question: Question) => void } {
  const kept = shallowRef<KeptQuestion[]>([])
  const answered = new Set<string>()
  watch(
    [of, listed] as const,
    ([now, list], [then]) => {
      if (list) kept.value = mergedQuestions(now === then ? kept.value : [], list, answered)
      else if (now !== then) kept.value = []
    },
    { immediate: true },
  )
  function putAway(question: Question): void {
    const key = questionKey(question)
    const wasGone = kept.value.some((one) => one.gone && questionKey(one.question) === key)
    // One that was gone was not answered here: where it is listed once more, as after a lost connection, it is asked again.
    if (!wasGone) answered.add(key)
    kept.value = kept.value.filter((one) => !one.gone || questionKey(one.question) !== key)
  }
  return { kept, putAway }
}
