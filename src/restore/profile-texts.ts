/**
 * Profiles of a slice's companies as JSON texts: all of a record but its figures. Read as columns in whatever order they stand, held
 * as bytes, and given in the order of ids.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { RawChunk } from '../core/sink.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { sliceView } from '../lake/slices/slices.ts'
import { COMPANY_COLUMNS, type FieldColumn } from '../lake/tables/columns.ts'
import { factorOf, numberText } from '../lake/tables/value-sql.ts'
import { ByteWriter } from '../support/buffers.ts'
import { type JsonPart, membersAt } from '../support/json-bytes.ts'
import { idsOf, Strings, verbatimStrings } from './column-texts.ts'
import { setMembers } from './merge-patch.ts'
import type { CompanySeries } from './nested-series.ts'
import {
  ColumnStrings,
  type Member,
  MembersWriter,
  membersOf,
  membersOfRow,
  selectedColumns,
} from './object-texts.ts'
import { Headcounts, type Owner } from './slice-figures.ts'

/** The series of consolidated and of unconsolidated headcounts. */
const EMPLOYEE_SERIES = CONSOLIDATIONS.map(({ employees }) => employees)

/** A company's texts but for its figures. They stand until the next slice is read. */
export interface Profile {
  readonly id: bigint
  /** JSON text of MetaData.CurrentCurrencyCode; undefined where the record has none, as all that follow. */
  readonly currency: Uint8Array | undefined
  /** Object text of MetaData's other members. */
  readonly meta: Uint8Array | undefined
  /** Object text of everything else but figures and Score: BasicDetails, EnhancedDetails, LinkedIn, unknown fields. */
  readonly rest: Uint8Array
  /** JSON text of Score. */
  readonly score: Uint8Array | undefined
}

const CURRENCY = 'CurrentCurrencyCode'

const part = (name: string): readonly FieldColumn[] => COMPANY_COLUMNS.filter(({ path }) => path[0] === name)
const META = part('MetaData').filter(({ path }) => path[1] !== CURRENCY)
const CURRENCY_COLUMN = part('MetaData').filter(({ path }) => path[1] === CURRENCY)
const REST_PARTS = ['BasicDetails', 'EnhancedDetails', 'LinkedIn']
const REST: readonly Member[] = membersOf(REST_PARTS.flatMap(part), 0).map((member) =>
  member.name === 'EnhancedDetails' && 'members' in member
    ? {
        ...member,
        members: [...member.members, ...EMPLOYEE_SERIES.map((name, series) => ({ name, series }))],
      }
    : member,
)
const TEXT_COLUMNS = [...REST_PARTS.flatMap(part), ...META, ...CURRENCY_COLUMN]

/** The columns read of a company: those that become texts, and those that decide about them. */
const profilesOf = (
  companies: string,
): string => `SELECT internal_id, ${factorOf('financial_figure_scale')}::DOUBLE AS factor,
  ${numberText('score')} AS score, as_reported, extra,
  ${selectedColumns(TEXT_COLUMNS)}
FROM ${companies}`
const OTHER_COLUMNS = 5

const META_NAME = 'MetaData'
/** Members of MetaData in a text of `as_reported` or `extra`. */
const metaIn = (members: readonly JsonPart[]): readonly JsonPart[] =>
  members
    .filter(({ name }) => name === META_NAME)
    .flatMap(({ json, valueFrom }) => membersAt(json, valueFrom))

/** Places of a company's texts in the bytes of the slice: ends of rest, meta, currency and score, one behind the other. */
const ENDS = 4

/** Makes the profiles of one slice after the other in the same memory. */
export class ProfileReader {
  readonly #columns = new ColumnStrings(TEXT_COLUMNS)
  readonly #scores = verbatimStrings()
  readonly #reported = verbatimStrings()
  readonly #rest = new MembersWriter(REST)
  readonly #meta = new MembersWriter(membersOf(META, 1))
  readonly #extra = verbatimStrings()
  readonly #headcounts = new Headcounts()
  readonly #series = EMPLOYEE_SERIES.map(() => new Strings())
  readonly #bytes = new ByteWriter()
  #ids: bigint[] = []
  #factors: number[] = []
  #starts: number[] = []
  #order: number[] = []

