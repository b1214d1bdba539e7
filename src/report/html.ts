/** HTML from texts that nobody has checked: everything is escaped but what was made here. */

/** A piece of HTML that may stand as it is. */
export class Html {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

type Part = string | number | Html | readonly Html[]

const ENTITIES: Readonly<Record<string, string>> = {
  '&': '&amp;',
  '<': '&lt;',
  '>': '&gt;',
  '"': '&quot;',
  "'": '&#39;',
}

/** Control characters, which HTML forbids or a browser drops, as their pictures. Line ends and tabs stay. */
const shownControls = (text: string): string =>
  text
    .replace(/[\0-\x08\x0b\x0c\x0e-\x1f]/g, (one) => String.fromCodePoint(0x2400 + one.charCodeAt(0)))
    .replace(/[\x7f-\x9f\ufffe\uffff]/g, '\ufffd')

/** Text as HTML, also inside an attribute in quotes. Lone surrogates become U+FFFD. */
export const escapeHtml = (text: string): string =>
  shownControls(text.toWellFormed()).replace(/[&<>"']/g, (one) => ENTITIES[one] ?? one)

const htmlOf = (part: Part): string => {
  if (part instanceof Html) return part.text
  if (typeof part === 'object') return part.map(({ text }) => text).join('')
  return escapeHtml(String(part))
}

/** A template whose values are escaped, unless they are HTML themselves. */
export const html = (strings: TemplateStringsArray, ...parts: readonly Part[]): Html =>
  new Html(String.raw({ raw: strings }, ...parts.map(htmlOf)))

const LONGEST_TEXT = 300

/** A text of the data: apart from its surroundings in its direction, cut where it is longer than any name is. */
export const untrustedText = (text: string, longest = LONGEST_TEXT): Html =>
  text.length > longest
    ? html`<bdi>${[...text].slice(0, longest).join('')}</bdi>… (${text.length} characters)`
    : html`<bdi>${text}</bdi>`
