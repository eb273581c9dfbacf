import { words } from '../texts'

export interface Remedy {
  to: string
  name: string
}

/** The view in which what a fault tells of is mended; null: there is none. */
export function remedyOf(message: string): Remedy | null {
  // The planner, agents and conversations say it in these words, with whatever code the door has for it.
  if (/\bNo model is configured\b/.test(message)) return { to: '/models', name: words.models.add }
  return null
}
