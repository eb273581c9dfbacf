import { describe, expect, it } from 'vitest'
import { rowsOf, shownAs } from './preview'

const bytes = (text: string): Uint8Array => new TextEncoder().encode(text)

describe('a file', () => {
  it.each([
    ['a.png', 'image'],
    ['a.svg', 'text'],
    ['a.html', 'text'],
    ['a.json', 'json'],
    ['A.CSV', 'csv'],
    ['README.md', 'markdown'],
    ['noending', 'text'],
  ])('%s is shown as %s', (name, shown) => expect(shownAs(name, bytes('<svg onload=x>'))).toBe(shown))

  it('with NUL is no text', () => expect(shownAs('a.txt', new Uint8Array([65, 0, 66]))).toBe('binary'))
})

describe('rows of CSV', () => {
  it('have quotes, lines in them, and an end', () => {
    expect(rowsOf('a,b\r\n"x ""y""","1\n2"\nlast', ',', 10)).toEqual([['a', 'b'], ['x "y"', '1\n2'], ['last']])
    expect(rowsOf('1\n2\n3\n', ',', 2)).toEqual([['1'], ['2']])
  })
})
