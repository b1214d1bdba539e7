/**
 * Checks one line against the contract, byte by byte, before DuckDB reads it: strict JSON, every value of the
 * declared type, no key twice, known scale, real years. Collects what the contract does not know. Makes no
 * objects of good lines: at hundreds of megabytes a second this pass is what makes DuckDB's own reading safe,
 * which takes a boolean for a number, rounds a fraction in an id and drops a second key without a word.
 */

import { FIGURE_SCALE } from '../contract/dictionaries.ts'
import { LINE_ITEMS } from '../contract/line-items.ts'
import { COMPANY, CONTENT, type Content, PROTECTED_IDENTITY } from '../contract/objects.ts'
import type { Drift } from '../core/partition.ts'
import { itemKey, type LineItemKey, UNKNOWN_LIMITS, type UnknownItems } from '../core/unknown-names.ts'
import { type CompiledField, type CompiledObject, compile } from './compiled-contract.ts'
import { DriftLog, type UnknownLimits } from './drift-log.ts'
import { type ExactFigure, exactFigures, type StatementRange, SURE_CHARACTERS } from './exact-figures.ts'
import { ItemLog } from './item-log.ts'
import { duplicateKey, JsonScan, notFinite, Rejection, tooDeep } from './json-scan.ts'
import type { KeyTable } from './key-table.ts'
import { NewNames, tooManyUnknown } from './new-names.ts'
import { plainSeriesEnd } from './plain-series.ts'
import type { SeenSets } from './seen-sets.ts'
import { extraOf, ownRow, type UnknownMember } from './unknown-members.ts'

/** Nesting allowed by default: a `History` 40 deep is 85 levels of JSON. */
export const DEFAULT_MAX_DEPTH = 256

export interface CheckOptions extends UnknownLimits {
  /** Deepest nesting of a record in JSON levels. @default 256 */
  readonly maxDepth?: number | undefined
}

export interface CheckedRecord {
  /** The record's InternalId as written, without quotes. */
  readonly id: string
  /** The `extra` column as JSON text; absent where the contract knows every field. */
  readonly extra: string | undefined
  /** Where its figures stand in the buffer, in order. */
  readonly figures: readonly StatementRange[]
  /** Scaled figures whose value does not follow from their double; of nearly all records none. */
  readonly exact: readonly ExactFigure[]
}

