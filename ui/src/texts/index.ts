import { reactive } from 'vue'
import { en, type Words } from './en'
import { zh } from './zh'

const ALL: Record<string, Words> = { en, zh }
export const languages = Object.entries(ALL).map(([code, words]) => ({ code, name: words.name }))

const KEPT = 'toolpath.language'
/** Tests of what needs texts run without a page. */
const isPage = typeof document !== 'undefined'
const wanted = isPage ? (localStorage.getItem(KEPT) ?? navigator.language.slice(0, 2)) : 'en'
export const language = wanted in ALL ? wanted : 'en'
if (isPage) document.documentElement.lang = language

/** The texts of the page, in the reader's language. */
export const words: Words = reactive(ALL[language] ?? en)

/** Several things in a row, and a thing with what is said of it, in the punctuation of the language. */
export const listed = (parts: readonly string[]): string => parts.join(words.common.comma)
export const titled = (name: string, said: string | number): string => `${name}${words.common.colon}${said}`

/** Another language holds from the next loading of the page on. */
export function speak(code: string): void {
  localStorage.setItem(KEPT, code)
  location.reload()
}
