/** Records of a partition as each of its versions had them: of a compaction that keeps history one version after the other. */

import { join } from 'node:path'
import type { CommittedPartition, FileEntry } from '../core/partition.ts'
import { ident, pathsSql } from '../lake/duckdb/sql.ts'
import { copiesOfLake, type FileAccess } from '../lake/files/file-access.ts'
import {
  FIRST_VERSION,
  hasOwnVersions,
  isOfTable,
  pastOf,
  versionsTable,
  withFirstVersion,
} from '../lake/tables/past-tables.ts'
import { mainTables, type Table, tablesOf } from '../lake/tables/tables.ts'
import { loadMacro } from '../lake/views/base-views.ts'
import { HIDDEN_SCHEMA, readTable } from '../lake/views/current-versions.ts'
import { compactedRows, heldRows, versionedRows } from '../lake/views/intervals.ts'
import { joinRepeats } from '../lake/views/join-repeats.ts'
import { loadsOf } from '../lake/views/source-macros.ts'
import { chainOf, listedVersions } from '../lake/views/version-chain.ts'
import { makeFolder, removeIfThere } from '../support/durable-files.ts'
import { type ForgetWork, freshFolder, withLakeFiles } from './forget-work.ts'
import { restoredStrings } from './reload.ts'

/** A record as a version had it. */
export interface PastRecord {
  readonly version: number
  readonly text: string
}

const PLACES = `${HIDDEN_SCHEMA}.forget_places`
const JOINED = `${HIDDEN_SCHEMA}.joined`

/** Makes the table of all versions of some records of a compaction. */
const makePlaces = async (
  work: ForgetWork,
  { content, files, version }: CommittedPartition,
  ids: readonly bigint[],
): Promise<readonly number[]> => {
  const { session, snapshot } = work
  const main = mainTables().find((table) => table.content === content)
  if (main === undefined) return []
  const { partitions, merged = [], files: ofRuns, versions } = snapshot
  // A load that is held back stands behind, with numbers of its own.
  const loads = [...merged, ...partitions].filter((one) => one.content === content && one.version <= version)
  await session.run(loadsOf(main, { partitions: loads, files: ofRuns, versions }))
  const own = files.filter(({ table }) => table === versionsTable(content).name)
  await withLakeFiles(work, own, (placeOf) => {
    const list = pathsSql(own.map(({ path }) => placeOf(path)))
    const none = { superseded: undefined, last: undefined, confirmed: undefined }
    const merged = { paths: list, versions: own.map(() => version) }
    const known = listedVersions(main, { ...none, merged }, loadMacro(main))
    return session.run(
      `CREATE OR REPLACE TABLE ${PLACES} AS ${chainOf(`SELECT * FROM (${known}) WHERE owner IN (${ids.join(', ')})`)}`,
    )
  })
  const rows = await session.rows(
    `SELECT DISTINCT version::INTEGER AS version FROM ${PLACES} WHERE NOT is_listing`,
  )
  return rows.map(({ version }) => Number(version))
}

const namesOf = ({ columns }: Table): string => columns.map(({ name }) => `r.${ident(name)}`).join(', ')

/** Rows of a table that records had in a version. @param current @param past files of a partition on this machine */
const rowsAt = (
  table: Table,
  { partition, version }: { readonly partition: number; readonly version: number },
  current: readonly string[],
  past: readonly string[],
): string => {
  const placed = (paths: readonly string[]) => paths.map((path) => ({ path, version: partition }))
  const currentSql = readTable(withFirstVersion(table), placed(current), 'with-version')
  const pastSql = past.length === 0 ? undefined : readTable(pastOf(table), placed(past), 'with-partition')
  const rows = compactedRows(table, heldRows(table, currentSql, true, pastSql), PLACES)
  return `SELECT ${namesOf(table)} FROM (${rows}) AS r
JOIN ${PLACES} AS n ON n.owner = r.${ident(table.owner ?? '')} AND n.version = ${version} AND n.place >= r.version AND n.place < r.until`
}

