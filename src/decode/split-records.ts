/**
 * JSON documents as lines: a list of records, a saved page, records one after the other. Knows where records
 * begin and end by brackets and texts alone; whether a record is sound JSON is the loader's matter.
 *
 * Nothing is moved: what stands around the records becomes spaces, and the one byte behind a record becomes its line
 * end. So a line's number is its record's number, and its offset is the record's place in the document.
 */

import { ToolkitError } from '../core/errors.ts'
import { isClosing, isOpening, isSpace, JSON_BYTES } from '../support/json-bytes.ts'
import type { DocumentForm } from './source-form.ts'

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
} as const
type State = keyof typeof EXPECTED

const LISTS: readonly string[] = ['Companies', 'Relations']
/** Longest key that is compared: the names of a page's lists are shorter. */
const KEY_BYTES = 16

const FORM_NAMES: Readonly<Record<DocumentForm, string>> = {
  list: 'a JSON list',
  page: 'a saved page',
  records: 'JSON records one after the other',
}

/** Follows a source of documents, chunk by chunk, and rewrites the chunks in place. Holds no record. */
class RecordSplitter {
  readonly #form: DocumentForm
  readonly #name: string
  #state: State = 'document'
  /** Offset of the chunk in the decoded source. */
  #offset = 0
  #records = 0
  /** Open brackets of the value that is being read; 0 within a number, word or text. */
  #depth = 0
  #inText = false
  #escaped = false
  #inPage = false
  #inList = false
  #key = ''
  /** Name of the list of all pages: companies and relations have a source each. */
  #list: string | undefined
  #pageHasList = false

  constructor(form: DocumentForm, name: string) {
    this.#form = form
    this.#name = name
  }

