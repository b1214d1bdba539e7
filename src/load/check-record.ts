/**
 * Checks one line against the contract, byte by byte, before DuckDB reads it: strict JSON, every value of the
 * declared type, no key twice, known scale, real years. Collects what the contract does not know. Makes no
 * objects of good lines: at hundreds of megabytes a second this pass is what makes DuckDB's own reading safe,
 * which takes a boolean for a number, rounds a fraction in an id and drops a second key without a word.
 */

import { FIGURE_SCALE } from '../contract/dictionaries.ts'
import {
  BASIC_DETAILS,
  COMPANY,
  CONTENT,
  type Content,
  META_DATA,
  PROTECTED_IDENTITY,
} from '../contract/objects.ts'
import type { Drift } from '../core/partition.ts'
import { UNKNOWN_LIMITS, type UnknownItems } from '../core/unknown-names.ts'
import { BlockRows } from './block-rows.ts'
import { FiguresChecker } from './check-figures.ts'
import { checkNumber } from './check-number.ts'
import { type CompiledField, type CompiledObject, compile } from './compiled-contract.ts'
import { DriftLog, type UnknownLimits } from './drift-log.ts'
import { duplicateKey, JsonScan, Rejection, tooDeep } from './json-scan.ts'
import { NO_NAME } from './name-codes.ts'
import { NewNames, tooManyUnknown } from './new-names.ts'
import { readKey } from './read-key.ts'
import { RecordPath, wrongShape } from './record-path.ts'
import type { SeenSets } from './seen-sets.ts'
import { extraOf, ownRow, type UnknownMember } from './unknown-members.ts'

/** Nesting allowed by default: a `History` 40 deep is 85 levels of JSON. */
export const DEFAULT_MAX_DEPTH = 256

export interface CheckOptions extends UnknownLimits {
  /** Deepest nesting of a record in JSON levels. @default 256 */
  readonly maxDepth?: number | undefined
  /** Leaves the quick way through figures out, to compare it with the careful one. @default false */
  readonly isCareful?: boolean | undefined
}

export interface CheckedRecord {
  /** The record's InternalId as written, without quotes. */
  readonly id: string
  /** Its number in the checker's `rows`. */
  readonly record: number
}

const POWER_OF_SCALE: ReadonlyMap<string, number> = new Map(
  Object.entries(FIGURE_SCALE).map(([scale, factor]) => [scale, Math.log10(factor)]),
)

/** Checks lines of one content. Holds the sets of a run and the drift since it was last taken. */
export class RecordChecker {
  readonly #scan = new JsonScan()
  readonly #root: CompiledObject
  readonly #content: Content
  readonly #seen: SeenSets
  readonly #maxDepth: number
  readonly #maxUnknown: number
  readonly #drift: DriftLog
  readonly #newNames: Readonly<Record<keyof SeenSets, NewNames>>
  readonly #figures: FiguresChecker
  /** Where accepted records go. Whoever takes them puts others there. */
  rows: BlockRows
  #unknown: UnknownMember[] = []
  readonly #path = new RecordPath()
  #row = 0
  #id = ''
  #cuts: number[] = []
  #country = NO_NAME
  #currency = NO_NAME
  #power = 0

