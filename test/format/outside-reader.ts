/**
 * Reads a lake as docs/reference/format.md says it, with nothing of firmlake's: whoever wants to read lakes in another language may
 * begin here.
 */

import { createHash } from 'node:crypto'
import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { DuckDBInstance } from '@duckdb/node-api'

interface Part {
  readonly name: string
  readonly level: number
  readonly bytes: number
  readonly sha256: string
}

interface DataFile {
  readonly table: string
  readonly path: string
  readonly bytes: number
  readonly sha256: string
  readonly version?: number
}

interface Partition {
  readonly version: number
  readonly files: readonly DataFile[]
}

interface VersionList extends Omit<Part, 'level'> {
  readonly kind: 'superseded' | 'last' | 'confirmed'
  readonly table: string
}

interface Snapshot {
  readonly format: number
  readonly partitions: readonly Part[]
  readonly files: readonly Part[]
  readonly versions: readonly VersionList[]
  readonly taken?: readonly { readonly take: { readonly compute?: Readonly<Record<string, string>> } }[]
}

const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

const readChecked = async (
  path: string,
  { bytes, sha256: hash }: Omit<Part, 'level' | 'name'>,
): Promise<Buffer> => {
  const content = await readFile(path)
  if (content.length !== bytes || sha256(content) !== hash) throw new Error(`"${path}" is damaged`)
  return content
}

const newestSnapshot = async (lake: string): Promise<Snapshot> => {
  const folder = join(lake, '_manifest')
  const names = (await readdir(folder)).filter((name) => /^\d{8}\.json$/.test(name)).sort()
  const content = await readFile(join(folder, names.at(-1) ?? ''))
  const snapshot = JSON.parse(content.toString()) as Snapshot & { readonly sha256: string }
  const lines = content.toString().split('\n')
  // The text ends with a line feed: its last two lines are the hash and the closing brace.
  const hashed = `${lines.slice(0, -3).join('\n')}\n`
  if (sha256(Buffer.from(hashed)) !== snapshot.sha256) throw new Error('the snapshot is damaged')
  if (snapshot.format !== 7) throw new Error(`the format ${snapshot.format} is another one`)
  return snapshot
}

/** The entries of a list, whatever the levels of its parts. */
const entriesOf = async <Entry>(lake: string, parts: readonly Part[]): Promise<readonly Entry[]> => {
  const entries: Entry[] = []
  for (const part of parts) {
    const text = await readChecked(join(lake, '_manifest/parts', part.name), part)
    const lines = text
      .toString()
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line))
    entries.push(...(part.level === 0 ? lines : await entriesOf<Entry>(lake, lines)))
  }
  return entries
}

/** The table whose records own the rows of a table, and the columns of both that name the record. */
const OWNERS: Readonly<
  Record<string, readonly [main: string, own: readonly string[], listed: readonly string[]]>
> = {
  companies: ['companies', ['internal_id'], ['internal_id']],
  financials: ['companies', ['internal_id'], ['internal_id']],
  employees: ['companies', ['internal_id'], ['internal_id']],
  relations: ['relations', ['internal_id'], ['internal_id']],
  relation_entities: ['relations', ['company_id'], ['internal_id']],
  ownerships: ['relations', ['company_id'], ['internal_id']],
  roles: ['relations', ['company_id'], ['internal_id']],
  line_items: ['line_items', ['category', 'line_item'], ['category', 'line_item']],
}

const listOf = (paths: readonly string[]): string =>
  `[${paths.map((path) => `'${path.replaceAll("'", "''")}'`)}]`

/** The current rows of each table, as objects. */
export const readOutside = async (lake: string): Promise<ReadonlyMap<string, readonly unknown[]>> => {
  const snapshot = await newestSnapshot(lake)
  const partitions = await entriesOf<Partition>(lake, snapshot.partitions)
  const ofRuns = await entriesOf<DataFile>(lake, snapshot.files)
  const files = [
    ...partitions.flatMap(({ version, files: own }) => own.map((file) => ({ ...file, version }))),
    ...ofRuns,
  ]
  for (const file of files) await readChecked(join(lake, file.path), file)
  for (const list of snapshot.versions) await readChecked(join(lake, '_manifest/parts', list.name), list)
  const connection = await (await DuckDBInstance.create()).connect()
  await connection.run("SET TimeZone = 'UTC'")
  const compute = snapshot.taken?.at(-1)?.take.compute ?? {}
  const tables = new Map<string, readonly unknown[]>()
  for (const [table, [main, own, listed]] of Object.entries(OWNERS)) {
    const some = files.filter((file) => file.table === table)
    const lists = snapshot.versions.filter((one) => one.kind === 'superseded' && one.table === main)
    const superseded =
      lists.length === 0
        ? ''
        : `WHERE NOT EXISTS (FROM read_parquet(${listOf(lists.map(({ name }) => join(lake, '_manifest/parts', name)))}) AS s
  WHERE s.version = r.version AND ${own.map((name, at) => `s.${listed[at]} = r.${name}`).join(' AND ')})`
    const computed = Object.entries(compute).flatMap(([name, sql]) =>
      name.startsWith(`${table}.`) ? [`, (${sql}) AS "${name.slice(table.length + 1)}"`] : [],
    )
    const result = await connection.runAndReadAll(`SELECT to_json(t)::VARCHAR FROM (
  SELECT * EXCLUDE (version)${computed.join('')} FROM (
    SELECT * EXCLUDE (file_index), [${some.map(({ version }) => version)}][file_index::BIGINT + 1] AS version
    FROM (SELECT *, file_index FROM read_parquet(${listOf(some.map(({ path }) => join(lake, path)))}, union_by_name = true, hive_partitioning = false))
  ) AS r ${superseded}) AS t`)
    tables.set(
      table,
      result.getRows().map(([row]) => JSON.parse(String(row))),
    )
  }
  connection.closeSync()
  return tables
}
