/**
 * Profiles of a slice's companies as JSON texts: all of a record but its figures. Read as columns in whatever order they stand, held
 * as bytes, and given in the order of ids.
 */

import type { RawChunk } from '../../core/table-rows.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import type { FieldColumn } from '../../lake/tables/columns.ts'
import { factorOf } from '../../lake/tables/figure-scale.ts'
import { numberText } from '../../lake/tables/json-text.ts'
import { COMPANY_COLUMNS } from '../../lake/tables/record-columns.ts'
import { ByteWriter } from '../../support/byte-writer.ts'
import { JSON_BYTES } from '../../support/json-bytes.ts'
import { companyPieces, EMPLOYEE_SERIES } from '../companies.ts'
import {
  appendObject,
  appendQuoted,
  idsOf,
  nameText,
  Texts,
  type TextsOf,
  textsOfField,
  verbatimTexts,
} from './column-texts.ts'
import { readHeadcounts } from './headcounts.ts'
import type { Owner } from './slice-figures.ts'
import { sliceView } from './slices.ts'

const { COMMA, OPEN_BRACE, CLOSE_BRACE } = JSON_BYTES

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

/** What is read of a company: the columns that become texts, and what decides about them. */
const profilesOf = (
  companies: string,
): string => `SELECT internal_id, ${factorOf('financial_figure_scale')}::DOUBLE AS factor,
  ${numberText('score')} AS score, as_reported, extra IS NOT NULL AS has_extra,
  ${TEXT_COLUMNS.map(({ name }, at) => `${ident(name)} AS ${ident(`column_${at}`)}`).join(', ')}
FROM ${companies}`
const OTHER_COLUMNS = 5

type Rows = ReadonlyMap<string, Texts>

/** Writes the object of a row's members from the texts of a chunk's columns. */
const objectWriter = (
  members: readonly Member[],
): ((rows: Rows, series: readonly Texts[], count: number) => Texts) => {
  const names = members.map(({ name }) => nameText(name))
  const nested = members.map((member) => ('members' in member ? objectWriter(member.members) : undefined))
  const texts = new Texts()
  return (rows, series, count) => {
    const found = members.map((member, at) => {
      if ('column' in member) return rows.get(member.column)
      return 'series' in member ? series[member.series] : nested[at]?.(rows, series, count)
    })
    texts.start(count)
    for (let row = 0; row < count; row++) {
      appendObject(texts.writer, names, found, row)
      texts.endRow()
    }
    return texts
  }
}

/** `{"MetaData":{"GeneratedAt":"2024-…"}}`: date-times as they came, by name; `null` for any other form. */
const reportedIn = (text: string): readonly (readonly [string, string])[] | null => {
  const value: unknown = JSON.parse(text)
  if (typeof value !== 'object' || value === null || Object.keys(value).join() !== 'MetaData') return null
  const inside: unknown = Object.values(value)[0]
  if (typeof inside !== 'object' || inside === null) return null
  const texts: (readonly [string, string])[] = []
  for (const [name, reported] of Object.entries(inside)) {
    if (typeof reported !== 'string') return null
    texts.push([name, reported])
  }
  return texts
}

/** Where a company's texts stand in the bytes of the slice: ends of rest, meta, currency and score, one behind the other. */
const ENDS = 4

