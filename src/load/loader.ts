/** From the checked lines of a part to the rows of every table of its content, which DuckDB hands over to be written. */

import type { CheckedPart } from '../check/check-block.ts'
import type { Content } from '../contract/objects.ts'
import { memoryError, ToolkitError, writeError } from '../core/errors.ts'
import type { RejectedLine } from '../core/lines.ts'
import type { DateRange } from '../core/partition.ts'
import type { Receipt, TableRows } from '../core/sink.ts'
import type { ColumnTable } from '../lake/duckdb/column-tables.ts'
import type { Engine, Row, Session } from '../lake/duckdb/engine.ts'
import type { CompiledProjection } from '../lake/projection/compile-projection.ts'
import type { ComputedColumn } from '../lake/projection/computed-columns.ts'
import { QUARANTINE } from '../lake/tables/tables.ts'
import { isAnyFull } from '../rows/seen-sets.ts'
import { makeFolders } from '../support/file-modes.ts'
import { atMost, settled } from '../support/side-by-side.ts'
import { employeesTable, financialsTable } from './figure-tables.ts'
import type { RecordFilter } from './record-filter.ts'
import {
  companiesTable,
  ownershipsTable,
  relationEntitiesTable,
  relationsTable,
  rolesTable,
} from './record-tables.ts'
import { oddValuesOf, type RowPart, SpareFields } from './row-table.ts'

export interface PartToLoad {
  readonly partition: string
  readonly content: Content
  /** The block's bytes; the part says which lines of them are its records. */
  readonly bytes: Buffer
  readonly part: CheckedPart
  readonly rejected: readonly RejectedLine[]
  /** Name of the source, for the quarantine. */
  readonly source: string
}

export interface LoadedPart {
  /** The part with the records that were loaded; the others were filtered. */
  readonly kept: CheckedPart
  readonly receipts: readonly Receipt[]
  readonly observed: DateRange['observed']
}

/** Writes the rows of a table; they are read before it resolves. */
export type WriteRows = (table: string, rows: TableRows) => Promise<Receipt>

export interface Loader {
  /**
   * Hands over the rows of one part, table by table. Parts may be loaded side by side.
   * @throws {ToolkitError} ENGINE_FAILED, DISK_FULL
   */
  readonly load: (request: PartToLoad, write: WriteRows) => Promise<LoadedPart>
  /** Lends a session of the loader's engine. */
  readonly withSession: <T>(use: (session: Session) => Promise<T>) => Promise<T>
  /** Hands over the rows of a query. */
  readonly withRows: <T>(sql: string, use: (rows: TableRows) => Promise<T>) => Promise<T>
  /** Queries the loader's engine, such as for what the files hold that it has written. For small results. */
  readonly rows: (sql: string) => Promise<readonly Row[]>
  /** The projection of the rows; absent where everything is taken. */
  readonly take: CompiledProjection | undefined
  readonly close: () => Promise<void>
}

export interface LoaderOptions {
  /** Folder for rejected lines on their way; emptied as they are loaded. */
  readonly spoolFolder: string
  /** Each leaves records out, which count as filtered; one after the other. @default none */
  readonly filters?: readonly RecordFilter[] | undefined
  /** The projection of the rows. @default everything is taken */
  readonly take?: CompiledProjection | undefined
  /** Expressions that have to be computable of each row. @default none */
  readonly computed?: readonly ComputedColumn[] | undefined
}

/**
 * A loader on an engine; it opens a session for each part that is loaded side by side.
 *
 * @param opening gives the engine, which may take a while: whoever needs it first waits for it, and hears what it failed with
 */
export const openLoader = (opening: () => Promise<Engine>, options: LoaderOptions): Loader => {
  const { spoolFolder, filters = [], take, computed = [] } = options
  const idle: Session[] = []
  const spare = new SpareFields()
  const opened = settled(openFirst(opening, spoolFolder, take, idle))
  const withSession = async <T>(use: (session: Session, engine: Engine) => Promise<T>): Promise<T> => {
    const engine = (await opened)()
    const session = idle.pop() ?? (await engine.connect())
    const result = await use(session, engine)
    idle.push(session) // a session whose statement failed is not used again
    return result
  }
  // Names as texts take several times the memory of those of an ENUM: side by side two such parts would not fit.
  const oneAtATime = atMost(1)
  return {
    take,
    load: async (request, write) => {
      const load = () =>
        withSession((session, engine) =>
          loadPart({ engine, session, spare, spoolFolder, filters, take, computed }, request, write),
        )
      return request.content === 'companies' && isAnyFull(request.part.rows.names) ? oneAtATime(load) : load()
    },
    withSession,
    withRows: (sql, use) => withSession((session) => use(session.relation(sql))),
    rows: (sql) => withSession((session) => session.rows(sql)),
    close: async () => {
      await opened
      for (const session of idle) session.close()
    },
  }
}

/** Makes room for rejected lines, and prepares the first session for what is taken. */
const openFirst = async (
  opening: () => Promise<Engine>,
  spoolFolder: string,
  take: CompiledProjection | undefined,
  idle: Session[],
): Promise<Engine> => {
  const engine = await opening()
  await makeFolders(spoolFolder).catch((error: unknown) => {
    throw writeError(`Cannot make "${spoolFolder}"`, error)
  })
  if (take) {
    const session = await engine.connect()
    await take.prepare(session)
    idle.push(session)
  }
  return engine
}

