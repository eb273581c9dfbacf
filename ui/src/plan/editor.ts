import { autocompletion, type CompletionContext, type CompletionResult } from '@codemirror/autocomplete'
import { defaultKeymap, history, historyKeymap, indentWithTab, isolateHistory, redo, undo } from '@codemirror/commands'
import { yaml } from '@codemirror/lang-yaml'
import { bracketMatching, HighlightStyle, indentOnInput, syntaxHighlighting } from '@codemirror/language'
import { lintGutter, setDiagnostics, type Diagnostic } from '@codemirror/lint'
import { Compartment, EditorState, type Extension } from '@codemirror/state'
import { drawSelection, EditorView, highlightActiveLine, keymap, lineNumbers } from '@codemirror/view'
import { tags } from '@lezer/highlight'
import { isMap, isPair, isScalar, isSeq, LineCounter, parseDocument, type Node } from 'yaml'
import type { Finding } from '../api/client'
import { offerAt, type Names, type Offer } from './completion'

const FONT = EditorView.theme({
  '&': { height: '100%', fontSize: '13px', backgroundColor: 'var(--surface)', color: 'var(--text)' },
  '.cm-content': { fontFamily: 'var(--mono)', caretColor: 'var(--text)' },
  '.cm-gutters': { backgroundColor: 'var(--surface)', color: 'var(--text-soft)', border: 'none' },
  '.cm-activeLine': { backgroundColor: 'color-mix(in srgb, var(--accent) 6%, transparent)' },
  '.cm-cursor': { borderLeftColor: 'var(--text)' },
  '.cm-tooltip': { backgroundColor: 'var(--raised)', border: '1px solid var(--line-strong)', color: 'var(--text)' },
  '.cm-tooltip-autocomplete ul li[aria-selected]': { backgroundColor: 'var(--accent)', color: 'var(--on-accent)' },
  '&.cm-focused': { outline: '2px solid var(--accent)', outlineOffset: '-2px' },
  '&.cm-focused .cm-selectionBackground, .cm-selectionBackground': {
    backgroundColor: 'color-mix(in srgb, var(--accent) 25%, transparent) !important',
  },
})

/** The colours of the page, so that they hold in the light and in the dark. */
const COLOURS = HighlightStyle.define([
  { tag: [tags.propertyName, tags.definition(tags.propertyName), tags.keyword], color: 'var(--accent)' },
  { tag: [tags.string, tags.special(tags.string)], color: 'var(--good)' },
  { tag: [tags.number, tags.bool, tags.null], color: 'var(--busy)' },
  { tag: tags.comment, color: 'var(--text-soft)', fontStyle: 'italic' },
  { tag: tags.invalid, color: 'var(--bad)' },
])

/** An editor of a plan's text. `changed` hears of every change that a person makes. */
export class PlanText {
  private readonly view: EditorView
  private readonly reading = new Compartment()

  constructor(parent: HTMLElement, text: string, names: () => Names, changed: (text: string) => void, label: string, leave: string) {
    const nonce = document.querySelector<HTMLMetaElement>('meta[name="style-nonce"]')?.content ?? ''
    const extensions: Extension[] = [
      EditorView.cspNonce.of(nonce),
      lineNumbers(),
      lintGutter(),
      history(),
      drawSelection(),
      indentOnInput(),
      bracketMatching(),
      highlightActiveLine(),
      syntaxHighlighting(COLOURS),
      yaml(),
      autocompletion({ override: [(context) => completions(context, names())] }),
      EditorView.lineWrapping,
      // Tab indents: Escape and then Tab leaves, and whoever comes by keyboard is told so.
      EditorView.contentAttributes.of({ 'aria-label': label, title: leave }),
      keymap.of([...defaultKeymap, ...historyKeymap, indentWithTab]),
      this.reading.of([]),
      EditorView.updateListener.of((update) => {
        if (update.docChanged) changed(update.state.doc.toString())
      }),
      FONT,
    ]
    this.view = new EditorView({ parent, state: EditorState.create({ doc: text, extensions }) })
  }

  get text(): string {
    return this.view.state.doc.toString()
  }

