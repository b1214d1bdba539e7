/** Detects what decoded bytes are from how they begin: JSON Lines, a JSON document, or something that holds no records. */

import { isUtf8 } from 'node:buffer'
import { COMPANY, RELATIONS_COMPANY } from '../contract/objects.ts'
import { isSpace, JSON_BYTES, NOT_WHOLE, partsAt, skipSpace, skipValue } from '../support/json-bytes.ts'

const { COMMA, OPEN_BRACE, OPEN_BRACKET, RECORD_SEPARATOR } = JSON_BYTES

/** How records stand in a JSON document: in a list, in the list of a saved page, or one after the other, with or without line ends. */
export type DocumentForm = 'list' | 'page' | 'records'

export type SourceForm =
  | { readonly kind: 'lines' }
  | { readonly kind: 'document'; readonly form: DocumentForm }
  /** `looks`: what it looks like. `action`: what to do about it. */
  | { readonly kind: 'unusable'; readonly looks: string; readonly action: string }

const LINES: SourceForm = { kind: 'lines' }
const document = (form: DocumentForm): SourceForm => ({ kind: 'document', form })
const unusable = (looks: string, action: string): SourceForm => ({ kind: 'unusable', looks, action })

const AS_JSON = 'get the records as JSON: a batch file, a saved page, or JSON Lines'
const UNPACK = 'unpack it and load what is in it'

/** First bytes of formats that hold no JSON, at which offset. */
const MAGICS: readonly (readonly [offset: number, magic: string, looks: string, action: string])[] = [
  [0, 'PAR1', 'a Parquet file', `${AS_JSON}; a lake is read with --lake`],
  [0, '%PDF-', 'a PDF document', AS_JSON],
  [0, 'SQLite format 3\0', 'a SQLite database', AS_JSON],
  [0, 'ARROW1', 'an Arrow file', AS_JSON],
  [8, 'DUCK', 'a DuckDB database', AS_JSON],
  [0, 'Obj\x01', 'an Avro file', AS_JSON],
  [0, '\xd0\xcf\x11\xe0\xa1\xb1\x1a\xe1', 'an old Excel or Office file', AS_JSON],
  [4, '1AY&SY', 'bzip2 data', 'unpack it with "bunzip2"'],
  [0, '\xfd7zXZ\0', 'xz data', 'unpack it with "unxz"'],
  [0, '7z\xbc\xaf\x27\x1c', 'a 7z archive', UNPACK],
  [257, 'ustar', 'a tar archive', UNPACK],
]

const TO_UTF8 = 'write it as UTF-8 with "iconv -f UTF-16 -t UTF-8"'

