/**
 * The time series of a record: checks each and takes its figures into the columns in the same pass. Nearly all stand in
 * the plain form; this is the careful way for all others, into the same columns.
 */

import { CONSOLIDATIONS } from '../../contract/dictionaries.ts'
import type { Field } from '../../contract/fields.ts'
import { COMPANY, ENHANCED_DETAILS } from '../../contract/objects.ts'
import { itemKey, type LineItemKey, type UnknownItems } from '../../core/unknown-names.ts'
import type { BlockRows } from '../../rows/block-rows.ts'
import { isInContract, type SeenSets, scaledCategories } from '../../rows/seen-sets.ts'
import type { SeriesRows } from '../../rows/series-rows.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { type DriftLog, ItemLog, type NewNames } from '../drift/drift-log.ts'
import { duplicateKey, type JsonScan, notFinite, Rejection, tooDeep } from '../scan/json-scan.ts'
import { readKey } from '../scan/read-key.ts'
import { checkNumber, type RecordPath, wrongShape } from '../scan/record-path.ts'
import { PlainFigures, plainSeries } from './plain-figures.ts'

const { MINUS, ZERO } = JSON_BYTES

/** Pairs outside the contract whose texts are kept ready. */
const MOST_PAIRS = 20_000

/** The place in `CONSOLIDATIONS` that a field with figures stands for. */
const CONSOLIDATION_OF: ReadonlyMap<Field, number> = new Map<Field, number>([
  ...CONSOLIDATIONS.map(({ field }, at) => [COMPANY.fields[field], at] as const),
  ...CONSOLIDATIONS.map(({ employees }, at) => [ENHANCED_DETAILS.fields[employees], at] as const),
])
const consolidationOf = (field: Field): number => {
  const found = CONSOLIDATION_OF.get(field)
  if (found === undefined) throw new TypeError('Cannot check figures of a field that has no consolidation')
  return found
}

const SCALED_CATEGORIES = scaledCategories()

interface UnknownPair {
  readonly name: string
  readonly key: string
  readonly item: LineItemKey
}

/** State that the check of a record's figures shares with that of the rest of the record. */
export interface FiguresContext {
  readonly scan: JsonScan
  readonly path: RecordPath
  readonly seen: SeenSets
  readonly categories: NewNames
  readonly lineItems: NewNames
  readonly drift: DriftLog
  readonly maxDepth: number
}

export class FiguresChecker {
  readonly #context: FiguresContext
  readonly #plain = new PlainFigures()
  readonly #items = new ItemLog()
  readonly #isPlain: boolean
  /** Pairs outside the contract, keyed by `category index * 2^26 + item index` so that counting makes no text. */
  readonly #unknownPairs = new Map<number, UnknownPair>()
  #stamp = 0
  readonly #stamps: number[] = []

  /** @param isPlain whether the quick way may be taken; without it every figure goes the careful way @default true */
  constructor(context: FiguresContext, isPlain = true) {
    this.#context = context
    this.#isPlain = isPlain
  }

  startRecord(): void {
    this.#items.nextRecord()
  }

  keepRecord(): void {
    this.#items.keepRecord()
  }

  /** Line items outside the contract since the last call. */
  takeUnknownItems(): UnknownItems {
    return this.#items.take()
  }

  set listAllItems(all: boolean) {
    this.#items.listAll = all
  }

  /** Checks the statement at the cursor. */
  statement(field: Field, depth: number, { figures }: BlockRows): void {
    const { scan, maxDepth } = this.#context
    const consolidation = consolidationOf(field)
    const isDeepEnough = depth + 2 <= maxDepth
    const end =
      this.#isPlain && isDeepEnough
        ? this.#plain.read(scan.buffer, scan.view, scan.at, consolidation, figures)
        : 0
    if (end > 0) scan.at = end
    else this.#categories(depth, consolidation, figures)
  }

  /** Checks the headcounts at the cursor. */
  headcounts(field: Field, depth: number, { headcounts }: BlockRows): void {
    this.#series(depth, headcounts)
    headcounts.endSeries(consolidationOf(field), 0, 0)
  }