/** The tools that a part is loaded with. */
interface LoadTools {
  readonly engine: Engine
  readonly session: Session
  readonly spare: SpareFields
  readonly spoolFolder: string
  readonly filters: readonly RecordFilter[]
  readonly take: CompiledProjection | undefined
  readonly computed: readonly ComputedColumn[]
}

const loadPart = async (tools: LoadTools, given: PartToLoad, write: WriteRows): Promise<LoadedPart> => {
  const { partition, content, rejected, source } = given
  try {
    const part = await keptOf(tools, given)
    const receipts = part.members.length > 0 ? await writeRecords(tools, { ...given, part }, write) : []
    if (rejected.length > 0) receipts.push(await writeRejected(tools, given, write))
    return { kept: part, receipts, observed: observedOf(content, receipts) }
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    const action = `Cannot load partition "${partition}" of "${source}"`
    throw (
      memoryError(action, error) ??
      new ToolkitError('ENGINE_FAILED', `${action}: ${reasonOf(error)}`, { partition, source }, error)
    )
  }
}

/** The part with the records that the filters keep. */
const keptOf = async ({ engine, filters }: LoadTools, { content, part, bytes }: PartToLoad) => {
  let members = part.members
  for (const filter of filters)
    if (members.length > 0) members = await filter({ engine, content, part: { ...part, members }, bytes })
  return members === part.members ? part : { ...part, members }
}

/** DuckDB's message without the part that quotes the data. */
const reasonOf = (error: unknown): string => {
  const [first = ''] = (error instanceof Error ? error.message : String(error)).split('\n')
  return first.replace(/"[^"]*"|\{.*|'[^']*'/g, '…').slice(0, 300)
}

const writeRejected = async (
  { session, spoolFolder, take }: LoadTools,
  { partition, content, rejected, source }: PartToLoad,
  write: WriteRows,
): Promise<Receipt> => {
  const { spoolRejected, withoutText } = await import('../check/quarantine/spool-rejected.ts')
  const lines = take && !take.declared.keepBadLines ? rejected.map(withoutText) : rejected
  const spooled = await spoolRejected(spoolFolder, partition, lines, { source, content })
  const receipt = await write(QUARANTINE.name, session.relation(spooled.sql))
  await spooled.remove()
  return receipt
}

/** The tables of a content, whose rows stand in the part's columns already. */
const TABLES_OF: Readonly<Record<Content, (rows: RowPart) => Readonly<Record<string, ColumnTable>>>> = {
  companies: (rows) => ({
    companies: companiesTable(rows),
    financials: financialsTable(rows),
    employees: employeesTable(rows),
  }),
  relations: (rows) => ({
    relations: relationsTable(rows),
    relation_entities: relationEntitiesTable(rows),
    ownerships: ownershipsTable(rows),
    roles: rolesTable(rows),
  }),
}

const writeRecords = async (
  { engine, spare, take, computed }: LoadTools,
  { content, part, bytes }: PartToLoad,
  write: WriteRows,
): Promise<Receipt[]> => {
  const odd = await oddValuesOf(engine, part.rows, bytes)
  const receipts: Receipt[] = []
  const session = await engine.connect()
  try {
    for (const [table, given] of Object.entries(TABLES_OF[content]({ part, bytes, odd, spare }))) {
      if (take?.takesTable(table) === false) continue
      const { from, remove } = await engine.addTable(given)
      try {
        const rows = take?.select(table, from) ?? `FROM ${from}`
        receipts.push(await write(table, session.relation(rows)))
        await checkComputed(session, computed, table, rows)
      } finally {
        remove()
      }
    }
  } finally {
    session.close()
  }
  return receipts
}

/** Computes further columns once, so that a value which cannot be computed is found before the row is shown. */
const checkComputed = async (
  session: Session,
  computed: readonly ComputedColumn[],
  table: string,
  rows: string,
): Promise<void> => {
  const own = computed.filter((one) => one.table === table)
  if (own.length === 0) return
  const { checkingSelect, isFailedValue } = await import('../lake/projection/computed-columns.ts')
  for (const one of own) {
    try {
      await session.rows(checkingSelect(one, rows))
    } catch (error) {
      if (!isFailedValue(error)) throw error
      // DuckDB's message may quote the data.
      throw new ToolkitError(
        'PROJECTION_INVALID',
        `Cannot load ${one.what}, "${one.sql}": it fails on a value; use functions such as TRY_CAST`,
        { table },
        error,
      )
    }
  }
}

/** The column that shows how fresh a record is. */
export const DATE_COLUMN = {
  companies: { field: 'ContentUpdatedAt', table: 'companies', column: 'content_updated_at' },
  relations: { field: 'UpdatedAt', table: 'relation_entities', column: 'updated_at' },
} as const satisfies Readonly<Record<Content, { field: DateRange['field']; table: string; column: string }>>

/** Least and greatest of that column in what was written. */
export const observedOf = (content: Content, receipts: readonly Receipt[]): DateRange['observed'] => {
  const { table, column } = DATE_COLUMN[content]
  const found = receipts.find((receipt) => receipt.table === table)?.statistics.get(column)
  if (found?.min === undefined || found.max === undefined) return null
  return { least: isoOf(found.min), greatest: isoOf(found.max) }
}

/** `2020-01-02 03:04:05.12+00` → `2020-01-02T03:04:05.12Z`. */
const isoOf = (instant: string): string => instant.replace(' ', 'T').replace(/\+00(:00)?$/, 'Z')
