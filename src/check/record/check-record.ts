/**
 * Checks one line against the contract, byte by byte, before DuckDB reads it: strict JSON, every value of the
 * declared type, no key twice, known scale, real years. Collects what the contract does not know. Makes no
 * objects of good lines: at hundreds of megabytes a second this pass is what makes DuckDB's own reading safe,
 * which takes a boolean for a number, rounds a fraction in an id and drops a second key without a word.
 */

import { CONTENT, type Content } from '../../contract/objects.ts'
import type { Drift } from '../../core/partition.ts'
import { UNKNOWN_LIMITS, type UnknownItems } from '../../core/unknown-names.ts'
import { BlockRows } from '../../rows/block-rows.ts'
import type { SeenSets } from '../../rows/seen-sets.ts'
import { type CheckOptions, DEFAULT_MAX_DEPTH } from '../drift/check-options.ts'
import { DriftLog, NewNames } from '../drift/drift-log.ts'
import { FiguresChecker } from '../figures/check-figures.ts'
import { JsonScan } from '../scan/json-scan.ts'
import { RecordPath, wrongShape } from '../scan/record-path.ts'
import { ObjectChecker } from './check-object.ts'
import { type CompiledObject, compile } from './compiled-contract.ts'
import { type CheckContext, RecordFacts } from './record-facts.ts'

export interface CheckedRecord {
  /** The record's InternalId as written, without quotes. */
  readonly id: string
  /** Number of the record in the checker's `rows`. */
  readonly record: number
}

/** Checks lines of one content. Holds the sets of a run and the drift since it was last taken. */
export class RecordChecker {
  /** The rows that accepted records are added to. Who takes them sets new ones. */
  rows: BlockRows
  readonly #root: CompiledObject
  readonly #context: CheckContext
  readonly #facts: RecordFacts
  readonly #figures: FiguresChecker
  readonly #objects: ObjectChecker

  constructor(content: Content, seen: SeenSets, options: CheckOptions = {}) {
    const maxUnknown = options.maxUnknownPerRecord ?? UNKNOWN_LIMITS.perRecord
    const context = {
      ...{ content, seen, maxUnknown },
      scan: new JsonScan(),
      path: new RecordPath(),
      newNames: {
        countries: new NewNames(seen.countries, maxUnknown),
        currencies: new NewNames(seen.currencies, maxUnknown),
        categories: new NewNames(seen.categories, maxUnknown),
        lineItems: new NewNames(seen.lineItems, maxUnknown),
      },
      drift: new DriftLog(options),
      maxDepth: options.maxDepth ?? DEFAULT_MAX_DEPTH,
      stampsUntil: options.stampsUntil,
    }
    this.#root = compile(CONTENT[content])
    this.rows = new BlockRows(seen)
    this.#context = context
    this.#facts = new RecordFacts(context)
    this.#figures = new FiguresChecker({ ...context, ...context.newNames }, options.isCareful !== true)
    this.#objects = new ObjectChecker(context, this.#facts, this.#figures, this.rows)
  }

  /**
   * Checks the line of `buffer` from `start` to `end` (without its line end) and appends its record to `rows`.
   * @param next where the next line begins
   * @throws {Rejection} with the reason why the line cannot be loaded
   */
  check(buffer: Buffer, start: number, end: number, next = end): CheckedRecord {
    const { scan } = this.#context
    scan.start(buffer, start, end)
    this.#startRecord(end - start)
    try {
      if (scan.token() !== 'object') throw wrongShape('The record', 'an object', scan.token())
      this.#objects.check(this.#root, 1)
      if (scan.peek() !== -1) scan.notJson('A second document')
      this.#facts.expectId()
      if (this.hasFigures) this.#figures.finishRecord(this.rows, this.#facts.power)
      this.rows.objects.endRecord()
    } catch (error) {
      this.rows.dropRecord()
      throw error
    }
    return { id: this.#facts.id, record: this.#keepRecord(start, next) }
  }

  /** Whether its records have figures. */
  get hasFigures(): boolean {
    return this.#context.content === 'companies'
  }

  #startRecord(sizeBytes: number): void {
    const { path, drift, newNames } = this.#context
    path.clear()
    this.#facts.startRecord()
    this.#objects.startRecord(this.rows)
    drift.nextRecord()
    this.#figures.startRecord()
    newNames.countries.startRecord()
    newNames.currencies.startRecord()
    newNames.categories.startRecord()
    newNames.lineItems.startRecord()
    this.rows.startRecord(this.hasFigures ? sizeBytes : 0)
  }

  #keepRecord(start: number, next: number): number {
    const { countries, currencies, categories, lineItems } = this.#context.newNames
    const { figures } = this.rows
    let { country, currency } = this.#facts
    if (countries.keep()) country = countries.codeOf(country)
    if (currencies.keep()) currency = currencies.codeOf(currency)
    if (categories.keep()) figures.recode('category', (index) => categories.codeOf(index))
    if (lineItems.keep()) figures.recode('lineItem', (index) => lineItems.codeOf(index))
    this.#context.drift.keepRecord()
    this.#figures.keepRecord()
    const { extra, stamp } = this.#objects
    return this.rows.addRecord({ id: this.#facts.id, start, next, country, currency, extra, stamp })
  }

  /** The names that the codes in `rows` stand for. */
  get seen(): SeenSets {
    return this.#context.seen
  }

  /** Names outside the contract since the last call, most frequent first. */
  takeDrift(): Drift[] {
    return this.#context.drift.take()
  }

  /** Line items outside the contract since the last call. */
  takeUnknownItems(): UnknownItems {
    return this.#figures.takeUnknownItems()
  }

  /** Whether they are listed however many they are, or only as long as they are few. */
  listAllItems(all: boolean): void {
    this.#figures.listAllItems = all
  }
}