/** Makes the profiles of one slice after the other in the same memory. */
export class ProfileReader {
  readonly #makers = new Map<string, TextsOf>(
    TEXT_COLUMNS.map(({ name, field }) => [name, textsOfField(field)]),
  )
  readonly #scores = verbatimTexts()
  readonly #reported = verbatimTexts()
  readonly #rest = objectWriter(REST)
  readonly #meta = objectWriter(membersOf(META, 1))
  readonly #metaNames = META.map(({ path }) => path[1] ?? '')
  readonly #series = EMPLOYEE_SERIES.map(() => new Texts())
  readonly #bytes = new ByteWriter()
  #ids: bigint[] = []
  #factors: number[] = []
  #starts: number[] = []
  /** Texts of companies that hold what the contract does not know: DuckDB merges them. */
  #merged = new Map<bigint, Pick<Profile, 'rest' | 'meta'>>()
  #order: number[] = []

  /** Reads the companies of the slice whose views stand in the session. @returns their ids, ascending, and their factors */
  async read(session: Session): Promise<readonly Owner[]> {
    const headcounts = await readHeadcounts(session)
    this.#bytes.clear()
    this.#ids = []
    this.#factors = []
    this.#starts = []
    this.#merged = new Map()
    const unlike: bigint[] = []
    const { chunks } = await session.rawChunks(profilesOf(sliceView('companies')))
    for await (const chunk of chunks) {
      const [owner] = chunk.columns
      const ids = owner ? idsOf(owner, chunk.rows) : []
      for (const [at, texts] of this.#series.entries()) {
        texts.start(chunk.rows)
        for (const id of ids) headcounts.appendTo(texts, id, at)
      }
      this.#addChunk(chunk, ids, unlike)
    }
    if (unlike.length > 0) await this.#merge(session, unlike)
    const found = this.#ids
    this.#order = found.map((_, row) => row)
    if (found.some((id, row) => row > 0 && id < (found[row - 1] ?? id)))
      this.#order.sort((a, b) => ((found[a] ?? 0n) < (found[b] ?? 0n) ? -1 : 1))
    return this.#order.map((row) => ({ id: found[row] ?? 0n, factor: this.#factors[row] ?? 1 }))
  }

  /** The company at a place in the order of ids. */
  at(place: number): Profile {
    const row = this.#order[place] ?? 0
    const id = this.#ids[row] ?? 0n
    const { bytes } = this.#bytes
    const textAt = (no: number): Uint8Array | undefined => {
      const from = this.#starts[row * ENDS + no] ?? 0
      const to = this.#starts[row * ENDS + no + 1] ?? this.#bytes.length
      return from === to ? undefined : bytes.subarray(from, to)
    }
    const merged = this.#merged.get(id)
    return {
      id,
      rest: merged ? merged.rest : (textAt(0) ?? NO_MEMBERS),
      meta: merged ? merged.meta : textAt(1),
      currency: textAt(2),
      score: textAt(3),
    }
  }

  #addChunk({ rows, columns }: RawChunk, ids: readonly bigint[], unlike: bigint[]): void {
    const [, factors, score, reported, hasExtra] = columns
    if (!factors || !score || !reported || !hasExtra)
      throw new TypeError('Cannot read profiles: columns are missing')
    const texts = new Map<string, Texts>()
    for (const [at, { name }] of TEXT_COLUMNS.entries()) {
      const column = columns[OTHER_COLUMNS + at]
      const make = this.#makers.get(name)
      if (column !== undefined && make !== undefined) texts.set(name, make(column, rows))
    }
    const scores = this.#scores(score, rows)
    const reporteds = this.#reported(reported, rows)
    const rest = this.#rest(texts, this.#series, rows)
    const meta = this.#meta(texts, this.#series, rows)
    const currency = texts.get(CURRENCY_COLUMN[0]?.name ?? '')
    const scale = new Float64Array(factors.data.buffer, factors.data.byteOffset, rows)
    const bytes = this.#bytes
    for (let row = 0; row < rows; row++) {
      const id = ids[row] ?? 0n
      this.#ids.push(id)
      this.#factors.push(scale[row] ?? 1)
      const asReported = reporteds.has(row)
        ? reportedIn(reporteds.writer.bytes.toString('utf8', reporteds.from(row), reporteds.to(row)))
        : undefined
      if (hasExtra.data[row] !== 0 || asReported === null) unlike.push(id)
      this.#starts.push(bytes.length)
      rest.appendTo(bytes, row)
      this.#starts.push(bytes.length)
      if (asReported) this.#appendReported(texts, row, asReported)
      else meta.appendTo(bytes, row)
      this.#starts.push(bytes.length)
      currency?.appendTo(bytes, row)
      this.#starts.push(bytes.length)
      scores.appendTo(bytes, row)
    }
  }

  /** MetaData with date-times as they came behind all others: where DuckDB's merging puts them too. */
  #appendReported(texts: Rows, row: number, reported: readonly (readonly [string, string])[]): void {
    const bytes = this.#bytes
    let separator: number = OPEN_BRACE
    const begin = (name: string): void => {
      bytes.byte(separator)
      separator = COMMA
      bytes.append(nameText(name))
    }
    for (const [at, name] of this.#metaNames.entries()) {
      const column = texts.get(META[at]?.name ?? '')
      if (column === undefined || !column.has(row) || reported.some(([other]) => other === name)) continue
      begin(name)
      column.appendTo(bytes, row)
    }
    for (const [name, text] of reported) {
      begin(name)
      const utf8 = Buffer.from(text)
      appendQuoted(bytes, utf8, 0, utf8.length)
    }
    if (separator === COMMA) bytes.byte(CLOSE_BRACE)
  }

  async #merge(session: Session, ids: readonly bigint[]): Promise<void> {
    await session.run('CREATE OR REPLACE TEMP TABLE part_unlike (internal_id BIGINT)')
    for (let at = 0; at < ids.length; at += IDS_AT_ONCE)
      await session.run(
        `INSERT INTO part_unlike SELECT unnest([${ids.slice(at, at + IDS_AT_ONCE).join(', ')}]::BIGINT[])`,
      )
    const only = (view: string): string => `(SELECT * FROM ${view} SEMI JOIN part_unlike USING (internal_id))`
    const pieces = companyPieces(only(sliceView('companies')), only(sliceView('employees')))
    for await (const [found = [], metas = [], rests = []] of session.streamColumns(
      `SELECT internal_id, meta, rest FROM (${pieces})`,
    ))
      for (const [at, id] of found.entries()) {
        const meta = metas[at]
        this.#merged.set(BigInt(String(id)), {
          rest: Buffer.from(String(rests[at])),
          meta: typeof meta === 'string' ? Buffer.from(meta) : undefined,
        })
      }
  }
}

const NO_MEMBERS = Buffer.from('{}')
const IDS_AT_ONCE = 2_000
