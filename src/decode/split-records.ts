/**
 * JSON documents taken apart into records: a list of them, saved pages, records one after the other, the page of an answer. Knows
 * where records begin and end by brackets and texts alone; whether a record is sound JSON is the loader's matter.
 *
 * Nothing is moved: bytes around the records become spaces, and the one byte behind a record becomes its line end. So a line's
 * number is its record's number, and its offset is the record's place in the document.
 */

import { ToolkitError } from '../core/errors.ts'
import { isClosing, isOpening, isSpace, JSON_BYTES } from '../support/json-bytes.ts'
import { type DocumentForm, PAGE_LISTS } from './source-form.ts'

const {
  BACKSLASH,
  CARRIAGE_RETURN,
  CLOSE_BRACE,
  CLOSE_BRACKET,
  COLON,
  COMMA,
  LINE_FEED,
  NO_JSON,
  OPEN_BRACE,
  OPEN_BRACKET,
  QUOTE,
  RECORD_SEPARATOR,
  SPACE,
} = JSON_BYTES

/** A byte order mark at the start stands for white space. */
const BOM = Buffer.from([0xef, 0xbb, 0xbf])

/** The token that comes next or is being read, in words for errors. */
const EXPECTED = {
  document: 'a JSON object or list',
  behindRecord: 'white space or a comma between two records',
  firstMember: 'a key',
  member: 'a key',
  key: 'the end of a key',
  colon: 'a colon',
  memberValue: 'a value',
  otherValue: 'the end of a value',
  behindMember: 'a comma or the end of the page',
  firstElement: 'a record or the end of the list',
  element: 'a record',
  record: 'the end of a record',
  behindElement: 'a comma or the end of the list',
  behindAnswer: 'nothing behind the page',
} as const
type State = keyof typeof EXPECTED

/** Why a document cannot be taken apart. */
export interface Damage {
  /** `half`: it is cut off or no JSON around its records. `form`: it has no list of records, or too many. */
  readonly kind: 'half' | 'form'
  readonly found: string
  readonly expected: string
  /** Place in the document. */
  readonly offset: number
  /** Records before it. */
  readonly records: number
}

export interface SplitOptions {
  /** `answer`: a page, and nothing behind it. */
  readonly form: DocumentForm | 'answer'
  /** Names of the lists that a page may have. All pages of a source have the same. */
  readonly lists: readonly string[]
  readonly refuse: (damage: Damage) => ToolkitError
  /** Takes each record that ends, and values beside a page's list, from where to where they stand in a chunk that has them whole. */
  readonly take?: (from: number, to: number, isRecord: boolean) => void
}

/** Whether a value may begin with a byte. */
const beginsValue = (byte: number): boolean => !isClosing(byte) && byte !== COMMA && byte !== COLON

const isLineEnd = (byte: number | undefined): boolean => byte === LINE_FEED || byte === CARRIAGE_RETURN

/**
 * Place of the quote that ends the text in which a place stands; the chunk's length where it continues behind the chunk, and one more
 * where a backslash ends the chunk. Line ends in it become what is no JSON.
 */
const endOfText = (chunk: Buffer, from: number): number => {
  const end = chunk.length
  let at = from
  for (; at < end; at++) {
    const byte = chunk[at]!
    if (byte > QUOTE && byte !== BACKSLASH) continue
    if (byte === QUOTE) return at
    if (byte === BACKSLASH) at++
    if (isLineEnd(chunk[at])) chunk[at] = NO_JSON
  }
  return at
}

/** Follows documents, chunk by chunk, and rewrites the chunks in place. Holds no record. */
export class RecordSplitter {
  readonly #options: SplitOptions
  readonly #longestName: number
  #state: State = 'document'
  /** Offset of the chunk in the document. */
  #offset = 0
  #records = 0
  /** Start of the value that is being read, in its chunk. */
  #valueFrom = 0
  /** Open brackets of that value; 0 within a number, word or text. */
  #depth = 0
  #inText = false
  #escaped = false
  #inPage = false
  #inList = false
  #key = ''
  /** Name of the list of all pages: companies and relations have a source each. */
  #list: string | undefined
  #pageHasList = false