/** A partition of the rows that records had in a version, in files of this machine. */
const partitionAt = async (
  work: ForgetWork,
  partition: CommittedPartition,
  version: number,
  folder: string,
): Promise<CommittedPartition> => {
  const { session, signal } = work
  const files: FileEntry[] = []
  for (const table of tablesOf(partition.content)) {
    signal?.throwIfAborted()
    const own = partition.files.filter((file) => isOfTable(file, table.name) && file.rows > 0)
    if (own.length === 0) continue
    const path = join(folder, `${table.name}.parquet`)
    const { rows } = await withLakeFiles(work, own, (placeOf) => {
      const [current, past] = [true, false].map((isCurrent) =>
        own.filter((file) => (file.table === table.name) === isCurrent).map((file) => placeOf(file.path)),
      ) as [string[], string[]]
      const key = table.key.map(ident).join(', ')
      return session.copy(
        `${rowsAt(table, { partition: partition.version, version }, current, past)} ORDER BY ${key}`,
        path,
        {
          kind: 'parquet',
        },
      )
    })
    if (rows > 0) files.push({ table: table.name, path, rows, bytes: 0, sha256: '' })
  }
  const rows = Object.fromEntries(files.map((file) => [file.table, file.rows]))
  return {
    ...partition,
    source: { ...partition.source, kind: 'file' },
    ...{ files, counts: { lines: 0, records: rows[partition.content] ?? 0, quarantined: 0, rows } },
  }
}

/** Reads the files of such a partition where they are, and all others as copies of the lake. */
const accessTo = ({ lake, known }: ForgetWork, folder: string): FileAccess => {
  const copies = copiesOfLake(lake, { known })
  return {
    ...copies,
    placeOf: (path) => (path.startsWith(folder) ? path : copies.placeOf(path)),
    makeReadable: (files, options) =>
      copies.makeReadable(
        files.filter(({ path }) => !path.startsWith(folder)),
        options,
      ),
  }
}

/** The records of some ids in a partition, in all versions that it has of them. */
export async function* restoredRecords(
  work: ForgetWork,
  partition: CommittedPartition,
  ids: readonly bigint[],
): AsyncGenerator<PastRecord> {
  if (!hasOwnVersions(partition)) {
    for await (const text of restoredStrings(work, partition, ids)) yield { version: partition.version, text }
    return
  }
  for (const version of await makePlaces(work, partition, ids)) {
    const folder = freshFolder(work, 'version')
    await makeFolder(folder)
    const own = await partitionAt(work, partition, version, folder)
    for await (const text of restoredStrings(work, own, undefined, accessTo(work, folder)))
      yield { version, text }
    await removeIfThere(folder)
  }
}

/**
 * The rows of reloaded records of a compaction over the intervals of versions that had exactly them.
 *
 * @param reloaded files by table, of one version each; `restoredRecords` has been read of their records before
 * @returns files of this machine by table, of past rows too
 */
export const withIntervals = async (
  { session }: ForgetWork,
  { content }: CommittedPartition,
  reloaded: ReadonlyMap<number, ReadonlyMap<string, readonly string[]>>,
  folder: string,
): Promise<ReadonlyMap<string, readonly string[]>> => {
  const made = new Map<string, readonly string[]>()
  for (const table of tablesOf(content)) {
    const some = [...reloaded].flatMap(([version, files]) =>
      (files.get(table.name) ?? []).map((path) => ({ path, version })),
    )
    if (some.length === 0) continue
    const rows = (
      places: string,
    ): string => `SELECT ${namesOf(table)}, p.place AS version, p.place + 1 AS until
FROM (${readTable(table, some, 'with-version')}) AS r JOIN ${places} AS p ON p.owner = r.${ident(table.owner ?? '')} AND p.version = r.version`
    await joinRepeats(session, { name: JOINED, isThere: false }, table, { rows, places: PLACES })
    const joined = `(${versionedRows(table, `FROM ${JOINED}`, PLACES)})`
    const [current, past] = [
      join(folder, `${table.name}.parquet`),
      join(folder, `${table.name}-past.parquet`),
    ]
    const own = `SELECT * EXCLUDE (version, until, is_last), version AS ${FIRST_VERSION.name} FROM ${joined} WHERE is_last`
    await session.copy(own, current, { kind: 'parquet' })
    await session.copy(`SELECT * EXCLUDE (is_last) FROM ${joined} WHERE NOT is_last`, past, {
      kind: 'parquet',
    })
    await session.run(`DROP TABLE ${JOINED}`)
    made.set(table.name, [current])
    made.set(pastOf(table).name, [past])
  }
  return made
}