  /**
   * Reads the companies of the slice whose views stand in the session.
   *
   * @param employees files in which their headcounts may stand
   * @returns their ids, ascending, and their factors
   */
  async read(session: Session, employees: readonly string[]): Promise<readonly Owner[]> {
    const places = await placesIn(session)
    await this.#headcounts.read(employees, places)
    this.#bytes.clear()
    this.#ids = []
    this.#factors = []
    this.#starts = []
    const { chunks } = await session.rawChunks(profilesOf(sliceView('companies')))
    for await (const chunk of chunks) {
      const [owner] = chunk.columns
      const ids = owner ? idsOf(owner, chunk.rows) : []
      for (const strings of this.#series) strings.start(chunk.rows)
      for (const id of ids) this.#headcounts.appendTo(this.#series, places.get(id) ?? NONE)
      this.#addChunk(chunk, ids)
    }
    const found = this.#ids
    this.#order = found.map((_, row) => row)
    if (found.some((id, row) => row > 0 && id < (found[row - 1] ?? id)))
      this.#order.sort((a, b) => ((found[a] ?? 0n) < (found[b] ?? 0n) ? -1 : 1))
    return this.#order.map((row) => ({ id: found[row] ?? 0n, factor: this.#factors[row] ?? 1 }))
  }

  /** The headcounts of the company at a place. */
  headcounts(place: number): CompanySeries {
    return this.#headcounts.of(place)
  }

  /** The company at a place in the order of ids. */
  at(place: number): Profile {
    const row = this.#order[place] ?? 0
    const first = row * ENDS
    return {
      id: this.#ids[row] ?? 0n,
      rest: this.#textAt(first) ?? NO_MEMBERS,
      meta: this.#textAt(first + 1),
      currency: this.#textAt(first + 2),
      score: this.#textAt(first + 3),
    }
  }

  #textAt(place: number): Uint8Array | undefined {
    const from = this.#starts[place] ?? 0
    const to = this.#starts[place + 1] ?? this.#bytes.length
    return from === to ? undefined : this.#bytes.bytes.subarray(from, to)
  }

  #addChunk({ rows, columns }: RawChunk, ids: readonly bigint[]): void {
    const [, factors, score, reported, extra] = columns
    if (!factors || !score || !reported || !extra)
      throw new TypeError('Cannot read profiles: columns are missing')
    const strings = this.#columns.make(columns.slice(OTHER_COLUMNS), rows)
    const scores = this.#scores.make(score, rows)
    const reporteds = this.#reported.make(reported, rows)
    const extras = this.#extra.make(extra, rows)
    const rest = this.#rest.write(strings, this.#series, rows)
    const meta = this.#meta.write(strings, this.#series, rows)
    const currency = strings.get(CURRENCY_COLUMN[0]?.name ?? '')
    const scale = new Float64Array(factors.data.buffer, factors.data.byteOffset, rows)
    const bytes = this.#bytes
    for (let row = 0; row < rows; row++) {
      const id = ids[row] ?? 0n
      this.#ids.push(id)
      this.#factors.push(scale[row] ?? 1)
      const extraMembers = membersOfRow(extras, row)
      const beyond = extraMembers.filter(({ name }) => name !== META_NAME)
      this.#starts.push(bytes.length)
      this.#append(rest, row, beyond)
      this.#starts.push(bytes.length)
      this.#append(meta, row, metaIn(membersOfRow(reporteds, row)), metaIn(extraMembers))
      this.#starts.push(bytes.length)
      currency?.appendTo(bytes, row)
      this.#starts.push(bytes.length)
      scores.appendTo(bytes, row)
    }
  }

  /** Appends an object with the members of others set in it; nothing where it has none then. */
  #append(objects: Strings, row: number, ...patches: readonly (readonly JsonPart[])[]): void {
    const bytes = this.#bytes
    const start = bytes.length
    objects.appendTo(bytes, row)
    for (const patch of patches) if (patch.length > 0) setMembers(bytes, start, patch)
    if (bytes.length === start + NO_MEMBERS.length) bytes.length = start
  }
}

const NONE = -1

/** The places of the slice's companies in the order of their ids. */
const placesIn = async (session: Session): Promise<ReadonlyMap<bigint, number>> => {
  const all: bigint[] = []
  const { chunks } = await session.rawChunks(`SELECT internal_id FROM ${sliceView('companies')}`)
  for await (const { columns, rows } of chunks) if (columns[0]) all.push(...idsOf(columns[0], rows))
  return new Map(all.sort((a, b) => (a < b ? -1 : 1)).map((id, place) => [id, place]))
}

const NO_MEMBERS = Buffer.from('{}')
