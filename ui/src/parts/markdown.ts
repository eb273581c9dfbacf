import DOMPurify from 'dompurify'
import MarkdownIt from 'markdown-it'

// What stands in the text as HTML stays text. What comes out is sanitised all the same: two doors are shut.
const markdown = new MarkdownIt({ html: false, linkify: true, breaks: false })
// A picture of another host would tell it who reads this: its text stands for it.
markdown.disable('image')

const ALLOWED = {
  ALLOWED_TAGS: [
    'a', 'blockquote', 'br', 'code', 'del', 'em', 'h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'hr', 'li', 'ol', 'p', 'pre', 's',
    'strong', 'table', 'tbody', 'td', 'th', 'thead', 'tr', 'ul',
  ],
  ALLOWED_ATTR: ['href', 'start'],
  ALLOWED_URI_REGEXP: /^(?:https?:\/\/|mailto:)/i,
}

/** The text as elements that run nothing and load nothing; links go out by http, https and mailto alone. */
export function rendered(text: string): DocumentFragment {
  const fragment = DOMPurify.sanitize(markdown.render(text), { ...ALLOWED, RETURN_DOM_FRAGMENT: true })
  for (const link of fragment.querySelectorAll('a')) {
    if (!link.hasAttribute('href')) continue
    link.setAttribute('rel', 'noopener noreferrer')
    link.setAttribute('target', '_blank')
  }
  // Wide ones are scrolled, by the keyboard too.
  for (const wide of fragment.querySelectorAll('pre')) wide.tabIndex = 0
  return fragment
}
