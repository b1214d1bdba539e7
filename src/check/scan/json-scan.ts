/**
 * Reads JSON tokens from bytes in place and rejects whatever is not strict JSON (RFC 8259): DuckDB lets
 * trailing commas, NaN and Infinity pass. Knows the grammar, not the contract. Makes no objects.
 */

import type { RejectCode } from '../../core/lines.ts'
import { JSON_BYTES, textBetween } from '../../support/json-bytes.ts'

const {
  TAB,
  LINE_FEED,
  CARRIAGE_RETURN,
  SPACE,
  QUOTE,
  PLUS,
  COMMA,
  MINUS,
  POINT,
  ZERO,
  NINE,
  COLON,
  LARGE_E,
  OPEN_BRACKET,
  BACKSLASH,
  CLOSE_BRACKET,
  SMALL_E,
  OPEN_BRACE,
  CLOSE_BRACE,
} = JSON_BYTES

/** Thrown for a line that cannot be loaded; no `Error`, because a stack for each bad line is of no use. */
export class Rejection {
  readonly code: RejectCode
  readonly reason: string
  constructor(code: RejectCode, reason: string) {
    this.code = code
    this.reason = reason
  }
}

const isDigit = (byte: number | undefined): boolean => byte !== undefined && byte >= ZERO && byte <= NINE

/** The kind of value that begins at the cursor. */
export type Token = 'object' | 'list' | 'text' | 'number' | 'boolean' | 'null' | 'not-finite'

/** A cursor over one line. `spaceless` methods expect the cursor on the token, others skip white space. */
export class JsonScan {
  buffer: Buffer = Buffer.alloc(0)
  /** The same bytes, for reading four at once. */
  view: DataView = new DataView(new ArrayBuffer(0))
  /** Position of the cursor in `buffer`. */
  at = 0
  /** End of the line in `buffer`, exclusive. */
  end = 0
  #lineStart = 0

  start(buffer: Buffer, from: number, to: number): void {
    if (this.buffer !== buffer) {
      this.buffer = buffer
      this.view = new DataView(buffer.buffer, buffer.byteOffset, buffer.length)
    }
    this.at = from
    this.end = to
    this.#lineStart = from
  }

  /** Refuses the line as no JSON, naming the byte in the line (from 1). */
  notJson(what: string): never {
    throw new Rejection('NOT_JSON', `${what} at byte ${this.at - this.#lineStart + 1} of the line`)
  }

  /** The next byte that is no white space, or -1 at the end of the line. The cursor stands on it. */
  peek(): number {
    const { buffer, end } = this
    let at = this.at
    while (at < end) {
      const byte = buffer[at]!
      // Written out: a call to the shared test takes a twentieth of a careful check.
      if (byte > SPACE || (byte !== SPACE && byte !== LINE_FEED && byte !== CARRIAGE_RETURN && byte !== TAB))
        break
      at++
    }
    this.at = at
    return at < end ? buffer[at]! : -1
  }

  /** Kind of the value at the cursor, by its first byte. */
  token(): Token {
    const byte = this.peek()
    if (byte === QUOTE) return 'text'
    if (byte === OPEN_BRACE) return 'object'
    if (byte === OPEN_BRACKET) return 'list'
    if (isDigit(byte)) return 'number'
    if (byte === MINUS) return this.buffer[this.at + 1] === 0x49 ? 'not-finite' : 'number'
    if (byte === 0x6e) return this.#word('null', 'null')
    if (byte === 0x74) return this.#word('true', 'boolean')
    if (byte === 0x66) return this.#word('false', 'boolean')
    if (byte === 0x4e || byte === 0x49) return this.#word(byte === 0x4e ? 'NaN' : 'Infinity', 'not-finite')
    if (byte === -1) return this.notJson('Unexpected end')
    return this.notJson('Unexpected character')
  }

