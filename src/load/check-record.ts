/**
 * Checks one line against the contract, byte by byte, before DuckDB reads it: strict JSON, every value of the
 * declared type, no key twice, known scale, real years. Collects what the contract does not know. Makes no
 * objects of good lines: at hundreds of megabytes a second this pass is what makes DuckDB's own reading safe,
 * which takes a boolean for a number, rounds a fraction in an id and drops a second key without a word.
 */

import { DICTIONARIES } from '../contract/dictionaries.ts'
import type { Field, ObjectType } from '../contract/fields.ts'
import { LINE_ITEMS } from '../contract/line-items.ts'
import { COMPANY, CONTENT, type Content, PROTECTED_IDENTITY } from '../contract/objects.ts'
import type { Drift } from '../core/partition.ts'
import { hasOwnTable, POINTER_LIKE } from '../lake/row-objects.ts'
import { duplicateKey, JsonScan, notFinite, Rejection, tooDeep } from './json-scan.ts'
import { KeyTable } from './key-table.ts'
import type { ForeignItem } from './line-items.ts'

/** Members of a record that the contract does not know. */
interface Unknown {
  /** JSON pointer of the row object they stand in; '' is the record itself. */
  readonly row: string
  /** Way from the row object to the member, its own name last. */
  readonly path: readonly string[]
  readonly raw: string
}

interface CompiledField {
  readonly name: string
  readonly field: Field
  readonly of: CompiledObject | undefined
  readonly codes: ReadonlySet<string> | undefined
  readonly ownTable: boolean
}
interface CompiledObject {
  readonly keys: KeyTable
  readonly fields: readonly CompiledField[]
}

const compiled = new Map<ObjectType, CompiledObject>()

const compile = (object: ObjectType): CompiledObject => {
  const known = compiled.get(object)
  if (known) return known
  const fields: CompiledField[] = []
  const result: CompiledObject = { keys: new KeyTable(Object.keys(object.fields)), fields }
  compiled.set(object, result)
  for (const [name, field] of Object.entries(object.fields)) {
    const of = field.kind === 'object' || field.kind === 'objects' ? field.of : object
    fields.push({
      name,
      field,
      of:
        field.kind === 'object' || field.kind === 'objects' || field.kind === 'self-list'
          ? compile(of)
          : undefined,
      codes: 'codes' in field && field.codes !== undefined ? codesOf(field.codes) : undefined,
      ownTable: field.kind === 'self-list' || (field.kind === 'objects' && hasOwnTable(field.of)),
    })
  }
  return result
}

const codesOf = (dictionary: string): ReadonlySet<string> => {
  const found = Object.entries(DICTIONARIES).find(([name]) => name === dictionary)
  if (!found) throw new TypeError(`Contract names the dictionary "${dictionary}" but does not declare it`)
  return new Set(found[1].values.map(({ value }) => String(value)))
}

/** Sets that grow with what a run sees; DuckDB's ENUM types are made from them. */
export interface SeenSets {
  readonly countries: KeyTable
  readonly currencies: KeyTable
  readonly categories: KeyTable
  readonly lineItems: KeyTable
  /** Line items outside the contract, by their two indexes. */
  readonly foreign: Map<number, ForeignItem>
}

export const newSeenSets = (): SeenSets => ({
  countries: new KeyTable([]),
  currencies: new KeyTable([]),
  categories: new KeyTable(LINE_ITEMS.map(({ category }) => category)),
  lineItems: new KeyTable(LINE_ITEMS.map(({ lineItem }) => lineItem)),
  foreign: new Map(),
})

/** Nesting allowed by default: a `History` 40 deep is 85 levels of JSON. */
export const DEFAULT_MAX_DEPTH = 256

export interface CheckOptions {
  /** Deepest nesting of a record in JSON levels. @default 256 */
  readonly maxDepth?: number
}

