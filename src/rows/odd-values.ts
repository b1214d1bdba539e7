/**
 * Values of relations in forms that are not read here, but by DuckDB: rare date-times, and personal data that came masked
 * in other JSON than the usual. All of a part are asked for at once, before its rows are written.
 */

import type { ColumnTable } from '../lake/duckdb/column-tables.ts'
import type { Engine } from '../lake/duckdb/engine.ts'
import { literal } from '../lake/duckdb/sql.ts'
import { CHUNK_ROWS } from '../lake/duckdb/vectors.ts'
import { dayOf, instantsOf, unparsedTimestamps } from '../lake/tables/value-sql.ts'
import { isOddJson, TextReader } from './cell-values.ts'
import type { RecordRows, RowCells } from './record-rows.ts'
import { FORM_BITS, MASKED, ODD } from './row-columns.ts'

/** A date-time as DuckDB reads it. */
export interface OddInstant {
  /** Microseconds since 1970. */
  readonly micros: bigint | undefined
  /** The same of a day, as it is written. */
  readonly dayMicros: bigint | undefined
  /** The text as JSON, where the instant does not restore it. */
  readonly reported: string | undefined
}

export interface UncommonValues {
  readonly instants: ReadonlyMap<string, OddInstant>
  /** JSON as it came, and as DuckDB writes it. */
  readonly jsons: ReadonlyMap<string, string>
}

const NAME = 'v'
/** Before and behind the text in an object of that member alone. */
const [BEFORE, BEHIND] = [`{"${NAME}":`.length, -'}'.length]

const INSTANTS = (from: string): string => `
SELECT text, epoch_us(instants[1])::VARCHAR AS micros, epoch_us(${dayOf('text')})::VARCHAR AS day, ${unparsedTimestamps([NAME], 'texts', 'instants')} AS reported
FROM (SELECT text, [text] AS texts, ${instantsOf('[text]')} AS instants FROM ${from})`

const JSONS = (from: string): string => `
SELECT text, from_json('{"${NAME}":' || text || '}', ${literal(`{"${NAME}":"JSON"}`)}).${NAME}::VARCHAR AS json FROM ${from}`

/** Asks DuckDB for all such values among the rows of a part. @param block the bytes that the rows refer to */
export const readOddValues = async (
  engine: Engine,
  rows: RecordRows,
  block: Buffer,
): Promise<UncommonValues> => {
  const found = { instants: new Map<string, OddInstant>(), jsons: new Map<string, string>() }
  const { instants, jsons } = stringsForDuckDb(rows, block)
  const numberIn = (value: unknown): bigint | undefined =>
    typeof value === 'string' ? BigInt(value) : undefined
  for await (const { text, micros, day, reported } of rowsOf(engine, instants, INSTANTS))
    found.instants.set(String(text), {
      micros: numberIn(micros),
      dayMicros: numberIn(day),
      reported: typeof reported === 'string' ? reported.slice(BEFORE, BEHIND) : undefined,
    })
  for await (const { text, json } of rowsOf(engine, jsons, JSONS)) found.jsons.set(String(text), String(json))
  return found
}

async function* rowsOf(engine: Engine, strings: ReadonlySet<string>, query: (from: string) => string) {
  if (strings.size === 0) return
  const { from, remove } = await engine.addTable(textTable(inOrder(strings)))
  const session = await engine.connect()
  try {
    for await (const rows of session.stream(query(from))) yield* rows
  } finally {
    session.close()
    remove()
  }
}

/** The named zone of a text sticks to those behind it in DuckDB, where they have none: so those with names come last. */
const inOrder = (strings: ReadonlySet<string>): string[] =>
  [...strings].sort((a, b) => Number(HAS_NAME.test(a)) - Number(HAS_NAME.test(b)))
const HAS_NAME = /[a-z]{2}/i

const textTable = (strings: readonly string[]): ColumnTable => ({
  columns: [{ name: 'text', type: { values: [], textOf: (code) => strings[code] ?? '' } }],
  rows: strings.length,
  read: () => {
    const codes = new Int32Array(CHUNK_ROWS)
    let done = 0
    return (vectors) => {
      const rows = Math.min(CHUNK_ROWS, strings.length - done)
      for (let row = 0; row < rows; row++) codes[row] = done++
      vectors.codes(0, codes, rows)
      return rows
    }
  },
})

interface OddStrings {
  readonly instants: Set<string>
  readonly jsons: Set<string>
}

/** The texts of such values, each once. */
const stringsForDuckDb = (rows: RecordRows, block: Buffer): OddStrings => {
  const strings = { instants: new Set<string>(), jsons: new Set<string>() }
  for (const cells of [rows.records, rows.entities, rows.ownerships, rows.roles])
    addOdd(strings, cells, block)
  return strings
}

const addOdd = ({ instants, jsons }: OddStrings, { cells }: RowCells, block: Buffer): void => {
  const text = new TextReader()
  const { column, low, high } = cells.columns
  for (let cell = 0; cell < cells.length; cell++) {
    const form = column[cell]! & FORM_BITS
    if (form === ODD) {
      text.read(block, low[cell]!, high[cell]!)
      instants.add(text.text())
    } else if (form === MASKED) {
      const json = block.toString('utf8', low[cell]!, high[cell]!)
      if (isOddJson(json)) jsons.add(json)
    }
  }
}
