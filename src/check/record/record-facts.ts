/**
 * Facts that a record says of itself and its rows need: its id, country, currency and scale. Checks the texts and whole numbers
 * that these stand in, and the codes of all others against the dictionaries.
 */

import { FIGURE_SCALE } from '../../contract/dictionaries.ts'
import { BASIC_DETAILS, type Content, META_DATA } from '../../contract/objects.ts'
import { KeyTable } from '../../rows/key-table.ts'
import { NO_NAME, type SeenSets } from '../../rows/seen-sets.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import type { DriftLog, NewNames } from '../drift/drift-log.ts'
import { type JsonScan, Rejection } from '../scan/json-scan.ts'
import { findName } from '../scan/read-key.ts'
import { checkNumber, type RecordPath } from '../scan/record-path.ts'
import type { CompiledField } from './compiled-contract.ts'

/** State that the checks of a record's parts share. */
export interface CheckContext {
  readonly content: Content
  readonly scan: JsonScan
  readonly path: RecordPath
  readonly seen: SeenSets
  readonly newNames: Readonly<Record<keyof SeenSets, NewNames>>
  readonly drift: DriftLog
  readonly maxDepth: number
  /** Most names of a record that the contract does not know. */
  readonly maxUnknown: number
  /** Stamps that are later are left out, in milliseconds since 1970. @default none */
  readonly stampsUntil: number | undefined
}

const { ZERO } = JSON_BYTES

const SCALES = new KeyTable(Object.keys(FIGURE_SCALE))
/** Exponents of the scales, in the order of `SCALES`. */
const POWERS = Object.values(FIGURE_SCALE).map(Math.log10)

/** The objects down to a record's own id. */
const ID_PATH = { companies: ['BasicDetails'], relations: [] } as const
const LONGEST_SAFE = 18

export class RecordFacts {
  readonly #context: CheckContext
  /** InternalId as written, without quotes; empty until it is seen. */
  id = ''
  country = NO_NAME
  currency = NO_NAME
  /** Exponent of the scale, from 0 to 9. */
  power = 0

  constructor(context: CheckContext) {
    this.#context = context
  }

  startRecord(): void {
    this.id = ''
    this.country = NO_NAME
    this.currency = NO_NAME
    this.power = 0
  }

  /** @throws {Rejection} ID_MISSING */
  expectId(): void {
    if (this.id !== '') return
    const path = [...ID_PATH[this.#context.content], 'InternalId'].join('.')
    throw new Rejection('ID_MISSING', `Record has no ${path}`)
  }

  /** Steps over the text at the cursor. @throws {Rejection} NOT_JSON, SCALE_UNKNOWN, TOO_MANY_UNKNOWN */
  text({ name, field, codes }: CompiledField): void {
    const { scan, drift } = this.#context
    const start = scan.at + 1
    const escaped = scan.skipText()
    const end = scan.at - 1
    if (field === META_DATA.fields.FinancialFigureScale) this.power = this.#powerOf(start, end, escaped)
    else if (field === META_DATA.fields.CurrentCurrencyCode)
      this.currency = this.#codeOf('currencies', start, end, escaped)
    else if (field === BASIC_DETAILS.fields.CountryCode)
      this.country = this.#codeOf('countries', start, end, escaped)
    else if (codes !== undefined && findName(scan, codes, escaped, start, end) < 0)
      drift.saw('code', `${name}=${scan.textOf(start, end)}`)
  }

  #powerOf(start: number, end: number, escaped: boolean): number {
    const power = POWERS[findName(this.#context.scan, SCALES, escaped, start, end)]
    if (power !== undefined) return power
    throw new Rejection('SCALE_UNKNOWN', 'MetaData.FinancialFigureScale is not in the contract')
  }

  #codeOf(set: keyof SeenSets, start: number, end: number, escaped: boolean): number {
    const { scan, seen, newNames } = this.#context
    const code = findName(scan, seen[set], escaped, start, end)
    return code >= 0 ? code : newNames[set].indexOf(scan.textOf(start, end), start)
  }

  /**
   * Steps over a whole number of 64 bits; in quotes it is read as the number.
   * @throws {Rejection} as `checkNumber`; ID_NOT_WHOLE, NOT_WHOLE, TOO_MANY_UNKNOWN
   */
  integer({ name, codes }: CompiledField): void {
    const { scan, path, drift } = this.#context
    const isId = name === 'InternalId'
    const quoted = scan.token() === 'text'
    const start = quoted ? scan.at + 1 : scan.at
    const form = checkNumber(scan, path, name)
    const isOwn = isId && this.#isOwn()
    const isShort = form === 'whole' && scan.at - start <= LONGEST_SAFE
    const end = quoted ? scan.at - 1 : scan.at
    if (isShort && !isOwn && (codes === undefined || isKnown(codes, scan.buffer, start, end))) return
    const written = scan.buffer.toString('latin1', start, end)
    const refused = (why: string): Rejection =>
      new Rejection(isId ? 'ID_NOT_WHOLE' : 'NOT_WHOLE', `${path.where(name)} ${why}`)
    let digits = written
    if (form !== 'whole') {
      const value = Number(written)
      // DuckDB takes 1E2 for a whole number, but in quotes only digits.
      if (quoted || !Number.isSafeInteger(value)) throw refused('is no whole number')
      digits = String(value)
    } else if (digits.length > LONGEST_SAFE && BigInt.asIntN(64, BigInt(digits)) !== BigInt(digits)) {
      throw refused('needs more than 64 bits')
    }
    if (isOwn) this.id = digits === '-0' ? '0' : digits
    else if (codes !== undefined && digits !== '0' && !codes.names.includes(digits))
      drift.saw('code', `${name}=${digits}`)
  }

  /** Whether the checker stands where the record's own id does. */
  #isOwn(): boolean {
    const { content, path } = this.#context
    const own = ID_PATH[content]
    return path.parts.length === own.length && path.parts[0] === own[0]
  }
}

/** A code of 0 says that there is none. */
const isKnown = (codes: KeyTable, buffer: Buffer, start: number, end: number): boolean =>
  codes.find(buffer, start, end) >= 0 || (buffer[start] === ZERO && end - start === 1)