  constructor(options: SplitOptions) {
    this.#options = options
    this.#longestName = Math.max(...options.lists.map(({ length }) => length))
  }

  push(chunk: Buffer): void {
    for (let at = 0; at < chunk.length; ) {
      if (this.#state === 'record' || this.#state === 'otherValue') at = this.#readValue(chunk, at)
      else if (this.#state === 'key') at = this.#readKey(chunk, at)
      else at = this.#step(chunk, at)
    }
    this.#offset += chunk.length
  }

  /** @throws what `refuse` makes where a document has not come to its end */
  end(): void {
    const isAnswer = this.#options.form === 'answer'
    const isEnd = this.#state === (isAnswer ? 'behindAnswer' : 'document') || this.#state === 'behindRecord'
    if (!isEnd) throw this.#damaged('it ends', 0)
  }

  #damaged(found: string, at: number, kind: Damage['kind'] = 'half'): ToolkitError {
    const expected = EXPECTED[this.#state]
    return this.#options.refuse({ kind, found, expected, offset: this.#offset + at, records: this.#records })
  }

  /** Reads on in a value; what belongs to no record becomes blank. @returns where it ended, or the chunk's length */
  #readValue(chunk: Buffer, from: number): number {
    const end = chunk.length
    let depth = this.#depth
    let ended = false
    let at = from
    let textEnd = at
    if (this.#inText) {
      // The byte behind a backslash ends no text.
      if (this.#escaped && isLineEnd(chunk[at])) chunk[at] = NO_JSON
      textEnd = endOfText(chunk, this.#escaped ? at + 1 : at)
      at = textEnd + 1
    }
    for (; at < end && !ended; at++) {
      const byte = chunk[at]!
      if (byte < OPEN_BRACKET) {
        // Digits, signs and points are most of what stands outside of texts.
        if (byte > COMMA) continue
        if (byte === QUOTE) {
          textEnd = endOfText(chunk, at + 1)
          at = textEnd
        } else if (depth === 0 && (byte === COMMA || isSpace(byte))) break
        else if (isLineEnd(byte)) chunk[at] = SPACE
      } else if (isOpening(byte)) depth++
      else if (isClosing(byte)) {
        // Behind a number or word stands the bracket of what holds it.
        if (depth === 0) break
        depth--
        ended = depth === 0
      }
    }
    this.#depth = depth
    this.#inText = textEnd >= end
    this.#escaped = textEnd > end
    at = Math.min(at, end)
    const isRecord = this.#state === 'record'
    // A loop that was left before the chunk's end has met the end of a number or word.
    if (ended || at < end) this.#endValue(at, isRecord)
    if (!isRecord) chunk.fill(SPACE, from, at)
    return at
  }

  #endValue(at: number, isRecord: boolean): void {
    this.#options.take?.(this.#valueFrom, at, isRecord)
    if (isRecord) this.#records++
    this.#state = !isRecord ? 'behindMember' : this.#inList ? 'behindElement' : 'behindRecord'
  }

  #readKey(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0
    chunk[at] = SPACE
    if (!this.#escaped && byte === QUOTE) this.#state = 'colon'
    // A name that is longer than all lists' is none of them.
    else if (this.#key.length <= this.#longestName) this.#key += String.fromCharCode(byte)
    this.#escaped = !this.#escaped && byte === BACKSLASH
    return at + 1
  }

  /** Reads a byte around the records. @returns where to continue */
  #step(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0
    const isMark = byte === BOM[this.#offset + at]
    const isBlank = isMark || isSpace(byte) || this.#isBetween(byte)
    // A line ends with what stands behind its record: a comma or bracket in a list, else white space.
    const endsLine = this.#state === (isBlank ? 'behindRecord' : 'behindElement')
    if (!isBlank) {
      const next = this.#afterByte(byte, at)
      if (next === undefined) throw this.#damaged('it has something else', at)
      this.#state = next
      if (next === 'record' || next === 'otherValue') {
        this.#valueFrom = at
        return at
      }
    } else if (endsLine) this.#state = 'document'
    chunk[at] = endsLine ? LINE_FEED : SPACE
    return at + 1
  }

  /** Whether a byte stands for white space between two records that have no list. */
  #isBetween(byte: number): boolean {
    const isPlace = this.#state === 'document' || this.#state === 'behindRecord'
    return isPlace && this.#options.form === 'records' && (byte === COMMA || byte === RECORD_SEPARATOR)
  }

  /** The state after a byte that is no white space; `undefined` where it must not stand. */
  #afterByte(byte: number, at: number): State | undefined {
    const { form, lists } = this.#options
    switch (this.#state) {
      case 'document':
        if (byte === OPEN_BRACKET && form === 'answer') throw this.#damaged('it is a list itself', at, 'form')
        if (byte === OPEN_BRACKET) return this.#openList()
        if (byte !== OPEN_BRACE) return undefined
        this.#inPage = form === 'page' || form === 'answer'
        this.#pageHasList = false
        return this.#inPage ? 'firstMember' : 'record'
      case 'firstMember':
      case 'member':
        if (byte === CLOSE_BRACE && this.#state === 'firstMember') return this.#closePage(at)
        this.#key = ''
        return byte === QUOTE ? 'key' : undefined
      case 'colon':
        return byte === COLON ? 'memberValue' : undefined
      case 'memberValue':
        if (byte === OPEN_BRACKET && lists.includes(this.#key)) return this.#openPageList(at)
        return beginsValue(byte) ? 'otherValue' : undefined
      case 'behindMember':
        if (byte === CLOSE_BRACE) return this.#closePage(at)
        return byte === COMMA ? 'member' : undefined
      case 'firstElement':
        if (byte === CLOSE_BRACKET) return this.#closeList()
        return beginsValue(byte) ? 'record' : undefined
      case 'element':
        return beginsValue(byte) ? 'record' : undefined
      case 'behindElement':
        if (byte === COMMA) return 'element'
        return byte === CLOSE_BRACKET ? this.#closeList() : undefined
      default:
        return undefined
    }
  }

  #openList(): State {
    this.#inList = true
    return 'firstElement'
  }

  #closeList(): State {
    this.#inList = false
    return this.#inPage ? 'behindMember' : 'document'
  }

  #openPageList(at: number): State {
    if (this.#pageHasList) throw this.#damaged('a page has more than one list', at, 'form')
    if (this.#list !== undefined && this.#list !== this.#key)
      throw this.#damaged('pages of companies and of relations stand together', at, 'form')
    this.#pageHasList = true
    this.#list = this.#key
    return this.#openList()
  }

  #closePage(at: number): State {
    const { form, lists } = this.#options
    if (!this.#pageHasList) throw this.#damaged(`a page has no list "${lists.join('" or "')}"`, at, 'form')
    this.#inPage = false
    return form === 'answer' ? 'behindAnswer' : 'document'
  }
}

const FORM_NAMES: Readonly<Record<DocumentForm, string>> = {
  list: 'a JSON list',
  page: 'a saved page',
  records: 'JSON records one after the other',
}

const damaged =
  (form: DocumentForm, source: string) =>
  ({ found, expected, offset, records }: Damage): ToolkitError => {
    const place = `at byte ${(offset + 1).toLocaleString('en-US')}, after ${records.toLocaleString('en-US')} records`
    return new ToolkitError(
      'DOCUMENT_DAMAGED',
      `Cannot read "${source}" as ${FORM_NAMES[form]}: ${place}, ${found}, expected ${expected}`,
      { source, offset, records },
    )
  }

/**
 * The records of JSON documents, one a line, in chunks of the lengths they came in. Numbers, words and lists among
 * the records become lines too: the loader quarantines them.
 *
 * @throws {ToolkitError} `DOCUMENT_DAMAGED` where a document is cut off or what stands around its records is no JSON
 */
export async function* splitRecords(
  chunks: AsyncIterable<Buffer>,
  form: DocumentForm,
  name: string,
): AsyncGenerator<Buffer, void> {
  const splitter = new RecordSplitter({ form, lists: PAGE_LISTS, refuse: damaged(form, name) })
  for await (const chunk of chunks) {
    // The source's own chunk is left as it is.
    const own = Buffer.from(chunk)
    splitter.push(own)
    yield own
  }
  splitter.end()
}