  /** Put another text in its place; undo brings the one before back. */
  replace(text: string): void {
    const doc = this.view.state.doc
    const old = doc.toString()
    if (old === text) return
    // What is the same before and behind stays, and with it the place of the cursor.
    let from = 0
    while (from < old.length && from < text.length && old[from] === text[from]) from += 1
    let end = 0
    while (end < old.length - from && end < text.length - from && old.at(-1 - end) === text.at(-1 - end)) end += 1
    this.view.dispatch({
      changes: { from, to: old.length - end, insert: text.slice(from, text.length - end) },
      // Changes that follow one another within half a second are undone as one, which is meant for typing: this is one by itself.
      annotations: isolateHistory.of('full'),
    })
  }

  /** Let it be read alone, or written too. */
  lock(is: boolean): void {
    this.view.dispatch({ effects: this.reading.reconfigure(EditorState.readOnly.of(is)) })
  }

  undo(): void {
    undo(this.view)
  }

  redo(): void {
    redo(this.view)
  }

  /** Show the findings at their places. */
  show(findings: Finding[]): void {
    const text = this.text
    const found = findings.map((finding) => diagnosticOf(finding, text))
    this.view.dispatch(setDiagnostics(this.view.state, found))
  }

  /** Move to a place of the plan, by its pointer. */
  goTo(pointer: string, focus: boolean): void {
    const [from] = placeOf(this.text, pointer)
    this.view.dispatch({ selection: { anchor: from }, effects: EditorView.scrollIntoView(from, { y: 'center' }) })
    if (focus) this.view.focus()
  }

  close(): void {
    this.view.destroy()
  }
}

const SEVERITIES: Record<string, Diagnostic['severity']> = { error: 'error', warning: 'warning' }

function diagnosticOf(finding: Finding, text: string): Diagnostic {
  let [from, to] = placeOf(text, finding.path ?? '')
  if (finding.line) {
    const lines = text.split('\n')
    const before = lines.slice(0, finding.line - 1).reduce((sum, line) => sum + line.length + 1, 0)
    from = Math.min(before + (finding.column ?? 1) - 1, text.length)
    to = Math.max(from, Math.min(before + (lines[finding.line - 1]?.length ?? 0), text.length))
  }
  const advice = [finding.message, finding.hint].filter(Boolean).join(' ')
  return { from, to, severity: SEVERITIES[finding.severity] ?? 'info', message: advice, source: finding.code }
}

/** Where in the text a JSON pointer points: from and to. The nearest place that is there, else the beginning. */
export function placeOf(text: string, pointer: string): [number, number] {
  const lines = new LineCounter()
  const document = parseDocument(text, { lineCounter: lines, keepSourceTokens: false })
  let node: unknown = document.contents
  let range: [number, number] = [0, Math.min(text.indexOf('\n') + 1 || text.length, text.length)]
  for (const raw of pointer.split('/').slice(1)) {
    const name = raw.replaceAll('~1', '/').replaceAll('~0', '~')
    let next: unknown
    if (isMap(node)) {
      const pair = node.items.find((item) => isPair(item) && isScalar(item.key) && String(item.key.value) === name)
      const key = pair?.key as Node | undefined
      if (key?.range) range = [key.range[0], key.range[1]]
      next = pair?.value
    } else if (isSeq(node)) {
      next = node.items[Number(name)]
      const item = next as Node | undefined
      if (item?.range) range = [item.range[0], Math.min(item.range[1], item.range[0] + 200)]
    }
    if (next === undefined || next === null) break
    node = next
  }
  return [Math.min(range[0], text.length), Math.min(range[1], text.length)]
}

const TYPES: Record<Offer['kind'], string> = { value: 'variable', tool: 'function', field: 'property', word: 'enum' }

function completions(context: CompletionContext, names: Names): CompletionResult | null {
  const line = context.state.doc.lineAt(context.pos)
  const before = line.text.slice(0, context.pos - line.from)
  const above = Array.from({ length: line.number - 1 }, (_, row) => context.state.doc.line(row + 1).text)
  const offer = offerAt(above, before, names)
  if (!offer || (offer.kind === 'field' && offer.from === before.length && !context.explicit)) return null
  return {
    from: line.from + offer.from,
    options: offer.options.map((one) => ({
      label: one.name,
      type: TYPES[offer.kind],
      ...(offer.kind === 'field' ? { apply: `${one.name}: ` } : {}),
      ...(offer.kind === 'value' ? { detail: one.info } : { info: one.info }),
    })),
    validFor: offer.kind === 'value' || offer.kind === 'tool' ? /^[\w.-]*$/ : /^\w*$/,
  }
}
