import { reactive } from 'vue'
import { en, type Words } from './en'
import { zh } from './zh'

const ALL: Record<string, Words> = { en, zh }
export const languages = Object.entries(ALL).map(([code, words]) => ({ code, name: words.name }))

const KEPT = 'toolpath.language'
const wanted = localStorage.getItem(KEPT) ?? navigator.language.slice(0, 2)
export const language = wanted in ALL ? wanted : 'en'
document.documentElement.lang = language

/** The texts of the page, in the reader's language. */
export const words: Words = reactive(ALL[language] ?? en)

/** Another language holds from the next loading of the page on. */
export function speak(code: string): void {
  localStorage.setItem(KEPT, code)
  location.reload()
}