  /**
   * Ends an accepted record: its figures get their values.
   * @param power of the record's scale, 0 to 9
   * @throws {Rejection} NOT_FINITE where a scaled figure is larger than any number
   */
  finishRecord({ figures, headcounts }: BlockRows, power: number): void {
    const { scan, categories, lineItems } = this.#context
    headcounts.finishRecord(scan.buffer, 0, SCALED_CATEGORIES)
    const overflow = figures.finishRecord(scan.buffer, power, SCALED_CATEGORIES)
    if (overflow < 0) return
    const series = figures.seriesOf(overflow)
    const { statement, category, lineItem } = figures.series.columns
    const names = [
      CONSOLIDATIONS[statement[series]!]?.field,
      categories.nameOf(category[series]!),
      lineItems.nameOf(lineItem[series]!),
      figures.figures.columns.year[overflow],
    ]
    throw notFinite(names.join('.'))
  }

  #categories(depth: number, consolidation: number, rows: SeriesRows): void {
    const { scan, path, seen, categories, maxDepth } = this.#context
    if (depth > maxDepth) throw tooDeep(maxDepth)
    if (!scan.open()) return
    const found = new Set<number>()
    do {
      let category = readKey(scan, seen.categories)
      if (category < 0) category = categories.indexOf(scan.keyText(), scan.keyStart)
      if (found.has(category)) throw duplicateKey(path.where(categories.nameOf(category)))
      found.add(category)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object')
        throw wrongShape(path.where(categories.nameOf(category)), 'an object', token)
      else this.#lineItems(category, depth + 1, consolidation, rows)
    } while (scan.moreMembers())
  }

  #lineItems(category: number, depth: number, consolidation: number, rows: SeriesRows): void {
    const { scan, path, seen, categories, lineItems, maxDepth } = this.#context
    if (depth > maxDepth) throw tooDeep(maxDepth)
    if (!scan.open()) return
    const stamp = ++this.#stamp
    do {
      let item = readKey(scan, seen.lineItems)
      if (item < 0) item = lineItems.indexOf(scan.keyText(), scan.keyStart)
      const where = (): string => path.where(categories.nameOf(category), lineItems.nameOf(item))
      if (this.#stamps[item] === stamp) throw duplicateKey(where())
      this.#stamps[item] = stamp
      if (!isInContract(category, item)) this.#sawUnknown(category, item)
      const token = scan.token()
      if (token === 'null') scan.skipWord()
      else if (token !== 'object') throw wrongShape(where(), 'an object', token)
      else {
        path.push(categories.nameOf(category))
        path.push(lineItems.nameOf(item))
        this.#series(depth + 1, rows)
        path.pop()
        path.pop()
        rows.endSeries(consolidation, category, item)
      }
    } while (scan.moreMembers())
  }

  #sawUnknown(category: number, item: number): void {
    const pair = category * 0x4000000 + item
    let unknown = this.#unknownPairs.get(pair)
    if (unknown === undefined) {
      const { seen, categories, lineItems } = this.#context
      const names = { category: categories.nameOf(category), lineItem: lineItems.nameOf(item) }
      unknown = { name: `${names.category}.${names.lineItem}`, key: itemKey(names), item: names }
      // The index of a name that the record brings may be another's in the next one.
      const lasting = category < seen.categories.names.length && item < seen.lineItems.names.length
      if (lasting && this.#unknownPairs.size < MOST_PAIRS) this.#unknownPairs.set(pair, unknown)
    }
    this.#items.saw(unknown.key, unknown.item)
    this.#context.drift.saw('line-item', unknown.name)
  }

  /** Fiscal year → number. */
  #series(depth: number, rows: SeriesRows): void {
    const { scan, path, maxDepth } = this.#context
    if (depth > maxDepth) throw tooDeep(maxDepth)
    const plain = this.#isPlain ? plainSeries(scan.buffer, scan.view, scan.at, rows) : 0
    if (plain > 0) {
      scan.at = plain
      return
    }
    if (!scan.open()) return
    const years = new Set<string>()
    do {
      scan.skipKey()
      const year = scan.keyText()
      if (!/^[1-9]\d{3}$/.test(year)) {
        throw new Rejection('YEAR_INVALID', `${path.where()} has a fiscal year that is no year`)
      }
      if (years.has(year)) throw duplicateKey(path.where(year))
      years.add(year)
      if (scan.token() === 'null') scan.skipWord()
      else this.#figure(year, rows)
    } while (scan.moreMembers())
  }

  #figure(year: string, rows: SeriesRows): void {
    const { scan, path } = this.#context
    const isQuoted = scan.token() === 'text'
    const start = isQuoted ? scan.at + 1 : scan.at
    const form = checkNumber(scan, path, year)
    // A whole number has no negative zero.
    const isMinusZero =
      !isQuoted && form === 'whole' && scan.buffer[start] === MINUS && scan.buffer[start + 1] === ZERO
    rows.addText(Number(year), isMinusZero ? start + 1 : start)
  }
}