  #word(word: string, token: Token): Token {
    const { buffer, at } = this
    for (let i = 0; i < word.length; i++) {
      if (at + i >= this.end || buffer[at + i] !== word.charCodeAt(i)) return this.notJson('Unexpected word')
    }
    return token
  }

  /** Steps over `true`, `false` or `null` that `token()` has seen; returns its first byte. */
  skipWord(): number {
    const first = this.buffer[this.at]!
    this.at += first === 0x66 ? 5 : 4
    return first
  }

  /**
   * Steps over a text whose opening quote is at the cursor; afterwards the cursor is behind the closing one.
   * Returns whether it holds an escape. @throws {Rejection} NOT_JSON, NOT_UTF8 (half of a surrogate pair)
   */
  skipText(): boolean {
    const { buffer, end } = this
    let at = this.at + 1
    let escaped = false
    for (;;) {
      const byte = at < end ? buffer[at]! : 0
      if (byte === QUOTE) {
        this.at = at + 1
        return escaped
      }
      if (byte === BACKSLASH) {
        this.at = at
        at = this.#skipEscape()
        escaped = true
      } else if (byte < SPACE) {
        this.at = at
        this.notJson(at < end ? 'Control character in a text' : 'Unexpected end in a text')
      } else at++
    }
  }

  /** Position behind the escape at the cursor. */
  #skipEscape(): number {
    const { buffer, at } = this
    const kind = at + 1 < this.end ? buffer[at + 1]! : 0
    if (kind !== 0x75)
      return '"\\/bfnrt'.includes(String.fromCharCode(kind)) ? at + 2 : this.notJson('Bad escape')
    const unit = this.#hex(at + 2)
    if (unit < 0xd800 || unit > 0xdfff) return at + 6
    const pair =
      unit < 0xdc00 && buffer[at + 6] === BACKSLASH && buffer[at + 7] === 0x75 ? this.#hex(at + 8) : 0
    if (pair < 0xdc00 || pair > 0xdfff) {
      throw new Rejection(
        'NOT_UTF8',
        `Half of a surrogate pair at byte ${at - this.#lineStart + 1} of the line`,
      )
    }
    return at + 12
  }

  #hex(at: number): number {
    const digits = at + 4 <= this.end ? this.buffer.toString('latin1', at, at + 4) : ''
    return /^[0-9a-fA-F]{4}$/.test(digits) ? Number.parseInt(digits, 16) : this.notJson('Bad escape')
  }

  /**
   * Steps over a number at the cursor. Returns `whole` (an integer), `decimal`, or `check` (an exponent or
   * so many digits that it may not be finite). @throws {Rejection} NOT_JSON
   */
  skipNumber(): 'whole' | 'decimal' | 'check' {
    const { buffer } = this
    const start = this.at
    let at = start
    if (buffer[at] === MINUS) at++
    const first = at
    while (isDigit(buffer[at])) at++
    this.at = at
    if (at === first) this.notJson('Number without a digit')
    if (buffer[first] === ZERO && at - first > 1) this.notJson('Number with a leading zero')
    let form: 'whole' | 'decimal' | 'check' = 'whole'
    if (buffer[at] === POINT) {
      const fraction = ++at
      while (isDigit(buffer[at])) at++
      this.at = at
      if (at === fraction) this.notJson('Number without a digit after the point')
      form = 'decimal'
    }
    if (buffer[at] === SMALL_E || buffer[at] === LARGE_E) {
      at++
      if (buffer[at] === PLUS || buffer[at] === MINUS) at++
      const exponent = at
      while (isDigit(buffer[at])) at++
      this.at = at
      if (at === exponent) this.notJson('Number without a digit in its exponent')
      form = 'check'
    }
    return at - start > 290 ? 'check' : form
  }

  /** Whether the number from `start` to the cursor is finite. */
  isFinite(start: number): boolean {
    return Number.isFinite(Number(this.buffer.toString('latin1', start, this.at)))
  }

  /** Steps over the opening brace or bracket; false where the object or list is empty and now behind us. */
  open(): boolean {
    // In ASCII the closing one comes two places behind the opening one.
    const close = this.buffer[this.at]! + 2
    this.at++
    if (this.peek() !== close) return true
    this.at++
    return false
  }

  /** Steps over a comma (true: another member follows) or the closing brace (false). */
  moreMembers(): boolean {
    return this.#more(CLOSE_BRACE)
  }

  /** The same in a list. */
  moreItems(): boolean {
    return this.#more(CLOSE_BRACKET)
  }

  #more(close: number): boolean {
    const byte = this.peek()
    if (byte !== COMMA && byte !== close)
      this.notJson(close === CLOSE_BRACE ? 'No comma or brace' : 'No comma or bracket')
    this.at++
    return byte === COMMA
  }

  /** Steps over a key's opening quote, text and colon; returns whether the key holds an escape. */
  skipKey(): boolean {
    if (this.peek() !== QUOTE) this.notJson('No key')
    this.keyStart = this.at + 1
    const escaped = this.skipText()
    this.keyEnd = this.at - 1
    if (this.peek() !== COLON) this.notJson('No colon')
    this.at++
    return escaped
  }
  /** Position behind the last key's opening quote, and that of its closing one. */
  keyStart = 0
  keyEnd = 0

  /** The last key's text. */
  keyText(): string {
    return this.textOf(this.keyStart, this.keyEnd)
  }

  /** Steps over any value. @param depth levels already open @throws {Rejection} TOO_DEEP past `maxDepth` */
  skipValue(depth: number, maxDepth: number): void {
    const open: (Set<string> | 'list')[] = []
    for (;;) {
      const token = this.token()
      let within = false
      if (token === 'object' || token === 'list') {
        if (depth + open.length + 1 > maxDepth) throw tooDeep(maxDepth)
        within = this.open()
        if (within) open.push(token === 'object' ? new Set() : token)
      } else if (token === 'text') this.skipText()
      else if (token === 'number') {
        const start = this.at
        if (this.skipNumber() === 'check' && !this.isFinite(start)) throw notFinite()
      } else if (token === 'not-finite') throw notFinite()
      else this.skipWord()
      while (!within && open.length > 0) {
        within = open.at(-1) === 'list' ? this.moreItems() : this.moreMembers()
        if (!within) open.pop()
      }
      const names = open.at(-1)
      if (names === undefined) return
      if (names !== 'list') this.#skipNewKey(names)
    }
  }

  #skipNewKey(names: Set<string>): void {
    this.skipKey()
    const name = this.keyText()
    if (names.has(name)) throw duplicateKey('An object outside the contract')
    names.add(name)
  }

  /** The text between two quotes, escapes resolved. */
  textOf(start: number, end: number): string {
    return textBetween(this.buffer, start - 1, end + 1)
  }
}

export const tooDeep = (maxDepth: number): Rejection =>
  new Rejection('TOO_DEEP', `Record is nested deeper than ${maxDepth} levels`)
export const duplicateKey = (where: string): Rejection =>
  new Rejection('DUPLICATE_KEY', `${where} has the same key twice`)
export const notFinite = (where = 'A value'): Rejection =>
  new Rejection('NOT_FINITE', `${where} is not a finite number`)