export interface CheckedRecord {
  /** The record's InternalId as written, without quotes. */
  readonly id: string
  /** The `extra` column as JSON text; absent where the contract knows every field. */
  readonly extra: string | undefined
  /** Where its figures stand in the buffer: from, to, from, to; of `Financials` and `UnconsolidatedFinancials`. */
  readonly figures: readonly number[]
}

const CONTRACT_ITEMS = new Set(LINE_ITEMS.map(({ category, lineItem }) => `${category}.${lineItem}`))
const QUOTE = 0x22
const COMMA = 0x2c
const CLOSE_BRACE = 0x7d

/** Checks lines of one content. Holds the sets of a run and the drift since it was last taken. */
export class RecordChecker {
  readonly #scan = new JsonScan()
  readonly #root: CompiledObject
  readonly #content: Content
  readonly #seen: SeenSets
  readonly #maxDepth: number
  readonly #drift = new Map<string, { kind: Drift['kind']; name: string; records: number }>()
  #lineDrift = new Map<string, { kind: Drift['kind']; name: string }>()
  #lineForeign = new Map<number, ForeignItem>()
  #unknown: Unknown[] = []
  #path: (string | number)[] = []
  #row = 0
  #id = ''
  #figures: number[] = []
  /** `category index * 2^20 + item index` of pairs outside the contract, to count them without a text. */
  readonly #foreignPairs = new Map<number, { readonly name: string; readonly item: ForeignItem }>()
  readonly #contractPairs = new Set<number>()
  #stamp = 0
  readonly #stamps: number[] = []

  constructor(content: Content, seen: SeenSets, options: CheckOptions = {}) {
    this.#content = content
    this.#seen = seen
    this.#maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH
    this.#root = compile(CONTENT[content])
  }