  constructor(content: Content, seen: SeenSets, options: CheckOptions = {}) {
    this.#content = content
    this.#seen = seen
    this.rows = new BlockRows(seen)
    this.#maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH
    this.#maxUnknown = options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord
    this.#drift = new DriftLog(options)
    this.#newNames = {
      countries: new NewNames(seen.countries, this.#maxUnknown),
      currencies: new NewNames(seen.currencies, this.#maxUnknown),
      categories: new NewNames(seen.categories, this.#maxUnknown),
      lineItems: new NewNames(seen.lineItems, this.#maxUnknown),
    }
    this.#figures = new FiguresChecker(
      {
        scan: this.#scan,
        path: this.#path,
        seen,
        categories: this.#newNames.categories,
        lineItems: this.#newNames.lineItems,
        drift: this.#drift,
        maxDepth: this.#maxDepth,
      },
      options.isCareful !== true,
    )
    this.#root = compile(CONTENT[content])
  }

  /**
   * Checks the line of `buffer` from `start` to `end` (without its line end) and appends its record to `rows`.
   * @param next where the next line begins
   * @throws {Rejection} with the reason why the line cannot be loaded
   */
  check(buffer: Buffer, start: number, end: number, next = end): CheckedRecord {
    const scan = this.#scan
    scan.start(buffer, start, end)
    this.#startRecord(end - start)
    try {
      if (scan.token() !== 'object') throw wrongShape('The record', 'an object', scan.token())
      this.#object(this.#root, 1)
      if (scan.peek() !== -1) scan.notJson('A second document')
      if (this.#id === '') throw new Rejection('ID_MISSING', `Record has no ${this.#idPath()}`)
      if (this.hasFigures) this.#figures.finishRecord(this.rows, this.#power)
    } catch (error) {
      this.rows.dropRecord()
      throw error
    }
    return { id: this.#id, record: this.#keepRecord(start, next) }
  }

  /** Whether its records have figures. */
  get hasFigures(): boolean {
    return this.#content === 'companies'
  }

  #startRecord(sizeBytes: number): void {
    this.#path.clear()
    this.#row = 0
    this.#id = ''
    this.#cuts = []
    this.#country = NO_NAME
    this.#currency = NO_NAME
    this.#power = 0
    if (this.#unknown.length > 0) this.#unknown = []
    this.#drift.nextRecord()
    this.#figures.startRecord()
    const { countries, currencies, categories, lineItems } = this.#newNames
    countries.startRecord()
    currencies.startRecord()
    categories.startRecord()
    lineItems.startRecord()
    if (this.hasFigures) this.rows.startRecord(sizeBytes)
  }

  #keepRecord(start: number, next: number): number {
    const { countries, currencies, categories, lineItems } = this.#newNames
    const { figures } = this.rows
    if (countries.keep()) this.#country = countries.codeOf(this.#country)
    if (currencies.keep()) this.#currency = currencies.codeOf(this.#currency)
    if (categories.keep()) figures.recode(figures.category, (index) => categories.codeOf(index))
    if (lineItems.keep()) figures.recode(figures.lineItem, (index) => lineItems.codeOf(index))
    this.#drift.keepRecord()
    this.#figures.keepRecord()
    return this.rows.addRecord({
      id: this.#id,
      start,
      next,
      cuts: this.#cuts,
      country: this.#country,
      currency: this.#currency,
      extra: this.#unknown.length > 0 ? extraOf(this.#unknown) : undefined,
    })
  }

  /** What the codes of names in `rows` stand for. */
  get seen(): SeenSets {
    return this.#seen
  }

  /** What was seen outside the contract since the last call, most frequent first. */
  takeDrift(): Drift[] {
    return this.#drift.take()
  }

  /** Line items outside the contract since the last call. */
  takeUnknownItems(): UnknownItems {
    return this.#figures.takeUnknownItems()
  }

  /** Whether they are listed however many they are, or only as long as they are few. */
  listAllItems(all: boolean): void {
    this.#figures.listAllItems = all
  }

  #idPath(): string {
    return this.#content === 'companies' ? 'BasicDetails.InternalId' : 'InternalId'
  }

  #object(object: CompiledObject, depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { keys, fields } = object
    if (!scan.openObject()) return
    let seen = 0 // one bit a field: `compile` refuses objects of more than 32
    let names: Set<string> | undefined
    do {
      const index = readKey(scan, keys)
      if (index < 0) {
        const name = scan.keyText()
        names ??= new Set()
        if (names.has(name))
          throw duplicateKey(this.#path.parts.length > 0 ? this.#path.where() : 'The record')
        if (names.size >= this.#maxUnknown) throw tooManyUnknown(this.#maxUnknown)
        names.add(name)
        this.#unknownMember(name, depth)
        continue
      }
      const field = fields[index]!
      if ((seen & (1 << index)) !== 0) throw duplicateKey(`Object with "${this.#path.where(field.name)}"`)
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
        if (token !== 'text') throw wrongShape(this.#path.where(known.name), 'text', token)
        this.#text(known)
        return
      case 'date-time':
        if (token !== 'text') throw wrongShape(this.#path.where(known.name), 'text', token)
        scan.skipText()
        return
      case 'integer':
        this.#integer(known)
        return
      case 'number':
        checkNumber(this.#scan, this.#path, known.name)
        return
      case 'boolean':
        if (token !== 'boolean') throw wrongShape(this.#path.where(known.name), 'true or false', token)
        scan.skipWord()
        return
      case 'object':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#part(known, depth)
        return
      case 'series':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#figures.headcounts(known.field, depth + 1, this.rows)
        this.#path.pop()
        return
      case 'financials':
        if (token !== 'object') throw wrongShape(this.#path.where(known.name), 'an object', token)
        this.#path.push(known.name)
        this.#cuts.push(scan.at)
        this.#figures.statement(known.field, depth + 1, this.rows)
        this.#cuts.push(scan.at)
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
    const escaped = scan.skipText()
    const end = scan.at - 1
    const { field } = known
    if (field === META_DATA.fields.FinancialFigureScale) this.#power = powerOf(scan.textOf(start, end))
    else if (field === META_DATA.fields.CurrentCurrencyCode)
      this.#currency = this.#codeOf('currencies', start, end, escaped)
    else if (field === BASIC_DETAILS.fields.CountryCode)
      this.#country = this.#codeOf('countries', start, end, escaped)
    else if (known.codes !== undefined) {
      const value = scan.textOf(start, end)
      if (!known.codes.has(value)) this.#drift.saw('code', `${known.name}=${value}`)
    }
  }

  #codeOf(set: keyof SeenSets, start: number, end: number, escaped: boolean): number {
    const name = escaped ? Buffer.from(this.#scan.textOf(start, end)) : undefined
    const code =
      name === undefined
        ? this.#seen[set].find(this.#scan.buffer, start, end)
        : this.#seen[set].find(name, 0, name.length)
    return code >= 0 ? code : this.#newNames[set].indexOf(this.#scan.textOf(start, end), start)
  }

  /** A whole number of 64 bits; in quotes it is read as the number. */
  #integer(known: CompiledField): void {
    const scan = this.#scan
    const isId = known.name === 'InternalId'
    const quoted = scan.token() === 'text'
    const start = quoted ? scan.at + 1 : scan.at
    const form = checkNumber(this.#scan, this.#path, known.name)
    const written = scan.buffer.toString('latin1', start, quoted ? scan.at - 1 : scan.at)
    let digits = written
    if (form !== 'whole') {
      const value = Number(written)
      // DuckDB takes 1E2 for a whole number, but in quotes only digits.
      if (quoted || !Number.isSafeInteger(value)) {
        throw new Rejection(
          isId ? 'ID_NOT_WHOLE' : 'NOT_WHOLE',
          `${this.#path.where(known.name)} is no whole number`,
        )
      }
      digits = String(value)
    } else if (digits.length > 18 && BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
      throw new Rejection(
        isId ? 'ID_NOT_WHOLE' : 'NOT_WHOLE',
        `${this.#path.where(known.name)} needs more than 64 bits`,
      )
    }
    if (isId && this.#row === 0 && this.#path.parts.length === (this.#content === 'companies' ? 1 : 0)) {
      if (this.#content === 'relations' || this.#path.parts[0] === 'BasicDetails')
        this.#id = digits === '-0' ? '0' : digits
    } else if (known.codes !== undefined && digits !== '0' && !known.codes.has(digits)) {
      this.#drift.saw('code', `${known.name}=${digits}`)
    }
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
    if (token !== 'list') throw wrongShape(this.#path.where(known.name), 'a list', token)
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
        else throw wrongShape(this.#path.where(index), 'text', item)
      } else if (masked && item === 'text') {
        this.#mask(index, 'an object')
      } else {
        if (item !== 'object') throw wrongShape(this.#path.where(index), 'an object', item)
        this.#path.push(index)
        const row = this.#row
        if (known.ownTable) this.#row = this.#path.parts.length
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

  /** The text that stands for personal data in place of what is `expected`. */
  #mask(name: string | number, expected: string): void {
    const scan = this.#scan
    const start = scan.at + 1
    scan.skipText()
    if (scan.textOf(start, scan.at - 1) !== PROTECTED_IDENTITY) {
      throw wrongShape(this.#path.where(name), expected, 'text')
    }
  }

  #unknownMember(name: string, depth: number): void {
    const scan = this.#scan
    const isNull = scan.token() === 'null'
    const start = scan.at
    scan.skipValue(depth, this.#maxDepth)
    if (isNull) return
    this.#keepUnknown(name, start)
    this.#drift.saw('field', this.#path.where(name).replace(/\[\d+\]/g, '[]'))
  }

  #keepUnknown(name: string, start: number): void {
    const parts = this.#path.parts.map(String)
    this.#unknown.push({
      row:
        this.#row === 0 ? ownRow(this.#content, parts[0] ?? name) : `/${parts.slice(0, this.#row).join('/')}`,
      path: [...parts.slice(this.#row), name],
      raw: this.#scan.buffer.toString('utf8', start, this.#scan.at),
    })
  }
}

/** The exponent of a scale. @throws {Rejection} SCALE_UNKNOWN */
const powerOf = (scale: string): number => {
  const power = POWER_OF_SCALE.get(scale)
  if (power !== undefined) return power
  throw new Rejection('SCALE_UNKNOWN', 'MetaData.FinancialFigureScale is not in the contract')
}