  push(chunk: Buffer): void {
    let at = this.#offset === 0 && chunk.subarray(0, BOM.length).equals(BOM) ? BOM.length : 0
    while (at < chunk.length) {
      if (this.#state === 'record' || this.#state === 'otherValue') at = this.#readValue(chunk, at)
      else if (this.#state === 'key') at = this.#readKey(chunk, at)
      else at = this.#step(chunk, at)
    }
    this.#offset += chunk.length
  }

  /** @throws {ToolkitError} `DOCUMENT_DAMAGED` where a document has not come to its end */
  end(): void {
    if (this.#state !== 'document' && this.#state !== 'behindRecord') throw this.#damaged('it ends', 0)
  }

  #damaged(what: string, at: number): ToolkitError {
    const offset = this.#offset + at
    const place = `at byte ${(offset + 1).toLocaleString('en-US')}, after ${this.#records.toLocaleString('en-US')} records`
    return new ToolkitError(
      'DOCUMENT_DAMAGED',
      `Cannot read "${this.#name}" as ${FORM_NAMES[this.#form]}: ${place}, ${what}, expected ${EXPECTED[this.#state]}`,
      { source: this.#name, offset, records: this.#records },
    )
  }

  /** Reads on in a value; what belongs to no record becomes blank. @returns where it ended, or the chunk's length */
  #readValue(chunk: Buffer, from: number): number {
    const end = chunk.length
    let [depth, inText, escaped] = [this.#depth, this.#inText, this.#escaped]
    let ended = false
    let at = from
    for (; at < end && !ended; at++) {
      const byte = chunk[at] ?? 0
      if (inText) {
        if (byte === LINE_FEED || byte === CARRIAGE_RETURN) chunk[at] = NO_JSON
        if (escaped) escaped = false
        else if (byte === QUOTE) inText = false
        else if (byte === BACKSLASH) escaped = true
      } else if (byte === QUOTE) inText = true
      else if (byte > CLOSE_BRACKET || byte === OPEN_BRACKET || byte === CLOSE_BRACKET) {
        if (isOpening(byte)) depth++
        else if (isClosing(byte)) {
          // Behind a number or word stands the bracket of what holds it.
          if (depth === 0) break
          depth--
          ended = depth === 0
        }
      } else if (depth === 0 && (byte === COMMA || isSpace(byte))) break
      else if (byte === LINE_FEED || byte === CARRIAGE_RETURN) chunk[at] = SPACE
    }
    this.#depth = depth
    this.#inText = inText
    this.#escaped = escaped
    if (this.#state === 'otherValue') chunk.fill(SPACE, from, at)
    // A loop that was left before the chunk's end has met the end of a number or word.
    if (ended || at < end) this.#endValue()
    return at
  }

  #endValue(): void {
    if (this.#state === 'otherValue') this.#state = 'behindMember'
    else {
      this.#records++
      this.#state = this.#inList ? 'behindElement' : 'behindRecord'
    }
  }

  #readKey(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0
    chunk[at] = SPACE
    if (!this.#escaped && byte === QUOTE) this.#state = 'colon'
    else if (this.#key.length < KEY_BYTES) this.#key += String.fromCharCode(byte)
    this.#escaped = !this.#escaped && byte === BACKSLASH
    return at + 1
  }

  /** One byte around the records. @returns where to continue */
  #step(chunk: Buffer, at: number): number {
    const byte = chunk[at] ?? 0
    const isComma = this.#form === 'records' && (byte === COMMA || byte === RECORD_SEPARATOR)
    const isBetween = isComma && (this.#state === 'document' || this.#state === 'behindRecord')
    if (isSpace(byte) || isBetween) {
      if (this.#state === 'behindRecord') this.#endLine(chunk, at, 'document')
      else chunk[at] = SPACE
      return at + 1
    }
    const next = this.#afterByte(byte, chunk, at)
    if (next === undefined) throw this.#damaged('it has something else', at)
    if (next === 'record' || next === 'otherValue') {
      this.#state = next
      this.#depth = isOpening(byte) ? 1 : 0
      // A text is entered by its quote.
      if (this.#depth === 0) return at
      if (next === 'otherValue') chunk[at] = SPACE
      return at + 1
    }
    this.#state = next
    if (chunk[at] !== LINE_FEED) chunk[at] = SPACE
    return at + 1
  }

  #endLine(chunk: Buffer, at: number, next: State): State {
    chunk[at] = LINE_FEED
    this.#state = next
    return next
  }

  /** The state after a byte that is no white space; `undefined` where it must not stand. */
  #afterByte(byte: number, chunk: Buffer, at: number): State | undefined {
    switch (this.#state) {
      case 'document':
        if (byte === OPEN_BRACKET) return this.#openList()
        if (byte !== OPEN_BRACE) return undefined
        this.#inPage = this.#form === 'page'
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
        if (isClosing(byte) || byte === COMMA || byte === COLON) return undefined
        return byte === OPEN_BRACKET && LISTS.includes(this.#key) ? this.#openPageList(at) : 'otherValue'
      case 'behindMember':
        if (byte === CLOSE_BRACE) return this.#closePage(at)
        return byte === COMMA ? 'member' : undefined
      case 'firstElement':
        if (byte === CLOSE_BRACKET) return this.#closeList()
        return isClosing(byte) || byte === COMMA || byte === COLON ? undefined : 'record'
      case 'element':
        return isClosing(byte) || byte === COMMA || byte === COLON ? undefined : 'record'
      case 'behindElement':
        if (byte === COMMA) return this.#endLine(chunk, at, 'element')
        return byte === CLOSE_BRACKET ? this.#endLine(chunk, at, this.#closeList()) : undefined
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
    if (this.#pageHasList) throw this.#damaged('a page has more than one list', at)
    if (this.#list !== undefined && this.#list !== this.#key)
      throw this.#damaged('pages of companies and of relations stand together', at)
    this.#pageHasList = true
    this.#list = this.#key
    return this.#openList()
  }

  #closePage(at: number): State {
    if (!this.#pageHasList) throw this.#damaged('a page has no list of companies or relations', at)
    this.#inPage = false
    return 'document'
  }
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
  const splitter = new RecordSplitter(form, name)
  let start: Buffer | undefined = Buffer.alloc(0)
  for await (const chunk of chunks) {
    // The source's own chunk is left as it is. Its first bytes are held until they show whether they are a BOM.
    const own: Buffer = start === undefined ? Buffer.from(chunk) : Buffer.concat([start, chunk])
    start = start !== undefined && own.length < BOM.length ? own : undefined
    if (start !== undefined) continue
    splitter.push(own)
    yield own
  }
  if (start !== undefined && start.length > 0) {
    splitter.push(start)
    yield start
  }
  splitter.end()
}