const CONTRACT_ITEMS = new Set(LINE_ITEMS.map(({ category, lineItem }) => `${category}.${lineItem}`))
const QUOTE = 0x22
/** Pairs outside the contract whose texts are kept ready. */
const MOST_PAIRS = 20_000
const NONE: readonly ExactFigure[] = []
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
  readonly #items = new ItemLog()
  readonly #newNames: Readonly<Record<keyof SeenSets, NewNames>>
  #unknown: UnknownMember[] = []
  #path: (string | number)[] = []
  #row = 0
  #id = ''
  #figures: StatementRange[] = []
  #power = 0
  #hasLongFigures = false
  /** `category index * 2^26 + item index` of pairs outside the contract, to count them without a text. */
  readonly #unknownPairs = new Map<
    number,
    { readonly name: string; readonly key: string; readonly item: LineItemKey }
  >()
  readonly #contractPairs = new Set<number>()
  #stamp = 0
  readonly #stamps: number[] = []

  constructor(content: Content, seen: SeenSets, options: CheckOptions = {}) {
    this.#content = content
    this.#seen = seen
    this.#maxDepth = options.maxDepth ?? DEFAULT_MAX_DEPTH
    this.#maxUnknown = options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord
    this.#drift = new DriftLog(options)
    this.#newNames = {
      countries: new NewNames(seen.countries, this.#maxUnknown),
      currencies: new NewNames(seen.currencies, this.#maxUnknown),
      categories: new NewNames(seen.categories, this.#maxUnknown),
      lineItems: new NewNames(seen.lineItems, this.#maxUnknown),
    }
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
    this.#power = 0
    this.#hasLongFigures = false
    if (this.#unknown.length > 0) this.#unknown = []
    this.#drift.nextRecord()
    this.#items.nextRecord()
    this.#eachNewNames((names) => names.forget())
    if (scan.token() !== 'object') throw wrongShape('The record', 'an object', scan.token())
    this.#object(this.#root, 1)
    if (scan.peek() !== -1) scan.notJson('A second document')
    if (this.#id === '') throw new Rejection('ID_MISSING', `Record has no ${this.#idPath()}`)
    const exact =
      this.#hasLongFigures && this.#power > 0 ? exactFigures(scan, this.#figures, this.#power) : NONE
    this.#eachNewNames((names) => names.keep())
    this.#drift.keepRecord()
    this.#items.keepRecord()
    return {
      id: this.#id,
      extra: this.#unknown.length > 0 ? extraOf(this.#unknown) : undefined,
      figures: this.#figures,
      exact,
    }
  }

  /** What was seen outside the contract since the last call, most frequent first. */
  takeDrift(): Drift[] {
    return this.#drift.take()
  }

  /** Line items outside the contract since the last call. */
  takeUnknownItems(): UnknownItems {
    return this.#items.take()
  }

  /** Whether they are listed however many they are, or only as long as they are few. */
  listAllItems(all: boolean): void {
    this.#items.listAll = all
  }

  #idPath(): string {
    return this.#content === 'companies' ? 'BasicDetails.InternalId' : 'InternalId'
  }

  #eachNewNames(act: (names: NewNames) => void): void {
    const { countries, currencies, categories, lineItems } = this.#newNames
    act(countries)
    act(currencies)
    act(categories)
    act(lineItems)
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
    let seen = 0 // one bit a field: `compile` refuses objects of more than 32
    let names: Set<string> | undefined
    do {
      const index = this.#key(keys)
      const start = this.#keyStart
      if (index < 0) {
        const name = this.#scan.textOf(start, scan.keyEnd)
        names ??= new Set()
        if (names.has(name)) throw duplicateKey(this.#path.length > 0 ? this.#here() : 'The record')
        if (names.size >= this.#maxUnknown) throw tooManyUnknown(this.#maxUnknown)
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
        this.#statement(known.name, depth + 1)
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
      if (known.name === 'FinancialFigureScale') {
        const power = POWER_OF_SCALE.get(value)
        if (power === undefined) {
          throw new Rejection('SCALE_UNKNOWN', 'MetaData.FinancialFigureScale is not in the contract')
        }
        this.#power = power
      } else if (!known.codes.has(value)) {
        this.#drift.saw('code', `${known.name}=${value}`)
      }
    } else if (this.#content === 'companies') {
      if (known.name === 'CurrentCurrencyCode') this.#see('currencies', start, end)
      else if (known.name === 'CountryCode' && this.#path.length === 1) this.#see('countries', start, end)
    }
  }

  #see(set: keyof SeenSets, start: number, end: number): void {
    if (this.#seen[set].find(this.#scan.buffer, start, end) < 0)
      this.#newNames[set].indexOf(this.#scan.textOf(start, end))
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
      this.#drift.saw('code', `${known.name}=${digits}`)
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
    this.#drift.saw('field', this.#where(name).replace(/\[\d+\]/g, '[]'))
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

  #statement(field: string, depth: number): void {
    const from = this.#scan.at
    this.#financials(depth)
    this.#figures.push({ field, from, to: this.#scan.at })
  }

  #financials(depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { categories } = this.#newNames
    if (!scan.openObject()) return
    const seen = new Set<number>()
    do {
      let category = this.#key(this.#seen.categories)
      if (category < 0) category = categories.indexOf(this.#scan.textOf(this.#keyStart, scan.keyEnd))
      if (seen.has(category)) throw duplicateKey(this.#where(categories.nameOf(category)))
      seen.add(category)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object')
        throw wrongShape(this.#where(categories.nameOf(category)), 'an object', token)
      else this.#lineItems(category, depth + 1)
    } while (scan.moreMembers())
  }

  #lineItems(category: number, depth: number): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const { categories, lineItems } = this.#newNames
    if (!scan.openObject()) return
    const stamp = ++this.#stamp
    do {
      let item = this.#key(this.#seen.lineItems)
      if (item < 0) item = lineItems.indexOf(this.#scan.textOf(this.#keyStart, scan.keyEnd))
      if (this.#stamps[item] === stamp) {
        throw duplicateKey(this.#where(`${categories.nameOf(category)}.${lineItems.nameOf(item)}`))
      }
      this.#stamps[item] = stamp
      const pair = category * 0x4000000 + item
      if (!this.#contractPairs.has(pair)) this.#unknownPair(pair, category, item)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object') {
        throw wrongShape(
          this.#where(`${categories.nameOf(category)}.${lineItems.nameOf(item)}`),
          'an object',
          token,
        )
      } else this.#series(depth + 1, category, item)
    } while (scan.moreMembers())
  }

  #unknownPair(pair: number, category: number, item: number): void {
    let unknown = this.#unknownPairs.get(pair)
    if (unknown === undefined) {
      const categoryName = this.#newNames.categories.nameOf(category)
      const lineItem = this.#newNames.lineItems.nameOf(item)
      const name = `${categoryName}.${lineItem}`
      if (CONTRACT_ITEMS.has(name)) {
        this.#contractPairs.add(pair)
        return
      }
      const names = { category: categoryName, lineItem }
      unknown = { name, key: itemKey(names), item: names }
      // The index of a name that the record brings may be another's in the next one.
      const { categories, lineItems } = this.#seen
      const lasting = category < categories.names.length && item < lineItems.names.length
      if (lasting && this.#unknownPairs.size < MOST_PAIRS) this.#unknownPairs.set(pair, unknown)
    }
    this.#items.saw(unknown.key, unknown.item)
    this.#drift.saw('line-item', unknown.name)
  }

  /** Fiscal year → number; of figures the category and line item, to say where. */
  #series(depth: number, category = -1, item = -1): void {
    if (depth > this.#maxDepth) throw tooDeep(this.#maxDepth)
    const scan = this.#scan
    const plain = plainSeriesEnd(scan.buffer, scan.view, scan.at)
    if (plain !== 0) {
      scan.at = Math.abs(plain)
      if (plain < 0) this.#hasLongFigures = true
      return
    }
    if (!scan.openObject()) return
    const path = this.#path
    if (category >= 0) {
      const { categories, lineItems } = this.#newNames
      this.#path = [...path, categories.nameOf(category), lineItems.nameOf(item)]
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
      else this.#figure(year)
    } while (scan.moreMembers())
    this.#path = path
  }

  #figure(year: string): void {
    const scan = this.#scan
    const start = scan.at
    if (this.#number(year) === 'check' || scan.at - start > SURE_CHARACTERS) this.#hasLongFigures = true
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
