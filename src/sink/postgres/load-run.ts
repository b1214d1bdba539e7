/**
 * Loads the staged files of a run in one transaction: of each record brought the rows of its last partition take the
 * place of what the database has. Rows that need no comparing are copied straight into their table.
 */

import { createReadStream } from 'node:fs'
import { Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import type { Client } from 'pg'
import { ToolkitError } from '../../core/errors.ts'
import type { FileEntry } from '../../core/partition.ts'
import type { LakeClaim } from '../../core/sink.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import type { Table } from '../../lake/tables/tables.ts'
import {
  countPartitions,
  deleteKeys,
  deleteSuperseded,
  type IncomingContent,
  incomingContents,
  keyedTable,
  LOADS_TABLE,
  lastPlaces,
  PLACE,
  type StagedPart,
  type StagedTable,
  selectKeys,
  selectNewest,
  stagedTables,
} from '../current-rows.ts'
import { judgeTarget, LAKE_TABLE } from '../delivered-runs.ts'
import { giveWay, makeViews } from './make-views.ts'
import type { TargetColumn } from './staged-columns.ts'
import {
  addKey,
  hasTable,
  makeSchema,
  ownTables,
  prepareTable,
  qualified,
  type TargetTable,
} from './target-tables.ts'

const CHUNK_BYTES = 256 * 1024
const REPLACEMENT = Buffer.from('\ufffd').toString('latin1')

/** Replaces each byte 0, which in UTF-8 is U+0000 and nothing else, by U+FFFD, and counts them. */
const replaceNuls = (): { readonly stream: Transform; readonly count: () => number } => {
  let count = 0
  const stream = new Transform({
    transform(chunk: Buffer, _encoding, done) {
      if (!chunk.includes(0)) return done(null, chunk)
      const parts = chunk.toString('latin1').split('\0')
      count += parts.length - 1
      done(null, Buffer.from(parts.join(REPLACEMENT), 'latin1'))
    },
  })
  return { stream, count: () => count }
}

/**
 * Copies a file whose columns are those named. NULL is nothing between commas, an empty text is `""`.
 *
 * @param target the table, quoted
 * @returns how many characters U+0000 were replaced by U+FFFD: text of PostgreSQL cannot hold them
 */
export const copyFile = async (
  client: Client,
  path: string,
  target: string,
  columns: readonly string[],
): Promise<number> => {
  const { from } = await import('pg-copy-streams')
  const copy = client.query(
    from(
      `COPY ${target} (${columns.map(ident).join(', ')}) FROM STDIN (FORMAT csv, NULL '', ENCODING 'UTF8')`,
    ),
  )
  const nuls = replaceNuls()
  await pipeline(createReadStream(path, { highWaterMark: CHUNK_BYTES }), nuls.stream, copy)
  return nuls.count()
}

export interface RunToLoad {
  readonly schema: string
  readonly run: string
  readonly files: readonly FileEntry[]
  /** Path of the staged file of a receipt. */
  readonly stagedPath: (file: FileEntry) => string
  /** The columns of a staged file, in its order. */
  readonly columnsOf: (file: FileEntry) => Promise<readonly TargetColumn[]>
  readonly taken: string | undefined
  /** Whether it replaces all that the schema shows. */
  readonly anew?: boolean | undefined
}

/** A table of the target with the staged files that go into it. */
interface Loading extends TargetTable {
  readonly parts: readonly StagedPart[]
}

interface Loader {
  readonly client: Client
  readonly run: RunToLoad
  /** Characters U+0000 replaced, by table. */
  readonly replaced: Map<string, number>
}

/**
 * Does its work in the transaction that is open.
 *
 * @returns warnings; none where the run is loaded already
 * @throws {ToolkitError} TARGET_REFUSED; errors of the server as they came
 */
export const loadRun = async (client: Client, run: RunToLoad): Promise<readonly string[]> => {
  const loader: Loader = { client, run, replaced: new Map() }
  await client.query('SET LOCAL statement_timeout = 0')
  // Two runs at once would wait for each other's rows in turn.
  await lockSchema(client, run.schema)
  await makeSchema(client, run.schema)
  if (run.anew) await emptySchema(client, run.schema)
  if (!(await registerRun(loader))) return []
  const tables: Loading[] = []
  const staged = stagedTables(run.files)
  await giveWay(client, run.schema, new Set(staged.map(({ name }) => name)))
  for (const table of staged) tables.push(await prepare(loader, table))
  for (const table of tables) if (table.declared === undefined) await replaceWhole(loader, table)
  for (const table of tables) if (table.declared && !table.declared.content) await mergeKeys(loader, table)
  const declared = tables.flatMap((table) => table.declared ?? [])
  for (const content of incomingContents(declared)) await mergeRecords(loader, content, tables)
  for (const table of tables) await addKey(client, table)
  const warnings = [...loader.replaced].map(([table, count]) => replacedText(table, count))
  return (await makeViews(client, run.schema)) ? warnings : [...warnings, keptText(run.schema)]
}

const replacedText = (table: string, count: number): string =>
  `Replaced ${count} characters U+0000 by U+FFFD in table "${table}": text of PostgreSQL cannot hold them`

const keptText = (schema: string): string =>
  `Left the views of firmlake in schema "${schema}" as an older version made them: views of others read them; drop those, and the next load makes them again`

/** Takes out all rows that runs and exports have brought. The tables stay: views of others may stand on them. */
const emptySchema = async (client: Client, schema: string): Promise<void> => {
  for (const table of await ownTables(client, schema)) await client.query(`DELETE FROM ${table}`)
  await client.query(`DELETE FROM ${qualified(schema, LOADS_TABLE)}`)
}

/** Until the transaction that is open ends. */
const lockSchema = async (client: Client, schema: string): Promise<void> => {
  await client.query('SELECT pg_advisory_xact_lock(hashtextextended($1, 0))', [`firmlake ${schema}`])
}

/** Notes the run as loaded. @returns whether it was not before */
const registerRun = async ({ client, run }: Loader): Promise<boolean> => {
  const loads = qualified(run.schema, LOADS_TABLE)
  const { rowCount } = await client.query(
    `INSERT INTO ${loads} (run, partitions, taken) VALUES ($1, $2, $3) ON CONFLICT DO NOTHING`,
    [run.run, countPartitions(run.files), run.taken ?? null],
  )
  return rowCount === 1
}

const prepare = async ({ client, run }: Loader, { name, parts }: StagedTable): Promise<Loading> => {
  const columns = new Map<string, string>()
  for (const { file } of parts) {
    for (const { name: column, type } of await run.columnsOf(file)) {
      const other = columns.get(column) ?? type
      if (other !== type) {
        throw new ToolkitError(
          'TARGET_REFUSED',
          `Cannot load table "${name}": column "${column}" is ${other} in one partition and ${type} in another`,
        )
      }
      columns.set(column, type)
    }
  }
  const table = await prepareTable(client, run.schema, {
    name,
    columns: [...columns].map(([column, type]) => ({ name: column, type })),
    declared: keyedTable(name, [...columns.keys()]),
  })
  return { ...table, parts }
}

const copyPart = async (
  { client, run, replaced }: Loader,
  table: Loading,
  { file }: StagedPart,
  target: string,
): Promise<void> => {
  const columns = await run.columnsOf(file)
  const names = columns.map(({ name }) => name)
  const count = await copyFile(client, run.stagedPath(file), target, names)
  if (count > 0) replaced.set(table.name, (replaced.get(table.name) ?? 0) + count)
}

const replaceWhole = async (loader: Loader, table: Loading): Promise<void> => {
  if (!table.fresh) await loader.client.query(`DELETE FROM ${table.target}`)
  for (const part of table.parts) await copyPart(loader, table, part, table.target)
}

const temporaryName = (table: string): string => `pg_temp.${ident(`firmlake_${table}`)}`

/** Copies parts of a table into a temporary one, where each row has the place of its partition. */
const stage = async (loader: Loader, table: Loading, parts: readonly StagedPart[]): Promise<string> => {
  const { client } = loader
  const staged = temporaryName(table.name)
  const columns = table.columns.map(({ name, type }) => `${ident(name)} ${type}`)
  await client.query(
    `CREATE TEMPORARY TABLE ${ident(`firmlake_${table.name}`)} (${columns.join(', ')}, ${PLACE} integer) ON COMMIT DROP`,
  )
  for (const part of parts) {
    await client.query(`ALTER TABLE ${staged} ALTER COLUMN ${PLACE} SET DEFAULT ${part.place}`)
    await copyPart(loader, table, part, staged)
  }
  await client.query(`ANALYZE ${staged}`)
  return staged
}

const namesOf = ({ columns }: TargetTable): readonly string[] => columns.map(({ name }) => name)

const insert = (table: TargetTable, select: string): string =>
  `INSERT INTO ${table.target} (${namesOf(table).map(ident).join(', ')}) ${select}`

/** A dictionary: rows with the same key are replaced. */
const mergeKeys = async (loader: Loader, table: Loading): Promise<void> => {
  if (table.declared === undefined) return
  const { client } = loader
  const staged = await stage(loader, table, table.parts)
  if (!table.fresh) await client.query(deleteKeys(table.declared, table.target, staged))
  await client.query(insert(table, selectKeys(table.declared, namesOf(table), staged)))
  await client.query(`DROP TABLE ${staged}`)
}

/** The rows of records: those of the records brought go, those of each record's last partition come. */
const mergeRecords = async (
  loader: Loader,
  content: IncomingContent,
  tables: readonly Loading[],
): Promise<void> => {
  const { client } = loader
  const members = tables.filter(({ declared }) => declared?.content === content.content)
  const isRecordTable = (name: string): boolean => content.recordTables.some((table) => table.name === name)
  const staged = new Map<string, string>()
  for (const table of members)
    if (isRecordTable(table.name)) staged.set(table.name, await stage(loader, table, table.parts))
  const rowsOf = ({ name }: Table): string => staged.get(name) ?? temporaryName(name)
  const newest = temporaryName(`newest_${content.content}`)
  await client.query(
    `CREATE TEMPORARY TABLE ${ident(`firmlake_newest_${content.content}`)} ON COMMIT DROP AS ${lastPlaces(content, rowsOf)}`,
  )
  await client.query(`ANALYZE ${newest}`)
  const outdated = await outdatedVersions(client, content, rowsOf, newest)
  for (const table of content.affectedTables) await removeSuperseded(loader, table, tables, newest)
  for (const table of members) {
    const { declared } = table
    if (declared === undefined) continue
    const [mixed, current] = isRecordTable(table.name)
      ? [table.parts, []]
      : [
          table.parts.filter(({ place }) => outdated.has(place)),
          table.parts.filter(({ place }) => !outdated.has(place)),
        ]
    for (const part of current) await copyPart(loader, table, part, table.target)
    if (mixed.length === 0) continue
    const rows = staged.get(table.name) ?? (await stage(loader, table, mixed))
    await client.query(insert(table, selectNewest(declared, namesOf(table), rows, newest)))
    await client.query(`DROP TABLE ${rows}`)
  }
  await client.query(`DROP TABLE ${newest}`)
}

/** Partitions that hold records that a later one of this run has too. */
const outdatedVersions = async (
  client: Client,
  { recordTables }: IncomingContent,
  rowsOf: (table: Table) => string,
  newest: string,
): Promise<ReadonlySet<number>> => {
  const outdated = new Set<number>()
  for (const table of recordTables) {
    const { rows } = await client.query<{ readonly place: number }>(
      `SELECT DISTINCT r.${PLACE} AS place FROM ${rowsOf(table)} AS r
JOIN ${newest} AS n ON n.owner = r.${ident(table.owner ?? '')} WHERE r.${PLACE} < n.${PLACE}`,
    )
    for (const { place } of rows) outdated.add(place)
  }
  return outdated
}

/** Takes the records brought out of a table, be there rows for it in this run or not. */
const removeSuperseded = async (
  { client, run }: Loader,
  table: Table,
  tables: readonly Loading[],
  newest: string,
): Promise<void> => {
  if (tables.some(({ name, fresh }) => name === table.name && fresh)) return
  const target = qualified(run.schema, table.name)
  if (await hasTable(client, target)) await client.query(deleteSuperseded(table, target, newest))
}

const lakeOf = async (client: Client, schema: string): Promise<string | undefined> => {
  const table = qualified(schema, LAKE_TABLE)
  if (!(await hasTable(client, table))) return undefined
  return (await client.query<{ readonly id: string }>(`SELECT id FROM ${table}`)).rows[0]?.id
}

const markSchema = async (client: Client, schema: string, id: string): Promise<void> => {
  const table = qualified(schema, LAKE_TABLE)
  await makeSchema(client, schema)
  await client.query(`CREATE TABLE IF NOT EXISTS ${table} (id text NOT NULL)`)
  await client.query(`DELETE FROM ${table}`)
  await client.query(`INSERT INTO ${table} VALUES ($1)`, [id])
}

/** The runs that a schema shows, as `deliveredRuns`, once it holds the rows of the lake that comes or of none. */
export const claimedRuns = async (
  client: Client,
  schema: string,
  claim: LakeClaim,
): Promise<ReadonlySet<string>> => {
  // Two lakes at once: one marks the schema, and the other one is refused.
  if (claim.marks) await lockSchema(client, schema)
  const runs = await deliveredRuns(client, schema)
  const found = { lake: await lakeOf(client, schema), runs }
  const target = `schema "${schema}" of the database`
  const { mark, released, lost } = await judgeTarget(claim, found, target)
  if (mark !== undefined) {
    await markSchema(client, schema, mark)
    await client.query(`DELETE FROM ${qualified(schema, LOADS_TABLE)} WHERE run = ANY($1)`, [released])
    if (runs.size > 0) claim.onAdopted?.()
  }
  return lost.length > 0 ? new Set() : new Set([...runs].filter((run) => !released.includes(run)))
}

/** The runs that a schema shows; none where nothing was ever loaded. */
export const deliveredRuns = async (client: Client, schema: string): Promise<ReadonlySet<string>> => {
  const loads = qualified(schema, LOADS_TABLE)
  if (!(await hasTable(client, loads))) return new Set()
  const { rows } = await client.query<{ readonly run: string }>(`SELECT run FROM ${loads}`)
  return new Set(rows.map(({ run }) => run))
}