const ofMagic = (head: Buffer): SourceForm | undefined => {
  const start = head.toString('latin1')
  if (/^PK(?:\x03\x04|\x05\x06)/.test(start)) {
    if (/\[Content_Types\]\.xml|xl\/|word\//.test(start))
      return unusable('an Excel workbook or another Office file', AS_JSON)
    return unusable('a ZIP archive', UNPACK)
  }
  if (/^(?:\xff\xfe|\xfe\xff|\{\0|\0\{|\[\0|\0\[)/.test(start)) return unusable('UTF-16 text', TO_UTF8)
  // A text that begins as JSON may hold anything further on.
  if (/^[\s{[]/.test(start)) return undefined
  const found = MAGICS.find(([offset, magic]) => start.startsWith(magic, offset))
  return found && unusable(found[2], found[3])
}

const isRecordMember = (key: string): boolean =>
  Object.hasOwn(COMPANY.fields, key) || Object.hasOwn(RELATIONS_COMPANY.fields, key)

/** Names of the list of records in a page. */
export const PAGE_LISTS: readonly string[] = ['Companies', 'Relations']

/** Whether the object at `from` is a page: it has a list of records, and before it nothing that a record has. */
const isPage = (head: Buffer, from: number): boolean => {
  for (const { name, valueFrom } of partsAt(head, from)) {
    if (isRecordMember(name)) return false
    if (PAGE_LISTS.includes(name) && head[valueFrom] === OPEN_BRACKET) return true
  }
  return false
}

/** A first line that ends within its object, and a second that continues with a key: no line of JSON Lines begins so. */
const OVER_LINES = /^\{(?:[^\r\n]*[{[,])?[ \t]*\r?\n\s*"/

/** Whether a byte may stand between two records that have no line each. */
const isBetween = (byte: number): boolean => isSpace(byte) || byte === COMMA || byte === RECORD_SEPARATOR

const ONE_LINE_EACH = 'put each on a line of its own, such as with "jq -c ."'

/**
 * Records one after the other, from the first one on. A line end between two, with neither a comma nor a record separator, makes
 * them JSON Lines, where a line that lacks its end is quarantined alone.
 */
const ofRecords = (head: Buffer, first: number, isWhole: boolean): SourceForm => {
  const isSequence = head.subarray(0, first).includes(RECORD_SEPARATOR)
  let form = isSequence ? document('records') : LINES
  for (let from = first, seen = 0; seen < LINES_LOOKED_AT; seen++) {
    const end = skipValue(head, from)
    if (end === NOT_WHOLE) return form
    from = end
    while (from < head.length && isBetween(head[from] ?? 0)) from++
    const between = head.toString('latin1', end, from)
    const isApart = /[,\x1e]/.test(between)
    if (from === head.length) return isApart && isWhole && form === LINES ? document('records') : form
    if (head[from] !== OPEN_BRACE) return LINES
    if (!isApart && between.includes('\n')) return seen === 0 ? form : LINES
    const found =
      between === '' ? unusable('JSON records with nothing between them', ONE_LINE_EACH) : document('records')
    if (seen > 0 && found.kind !== form.kind) return LINES
    form = found
  }
  return form
}

/** Bytes looked at for lines: enough for a few of any table. */
const LINES_LOOKED_AT = 20

const SEPARATORS = [
  [',', 'CSV'],
  [';', 'CSV with semicolons'],
  ['\t', 'tab-separated values'],
  ['|', 'values with "|" between'],
] as const

/** Separated values: every whole line has the same number of separators, outside of quotes. */
const ofTable = (lines: readonly string[]): SourceForm | undefined => {
  const bare = lines.map((line) => line.replaceAll(/"(?:[^"]|"")*"/g, ''))
  for (const [separator, looks] of SEPARATORS) {
    const counts = new Set(bare.map((line) => line.split(separator).length - 1))
    const [first = 0] = counts
    if (counts.size === 1 && first > 0)
      return unusable(looks, `records have levels that a table has not; ${AS_JSON}`)
  }
  return undefined
}

const ofText = (text: string, head: Buffer, isWhole: boolean): SourceForm => {
  if (/^<(?:!doctype\s+html|html|head|body)\b/i.test(text))
    return unusable('an HTML page', 'look at it in a browser: it may be a login or an error page')
  if (/^<[?!A-Za-z]/.test(text)) return unusable('XML', AS_JSON)
  const lines = text.split(/\r?\n/).filter((line) => line.trim() !== '')
  // A line that begins as a record is worth loading: the others are quarantined with their reasons.
  if (lines.some((line) => /^[ \t]*\{/.test(line))) return LINES
  if (head.includes(0) || (isWhole && !isUtf8(head))) return unusable('binary data', AS_JSON)
  const whole = isWhole ? lines : lines.slice(0, -1)
  return (whole.length > 1 ? ofTable(whole.slice(0, LINES_LOOKED_AT)) : undefined) ?? LINES
}

/**
 * Detects the form of decoded bytes.
 *
 * @param head the first of them, `DETECT_HEAD_BYTES` or more
 * @param isWhole whether these are all
 */
export const detectForm = (head: Buffer, isWhole: boolean): SourceForm => {
  const magic = ofMagic(head)
  if (magic) return magic
  const hasMark = head[0] === 0xef && head[1] === 0xbb && head[2] === 0xbf
  let from = skipSpace(head, hasMark ? 3 : 0)
  while (head[from] === RECORD_SEPARATOR) from = skipSpace(head, from + 1)
  const text = head.toString('utf8', from)
  if (text.startsWith('{')) {
    if (isPage(head, from)) return document('page')
    return OVER_LINES.test(text) ? document('records') : ofRecords(head, from, isWhole)
  }
  // Other lists are no records; as lines of JSON Lines they are quarantined.
  if (/^\[\s*\{/.test(text) || (isWhole && /^\[\s*\]\s*$/.test(text))) return document('list')
  return text === '' ? LINES : ofText(text, head, isWhole)
}