  /**
   * Checks the line of `buffer` from `start` to `end` (without its line end).
   * @throws {Rejection} with the reason why the line cannot be loaded
   */
  check(buffer: Buffer, start: number, end: number): CheckedRecord {
    const scan = this.#scan
    scan.start(buffer, start, end)
    this.#path = []
    this.#row = 0
    this.#id = ''
    this.#figures = []
    if (this.#unknown.length > 0) this.#unknown = []
    if (this.#lineDrift.size > 0) this.#lineDrift = new Map()
    if (this.#lineForeign.size > 0) this.#lineForeign = new Map()
    if (scan.token() !== 'object') throw wrongShape('The record', 'an object', scan.token())
    this.#object(this.#root, 1)
    if (scan.peek() !== -1) scan.notJson('A second document')
    if (this.#id === '') throw new Rejection('ID_MISSING', `Record has no ${this.#idPath()}`)
    for (const [pair, item] of this.#lineForeign) this.#seen.foreign.set(pair, item)
    for (const [key, { kind, name }] of this.#lineDrift) {
      const counted = this.#drift.get(key)
      if (counted) counted.records++
      else this.#drift.set(key, { kind, name, records: 1 })
    }
    return {
      id: this.#id,
      extra: this.#unknown.length > 0 ? extraOf(this.#unknown) : undefined,
      figures: this.#figures,
    }
  }

  /** What was seen outside the contract since the last call, most frequent first. */
  takeDrift(): Drift[] {
    const drift = [...this.#drift.values()].sort(
      (a, b) => b.records - a.records || (a.name < b.name ? -1 : 1),
    )
    this.#drift.clear()
    return drift
  }

  #idPath(): string {
    return this.#content === 'companies' ? 'BasicDetails.InternalId' : 'InternalId'
  }

  #where(name: string | number): string {
    return [...this.#path, name]
      .map((part) => (typeof part === 'number' ? `[${part}]` : part))
      .join('.')
      .replaceAll('.[', '[')
  }

  #here(): string {
    return this.#where('').replace(/\.$/, '')
  }

  #object(object: CompiledObject, depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { keys, fields } = object
    if (!scan.openObject()) return
    let seen = 0 // one bit a field: no object has more than 30
    let names: Set<string> | undefined
    do {
      const index = this.#key(keys)
      const start = this.#keyStart
      if (index < 0) {
        const name = this.#scan.textOf(start, scan.keyEnd)
        names ??= new Set()
        if (names.has(name)) throw duplicateKey(this.#path.length > 0 ? this.#here() : 'The record')
        names.add(name)
        this.#unknownMember(name, depth)
        continue
      }
      const field = fields[index]!
      if ((seen & (1 << index)) !== 0) throw duplicateKey(`Object with "${this.#where(field.name)}"`)
      seen |= 1 << index
      this.#value(field, depth)
    } while (scan.moreMembers())
  }

  #value(known: CompiledField, depth: number): void {
    const scan = this.#scan
    const token = scan.token()
    if (token === 'null') {
      scan.skipWord()
      return
    }
    switch (known.field.kind) {
      case 'text':
        if (token !== 'text') throw wrongShape(this.#where(known.name), 'text', token)
        this.#text(known)
        return
      case 'date-time':
        if (token !== 'text') throw wrongShape(this.#where(known.name), 'text', token)
        scan.skipText()
        return
      case 'integer':
        this.#integer(known)
        return
      case 'number':
        this.#number(known.name)
        return
      case 'boolean':
        if (token !== 'boolean') throw wrongShape(this.#where(known.name), 'true or false', token)
        scan.skipWord()
        return
      case 'object':
        if (token !== 'object') throw wrongShape(this.#where(known.name), 'an object', token)
        this.#part(known, depth)
        return
      case 'series':
        if (token !== 'object') throw wrongShape(this.#where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#series(depth + 1)
        this.#path.pop()
        return
      case 'financials':
        if (token !== 'object') throw wrongShape(this.#where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#figures.push(scan.at)
        this.#financials(depth + 1)
        this.#figures.push(scan.at)
        this.#path.pop()
        return
      default:
        this.#list(known, depth + 1)
    }
  }

  #part(known: CompiledField, depth: number): void {
    const start = this.#scan.at
    this.#path.push(known.name)
    this.#object(known.of!, depth + 1)
    this.#path.pop()
    // A full profile has no MinifiedInfo, so no column holds it; where it comes all the same it is kept whole.
    if (known.field === COMPANY.fields.MinifiedInfo) this.#keepUnknown(known.name, start)
  }

  #text(known: CompiledField): void {
    const scan = this.#scan
    const start = scan.at + 1
    scan.skipText()
    const end = scan.at - 1
    if (known.codes !== undefined) {
      const value = this.#scan.textOf(start, end)
      if (!known.codes.has(value)) {
        if (known.name === 'FinancialFigureScale') {
          throw new Rejection('SCALE_UNKNOWN', 'MetaData.FinancialFigureScale is not in the contract')
        }
        this.#sawDrift('code', `${known.name}=${value}`)
      }
    } else if (this.#content === 'companies') {
      if (known.name === 'CurrentCurrencyCode') this.#grow(this.#seen.currencies, start, end)
      else if (known.name === 'CountryCode' && this.#path.length === 1)
        this.#grow(this.#seen.countries, start, end)
    }
  }

  #grow(set: KeyTable, start: number, end: number): number {
    const index = set.find(this.#scan.buffer, start, end)
    return index >= 0 ? index : set.add(this.#scan.textOf(start, end))
  }

  /** A whole number of 64 bits; in quotes it is read as the number. */
  #integer(known: CompiledField): void {
    const scan = this.#scan
    const isId = known.name === 'InternalId'
    const quoted = scan.token() === 'text'
    const start = quoted ? scan.at + 1 : scan.at
    const form = this.#number(known.name)
    const written = scan.buffer.toString('latin1', start, quoted ? scan.at - 1 : scan.at)
    let digits = written
    if (form !== 'whole') {
      const value = Number(written)
      // DuckDB takes 1E2 for a whole number, but in quotes only digits.
      if (quoted || !Number.isSafeInteger(value)) {
        throw new Rejection(
          isId ? 'ID_NOT_WHOLE' : 'NOT_WHOLE',
          `${this.#where(known.name)} is no whole number`,
        )
      }
      digits = String(value)
    } else if (digits.length > 18 && BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
      throw new Rejection(
        isId ? 'ID_NOT_WHOLE' : 'NOT_WHOLE',
        `${this.#where(known.name)} needs more than 64 bits`,
      )
    }
    if (isId && this.#row === 0 && this.#path.length === (this.#content === 'companies' ? 1 : 0)) {
      if (this.#content === 'relations' || this.#path[0] === 'BasicDetails')
        this.#id = digits === '-0' ? '0' : digits
    } else if (known.codes !== undefined && digits !== '0' && !known.codes.has(digits)) {
      this.#sawDrift('code', `${known.name}=${digits}`)
    }
  }

  /** A finite number; in quotes it is read as the number. */
  #number(name: string): 'whole' | 'decimal' | 'check' {
    const scan = this.#scan
    const token = scan.token()
    const quoted = token === 'text'
    if (quoted) {
      const start = scan.at
      const escaped = scan.skipText()
      const written = scan.buffer.toString('latin1', start + 1, scan.at - 1)
      if (escaped || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(written)) {
        const id = name === 'InternalId'
        throw new Rejection(
          id ? 'ID_NOT_WHOLE' : 'NOT_A_NUMBER',
          `${this.#where(name)} is text, not a number`,
        )
      }
      if (!Number.isFinite(Number(written))) throw notFinite(this.#where(name))
      return /^-?\d+$/.test(written) ? 'whole' : 'check'
    }
    if (token === 'not-finite') throw notFinite(this.#where(name))
    if (token === 'boolean') {
      const id = name === 'InternalId'
      throw new Rejection(
        id ? 'ID_NOT_WHOLE' : 'NOT_A_NUMBER',
        `${this.#where(name)} is a boolean, not a number`,
      )
    }
    if (token !== 'number') throw wrongShape(this.#where(name), 'a number', token)
    const start = scan.at
    const form = scan.skipNumber()
    if (form === 'check' && !scan.isFinite(start)) throw notFinite(this.#where(name))
    return form
  }

  #list(known: CompiledField, depth: number): void {
    const scan = this.#scan
    const { field } = known
    const token = scan.token()
    const masked = 'masked' in field && field.masked === true
    if (masked && token === 'text') {
      this.#mask(known.name, 'a list')
      return
    }
    if (token !== 'list') throw wrongShape(this.#where(known.name), 'a list', token)
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const start = scan.at
    if (!scan.openList()) return
    const unknownBefore = this.#unknown.length
    this.#path.push(known.name)
    let index = 0
    do {
      const item = scan.token()
      if (field.kind === 'texts') {
        if (item === 'null') scan.skipWord()
        else if (item === 'text') scan.skipText()
        else throw wrongShape(this.#where(index), 'text', item)
      } else if (masked && item === 'text') {
        this.#mask(index, 'an object')
      } else {
        if (item !== 'object') throw wrongShape(this.#where(index), 'an object', item)
        this.#path.push(index)
        const row = this.#row
        if (known.ownTable) this.#row = this.#path.length
        this.#object(known.of!, depth + 1)
        this.#row = row
        this.#path.pop()
      }
      index++
    } while (scan.moreItems())
    this.#path.pop()
    // A list that stays a column cannot be merged item by item: keep it whole where an item has more fields.
    if (!known.ownTable && this.#unknown.length > unknownBefore) {
      this.#unknown.length = unknownBefore
      this.#keepUnknown(known.name, start)
    }
  }

  /** The text that stands for personal data in place of what is `wanted`. */
  #mask(name: string | number, wanted: string): void {
    const scan = this.#scan
    const start = scan.at + 1
    scan.skipText()
    if (scan.textOf(start, scan.at - 1) !== PROTECTED_IDENTITY) {
      throw wrongShape(this.#where(name), wanted, 'text')
    }
  }

  #unknownMember(name: string, depth: number): void {
    const scan = this.#scan
    const isNull = scan.token() === 'null'
    const start = scan.at
    scan.skipValue(depth, this.#maxDepth)
    if (isNull) return
    this.#keepUnknown(name, start)
    this.#sawDrift('field', this.#where(name).replace(/\[\d+\]/g, '[]'))
  }

  #keepUnknown(name: string, start: number): void {
    const parts = this.#path.map(String)
    this.#unknown.push({
      row:
        this.#row === 0 ? ownRow(this.#content, parts[0] ?? name) : `/${parts.slice(0, this.#row).join('/')}`,
      path: [...parts.slice(this.#row), name],
      raw: this.#scan.buffer.toString('utf8', start, this.#scan.at),
    })
  }

  #sawDrift(kind: Drift['kind'], name: string): void {
    this.#lineDrift.set(`${kind} ${name}`, { kind, name })
  }

  #financials(depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { categories } = this.#seen
    if (!scan.openObject()) return
    const seen = new Set<number>()
    do {
      let category = this.#key(categories)
      if (category < 0) category = categories.add(this.#scan.textOf(this.#keyStart, scan.keyEnd))
      if (seen.has(category)) throw duplicateKey(this.#where(categories.names[category]!))
      seen.add(category)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object')
        throw wrongShape(this.#where(categories.names[category]!), 'an object', token)
      else this.#lineItems(category, depth + 1)
    } while (scan.moreMembers())
  }

  #lineItems(category: number, depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { lineItems } = this.#seen
    if (!scan.openObject()) return
    const stamp = ++this.#stamp
    do {
      let item = this.#key(lineItems)
      if (item < 0) item = lineItems.add(this.#scan.textOf(this.#keyStart, scan.keyEnd))
      if (this.#stamps[item] === stamp) {
        throw duplicateKey(this.#where(`${this.#seen.categories.names[category]}.${lineItems.names[item]}`))
      }
      this.#stamps[item] = stamp
      const pair = category * 0x100000 + item
      if (!this.#contractPairs.has(pair)) this.#foreignPair(pair, category, item)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object') {
        throw wrongShape(
          this.#where(`${this.#seen.categories.names[category]}.${lineItems.names[item]}`),
          'an object',
          token,
        )
      } else this.#series(depth + 1, category, item)
    } while (scan.moreMembers())
  }

  #foreignPair(pair: number, category: number, item: number): void {
    let foreign = this.#foreignPairs.get(pair)
    if (foreign === undefined) {
      const categoryName = this.#seen.categories.names[category] ?? ''
      const lineItem = this.#seen.lineItems.names[item] ?? ''
      const name = `${categoryName}.${lineItem}`
      if (CONTRACT_ITEMS.has(name)) {
        this.#contractPairs.add(pair)
        return
      }
      foreign = { name, item: { category: categoryName, lineItem } }
      this.#foreignPairs.set(pair, foreign)
    }
    this.#lineForeign.set(pair, foreign.item)
    this.#sawDrift('line-item', foreign.name)
  }

  /** Fiscal year → number; of figures the category and line item, to say where. */
  #series(depth: number, category = -1, item = -1): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const plain = plainSeriesEnd(scan.buffer, scan.view, scan.at)
    if (plain > 0) {
      scan.at = plain
      return
    }
    if (!scan.openObject()) return
    const path = this.#path
    if (category >= 0) {
      const { categories, lineItems } = this.#seen
      this.#path = [...path, categories.names[category] ?? '', lineItems.names[item] ?? '']
    }
    const years = new Set<string>()
    do {
      if (scan.peek() !== QUOTE) scan.notJson('No key')
      const start = scan.at + 1
      scan.skipKey()
      const year = this.#scan.textOf(start, scan.keyEnd)
      if (!/^[1-9]\d{3}$/.test(year)) {
        throw new Rejection('YEAR_INVALID', `${this.#here()} has a fiscal year that is no year`)
      }
      if (years.has(year)) throw duplicateKey(this.#where(year))
      years.add(year)
      if (scan.token() === 'null') scan.skipWord()
      else this.#number(year)
    } while (scan.moreMembers())
    this.#path = path
  }

  /** Steps over the next key and its colon; index of its name in `keys`, or -1. */
  #key(keys: KeyTable): number {
    const scan = this.#scan
    scan.peek()
    this.#keyStart = scan.at + 1
    return scan.skipKey()
      ? this.#findEscaped(keys, this.#keyStart)
      : keys.find(scan.buffer, this.#keyStart, scan.keyEnd)
  }
  #keyStart = 0

  #findEscaped(keys: KeyTable, start: number): number {
    const name = Buffer.from(this.#scan.textOf(start, this.#scan.keyEnd))
    return keys.find(name, 0, name.length)
  }
}

/**
 * End of a series in the plain form `{"2020":1.5,"2021":-3}`: no white space, ascending years, numbers without
 * exponent. 0 where it has another form, which is for the careful way to judge. Nine of ten bytes of a company
 * pass through here.
 */
const plainSeriesEnd = (buffer: Buffer, view: DataView, open: number): number => {
  const last = buffer.length - 8
  let at = open + 1
  let yearBefore = YEAR_1000 - 1
  while (at < last) {
    if (buffer[at] !== QUOTE || buffer[at + 5] !== QUOTE || buffer[at + 6] !== 0x3a) return 0
    // Four digits as one number sort like the year they spell.
    const year = view.getInt32(at + 1)
    if (year <= yearBefore || !isFourDigits(year)) return 0
    yearBefore = year
    at += 7
    const first = at
    if (buffer[at] === 0x2d) at++
    const whole = at
    while (at < last && isFourDigits(view.getInt32(at))) at += 4
    let byte = buffer[at]!
    while (byte >= 0x30 && byte <= 0x39) byte = buffer[++at]!
    if (at === whole || (buffer[whole] === 0x30 && at > whole + 1)) return 0
    if (byte === 0x2e) {
      const fraction = ++at
      byte = buffer[at]!
      while (byte >= 0x30 && byte <= 0x39) byte = buffer[++at]!
      if (at === fraction) return 0
    }
    if (at - first > 290) return 0
    at++
    if (byte === CLOSE_BRACE) return at
    if (byte !== COMMA) return 0
  }
  return 0
}
const YEAR_1000 = 0x31303030
const isFourDigits = (bytes: number): boolean =>
  ((bytes & 0xf0f0f0f0) | 0) === 0x30303030 && (((bytes + 0x06060606) & 0xf0f0f0f0) | 0) === 0x30303030

const wrongShape = (where: string, wanted: string, found: string): Rejection =>
  found === 'not-finite'
    ? notFinite(where)
    : new Rejection('WRONG_SHAPE', `${where} is ${ARTICLE[found] ?? found}, expected ${wanted}`)
const ARTICLE: Readonly<Record<string, string>> = {
  object: 'an object',
  list: 'a list',
  number: 'a number',
  boolean: 'a boolean',
}

/** Row of a record's own members. Of relations those that look like a pointer to a row have one to themselves. */
const ownRow = (content: Content, name: string): string =>
  content === 'relations' && name.startsWith('/') ? POINTER_LIKE : ''

/** The `extra` column: unknown members where they stood; those of rows below a JSON pointer. */
const extraOf = (unknown: readonly Unknown[]): string => {
  const rows = new Map<string, Branch>()
  for (const { row, path, raw } of unknown) {
    let branch = rows.get(row) ?? new Map()
    rows.set(row, branch)
    for (const name of path.slice(0, -1)) {
      const next: Branch | string = branch.get(name) ?? new Map()
      if (typeof next === 'string') break
      branch.set(name, next)
      branch = next
    }
    branch.set(path.at(-1) ?? '', raw)
  }
  const record = rows.get('') ?? new Map()
  rows.delete('')
  for (const [row, branch] of rows) record.set(row, branch)
  return branchText(record)
}
type Branch = Map<string, Branch | string>
const branchText = (branch: Branch): string =>
  `{${[...branch].map(([name, value]) => `${JSON.stringify(name)}:${typeof value === 'string' ? value : branchText(value)}`).join(',')}}`
