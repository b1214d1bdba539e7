/**
 * Profiles of a slice's companies as JSON texts: all of a record but its figures. Read as columns in whatever order they stand, held
 * as bytes, and given in the order of ids.
 */

import { CONSOLIDATIONS } from '../contract/dictionaries.ts'
import type { RawChunk } from '../core/sink.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { COMPANY_COLUMNS, type FieldColumn } from '../lake/tables/columns.ts'
import { factorOf, numberText } from '../lake/tables/value-sql.ts'
import { ByteWriter } from '../support/buffers.ts'
import { type JsonMember, membersAt } from '../support/json-bytes.ts'
import {
  appendObject,
  idsOf,
  nameText,
  type TextMaker,
  Texts,
  textsOfField,
  verbatimTexts,
} from './column-texts.ts'
import { appendPatched } from './merge-patch.ts'
import type { CompanySeries } from './nested-series.ts'
import { Headcounts, type Owner } from './slice-figures.ts'
import { sliceView } from './slices.ts'

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

/** A member of an object: a column, a series that stands in another table, or an object. */
type Member =
  | { readonly name: string; readonly column: string }
  | { readonly name: string; readonly series: number }
  | { readonly name: string; readonly members: readonly Member[] }

const membersOf = (columns: readonly FieldColumn[], level: number): readonly Member[] =>
  [...new Set(columns.map(({ path }) => path[level] ?? ''))].map((name) => {
    const below = columns.filter(({ path }) => path[level] === name)
    const [leaf] = below
    return leaf !== undefined && leaf.path.length === level + 1
      ? { name, column: leaf.name }
      : { name, members: membersOf(below, level + 1) }
  })

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
  ${TEXT_COLUMNS.map(({ name }, at) => `${ident(name)} AS ${ident(`column_${at}`)}`).join(', ')}
FROM ${companies}`
const OTHER_COLUMNS = 5

type Rows = ReadonlyMap<string, Texts>

/** Writes the object of a row's members from the texts of a chunk's columns. */
class MembersWriter {
  readonly #members: readonly Member[]
  readonly #names: readonly Buffer[]
  readonly #nested: readonly (MembersWriter | undefined)[]
  readonly #texts = new Texts()

  constructor(members: readonly Member[]) {
    this.#members = members
    this.#names = members.map(({ name }) => nameText(name))
    this.#nested = members.map((member) =>
      'members' in member ? new MembersWriter(member.members) : undefined,
    )
  }

  write(rows: Rows, series: readonly Texts[], count: number): Texts {
    const found = this.#members.map((member, at) => {
      if ('column' in member) return rows.get(member.column)
      return 'series' in member ? series[member.series] : this.#nested[at]?.write(rows, series, count)
    })
    const [names, texts] = [this.#names, this.#texts]
    texts.start(count)
    for (let row = 0; row < count; row++) {
      appendObject(texts.writer, names, found, row)
      texts.endRow()
    }
    return texts
  }
}

const META_NAME = 'MetaData'
/** Members of MetaData in a text of `as_reported` or `extra`. */
const metaIn = (members: readonly JsonMember[]): readonly JsonMember[] =>
  members
    .filter(({ name }) => name === META_NAME)
    .flatMap(({ json, valueFrom }) => membersAt(json, valueFrom))

/** Where a company's texts stand in the bytes of the slice: ends of rest, meta, currency and score, one behind the other. */
const ENDS = 4

/** Makes the profiles of one slice after the other in the same memory. */
export class ProfileReader {
  readonly #makers = new Map<string, TextMaker>(
    TEXT_COLUMNS.map(({ name, field }) => [name, textsOfField(field)]),
  )
  readonly #scores = verbatimTexts()
  readonly #reported = verbatimTexts()
  readonly #rest = new MembersWriter(REST)
  readonly #meta = new MembersWriter(membersOf(META, 1))
  readonly #extra = verbatimTexts()
  readonly #headcounts = new Headcounts()
  readonly #series = EMPLOYEE_SERIES.map(() => new Texts())
  readonly #bytes = new ByteWriter()
  #ids: bigint[] = []
  #factors: number[] = []
  #starts: number[] = []
  /** Where the patches of a text are set in it. */
  readonly #patched = new ByteWriter()
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
      for (const texts of this.#series) texts.start(chunk.rows)
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
    const texts = new Map<string, Texts>()
    for (const [at, { name }] of TEXT_COLUMNS.entries()) {
      const column = columns[OTHER_COLUMNS + at]
      const maker = this.#makers.get(name)
      if (column !== undefined && maker !== undefined) texts.set(name, maker.make(column, rows))
    }
    const scores = this.#scores.make(score, rows)
    const reporteds = this.#reported.make(reported, rows)
    const extras = this.#extra.make(extra, rows)
    const rest = this.#rest.write(texts, this.#series, rows)
    const meta = this.#meta.write(texts, this.#series, rows)
    const currency = texts.get(CURRENCY_COLUMN[0]?.name ?? '')
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
  #append(objects: Texts, row: number, ...patches: readonly (readonly JsonMember[])[]): void {
    const bytes = this.#bytes
    const needed = patches.filter(({ length }) => length > 0)
    if (needed.length === 0) {
      objects.appendTo(bytes, row)
      return
    }
    let members = membersOfRow(objects, row)
    for (const patch of needed) {
      this.#patched.clear()
      appendPatched(this.#patched, members, patch)
      members = membersAt(Buffer.from(this.#patched.written()), 0)
    }
    if (members.length > 0) bytes.append(this.#patched.written())
  }
}

/** The members of a row's text: none where it is empty. */
const membersOfRow = (texts: Texts, row: number): readonly JsonMember[] =>
  texts.has(row) ? membersAt(texts.writer.bytes.subarray(texts.from(row), texts.to(row)), 0) : []

const NONE = -1

/** The places of the slice's companies in the order of their ids. */
const placesIn = async (session: Session): Promise<ReadonlyMap<bigint, number>> => {
  const all: bigint[] = []
  const { chunks } = await session.rawChunks(`SELECT internal_id FROM ${sliceView('companies')}`)
  for await (const { columns, rows } of chunks) if (columns[0]) all.push(...idsOf(columns[0], rows))
  return new Map(all.sort((a, b) => (a < b ? -1 : 1)).map((id, place) => [id, place]))
}

const NO_MEMBERS = Buffer.from('{}')
