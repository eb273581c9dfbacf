import { onScopeDispose, shallowRef, type ShallowRef } from 'vue'
import { questionKey } from '../people/keptQuestions'
import { emptyTurn, openTurn, told, type OpenTurn, type Question, type Turn } from './turn'

/** Milliseconds. */
const LONGEST_REST = 30_000

export interface LiveTurn {
  /** What is known of the turn that goes on; null: none does. */
  turn: ShallowRef<Turn | null>
  /** Follow it. One that is followed already goes on being followed: what it asks stays in its place. */
  follow: (conversation: string) => void
  /** Whether a turn goes on, as the conversation says. */
  stands: (conversation: string, goesOn: boolean) => void
  /** A question was answered here. */
  answered: (question: Question) => void
  leave: () => void
}

/**
 * The turn of a conversation. What it asks is known until the server says otherwise: a stream that breaks off, is refused
 * or is opened anew says nothing of it. `changed`: something was told. `again`: the conversation is to be read.
 */
export function liveTurn(changed: () => void, again: () => void, open: OpenTurn = openTurn): LiveTurn {
  const turn = shallowRef<Turn | null>(null)
  let followed = ''
  let close = (): void => undefined
  /** How often in a row the stream was refused: who asks at once each time gives a server that is busy no rest. */
  let refusals = 0
  let later: ReturnType<typeof setTimeout> | undefined

  function follow(conversation: string): void {
    if (followed === conversation) return
    close()
    followed = conversation
    turn.value ??= emptyTurn()
    close = open(
      conversation,
      (kind, data) => {
        refusals = 0
        turn.value = told(turn.value ?? emptyTurn(), kind, data)
        changed()
      },
      (hasEnded) => {
        followed = ''
        if (hasEnded) turn.value = null
        refusals = hasEnded ? 0 : refusals + 1
        clearTimeout(later)
        if (refusals < 2) again()
        else later = setTimeout(again, Math.min(LONGEST_REST, 500 * 2 ** refusals))
      },
    )
  }

  function stands(conversation: string, goesOn: boolean): void {
    if (goesOn) follow(conversation)
    // While a stream is open it tells the end itself: this may have been read before the turn began.
    else if (!followed) turn.value = null
  }

  function answered(question: Question): void {
    const key = questionKey(question)
    if (turn.value) turn.value = { ...turn.value, questions: turn.value.questions.filter((one) => questionKey(one) !== key) }
  }

  function leave(): void {
    close()
    clearTimeout(later)
    refusals = 0
    followed = ''
    turn.value = null
  }

  onScopeDispose(leave)
  return { turn, follow, stands, answered, leave }
}
