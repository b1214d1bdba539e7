/**
 * Finds the rows of a table that are superseded, where they stand in its files, and which of that is new since the table was
 * published. A table's rows are versions of records; the main table of its content says which versions a record has,
 * and the last one counts (`lake/views/current-versions.ts`). A listing that lacks a company counts as a version
 * without rows.
 */

import { join } from 'node:path'
import type { SnapshotHead } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes, type PlaceOf, withFiles } from '../lake/files/fetch-tables.ts'
import { mainTables, type Table } from '../lake/tables/tables.ts'
import { recordKey, versionFacts } from '../lake/views/current-versions.ts'
import type { FileChanges, ShownSnapshot, TableFile, TableInSnapshot } from './table-files.ts'

/** The table whose rows say which of a table are current. */
export const mainOf = (table: Table): Table =>
  mainTables().find(({ content }) => content === table.content) ?? table

/** Files whose superseded rows are held at once. */
const FILES_AT_ONCE = 64

const SUPERSEDED = 'superseded_versions'
const POSITIONS = 'superseded_positions'

/** Columns of some files with the version of each row. DuckDB numbers the files of a scan in the order of the list. */
const versioned = (files: readonly TableFile[], placeOf: PlaceOf, columns: readonly string[]): string =>
  `SELECT ${columns.join(', ')}, [${files.map(({ version }) => version).join(',')}][file_index::BIGINT + 1] AS version
FROM ${readParquet(pathsSql(files.map(({ path }) => placeOf(path))), 'union_by_name = true', 'file_row_number = true')}`

/** A file and how many of its rows are superseded. */
export interface CountedFile {
  readonly file: TableFile
  /** The file's place on this machine. */
  readonly place: string
  readonly superseded: number
  /** Rows that a version from `since` on has superseded. */
  readonly fresh: number
  /** SQL of their positions (`pos`, from 0, ascending). */
  readonly positions: (of: 'all' | 'fresh') => string
}

/** Session and folders of the work. */
export interface SupersededContext {
  readonly lake: string
  readonly session: Session
  /** Folder of this machine; files of a bucket stand in it while they are read. */
  readonly scratch: string
  /** The most that they take in it at once, in bytes. */
  readonly localBytes: number
  readonly signal?: AbortSignal | undefined
}

export interface CountRequest {
  readonly table: Table
  readonly snapshot: TableInSnapshot
  /** The first version whose superseding is fresh. */
  readonly since: number
}

/** Ids of records, the first and the last. */
export interface IdRange {
  readonly first: bigint
  readonly last: bigint
}

/** The superseded rows of one snapshot at a time; the tables of a content share what is known of their records. */
export class SupersededRows {
  readonly #context: SupersededContext
  #known = ''

  constructor(context: SupersededContext) {
    this.#context = context
  }

  /** Reads files, a few at a time. */
  async #reading(
    files: readonly TableFile[],
    use: (some: readonly TableFile[], placeOf: PlaceOf) => Promise<void>,
  ): Promise<void> {
    const { lake, scratch, localBytes, signal } = this.#context
    for (const some of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
      signal?.throwIfAborted()
      await withFiles(lake, some, join(scratch, 'versions'), { signal }, (placeOf) => use(some, placeOf))
    }
  }

  /** Versions of records that others have superseded: key, `version`, and the `next` one. */
  async #make(table: Table, { snapshot, superseded }: TableInSnapshot): Promise<void> {
    const { lake, session, scratch, signal } = this.#context
    const main = mainOf(table)
    const known = `${snapshot} ${main.name}`
    if (this.#known === known) return
    const keys = recordKey(main).map((name, at) => `${ident(name)} AS k${at}`)
    const listed = versionFacts(superseded)
    await withFiles(lake, listed, join(scratch, 'versions'), { signal }, (placeOf) => {
      const paths = pathsSql(listed.map(({ path }) => placeOf(path)))
      const rows = `SELECT ${keys.join(', ')}, version, next FROM ${readParquet(paths)}`
      const none = recordKey(main).map((_, at) => `NULL::VARCHAR AS k${at}`)
      return session.run(
        `CREATE OR REPLACE TEMP TABLE ${SUPERSEDED} AS ${
          listed.length > 0 ? rows : `SELECT ${none.join(', ')}, 0 AS version, 0 AS next LIMIT 0`
        }`,
      )
    })
    this.#known = known
  }

  /** Files that may have fresh rows. @param files where it is known, with the ids of their records */
  async touched<File extends Pick<TableFile, 'version'> & { readonly ids?: IdRange | undefined }>(
    { table, snapshot, since }: CountRequest,
    files: readonly File[],
  ): Promise<readonly File[]> {
    if (files.length === 0) return []
    await this.#make(table, snapshot)
    const places = files.map(
      ({ version, ids }, at) => `(${at}, ${version}, ${ids?.first ?? 'NULL'}, ${ids?.last ?? 'NULL'})`,
    )
    // Files of a table whose key is no id have no ranges: TRY_CAST fails on no value of its key.
    const found = await this.#context.session.rows(`SELECT DISTINCT f.place
FROM (VALUES ${places.join(', ')}) AS f(place, version, least, greatest)
JOIN ${SUPERSEDED} AS s ON s.version = f.version AND s.next >= ${since}
  AND (f.least IS NULL OR TRY_CAST(s.k0 AS BIGINT) BETWEEN f.least AND f.greatest)`)
    const chosen = new Set(found.map(({ place }) => Number(place)))
    return files.filter((_, at) => chosen.has(at))
  }

  /** Counts the superseded rows of files. @param use is given a few files at a time, which can be read until it has ended */
  async count(
    request: CountRequest,
    files: readonly TableFile[],
    use: (some: readonly CountedFile[]) => Promise<void>,
  ): Promise<void> {
    if (files.length === 0) return
    await this.#make(request.table, request.snapshot)
    await this.#reading(files, async (some, placeOf) => use(await this.#countIn(request, some, placeOf)))
  }

  async #countIn(
    { table, since }: CountRequest,
    files: readonly TableFile[],
    placeOf: PlaceOf,
  ): Promise<readonly CountedFile[]> {
    const { session } = this.#context
    const key = recordKey(table)
    const columns = [...key.map(ident), 'file_index AS file', 'file_row_number AS pos']
    const same = key.map((name, at) => `s.k${at} = r.${ident(name)}`).join(' AND ')
    await session.run(`CREATE OR REPLACE TEMP TABLE ${POSITIONS} AS
SELECT r.file, r.pos, s.next FROM (${versioned(files, placeOf, columns)}) AS r
JOIN ${SUPERSEDED} AS s ON ${same} AND s.version = r.version ORDER BY r.file, r.pos`)
    const counts = await session.rows(`SELECT file::INTEGER AS file, count(*) AS superseded,
  count(*) FILTER (next >= ${since}) AS fresh FROM ${POSITIONS} GROUP BY file`)
    const byFile = new Map(counts.map((row) => [Number(row.file), row]))
    return files.map((file, at) => ({
      file,
      place: placeOf(file.path),
      superseded: Number(byFile.get(at)?.superseded ?? 0),
      fresh: Number(byFile.get(at)?.fresh ?? 0),
      positions: (of) =>
        `SELECT pos FROM ${POSITIONS} WHERE file = ${at}${of === 'fresh' ? ` AND next >= ${since}` : ''} ORDER BY pos`,
    }))
  }
}

/** Changes of a table since a snapshot: versions from `since` on have superseded rows of those before. */
export interface SinceShown {
  readonly since: number
  /** The table's new files, by their paths in the lake. */
  readonly added: ReadonlySet<string>
  /** A compaction has put rows of files into others, and nothing else has happened: the current rows are the same. */
  readonly isRearranged: boolean
}

/** Files that came; `null` where others went. */
const onlyAdded = (changes: FileChanges | null): readonly TableFile[] | null =>
  changes === null || changes.removed.length > 0 ? null : changes.added

const minVersion = (files: readonly TableFile[]): number =>
  files.reduce((min, { version }) => Math.min(min, version), Number.POSITIVE_INFINITY)

/** A table in a snapshot, and how that came about. */
type SnapshotOfLake = TableInSnapshot & Pick<SnapshotHead, 'pipeline' | 'parent'>

const pathsOf = (files: readonly TableFile[]): ReadonlySet<string> => new Set(files.map(({ path }) => path))

/** @returns `null` where something else than one compaction came since */
const sinceCompaction = async (
  snapshot: SnapshotOfLake,
  shown: ShownSnapshot | null,
): Promise<SinceShown | null> => {
  if (snapshot.pipeline !== 'compact' || shown === null || shown.snapshot !== snapshot.parent) return null
  const changes = await snapshot.changesSince(shown)
  return changes && { since: Number.MAX_SAFE_INTEGER, added: pathsOf(changes.added), isRearranged: true }
}

/**
 * @returns `null` where the table has to be made from all that the snapshot lists: nothing is shown yet, the snapshot that
 *   is shown is not kept, or files are gone, as after a compaction and loads
 */
export const sinceShown = async (
  snapshot: SnapshotOfLake,
  shown: ShownSnapshot | null,
): Promise<SinceShown | null> => {
  const rearranged = await sinceCompaction(snapshot, shown)
  if (rearranged) return rearranged
  const added = shown && onlyAdded(await snapshot.changesSince(shown))
  const main = shown && onlyAdded(await snapshot.main.changesSince(shown))
  const listings = shown && onlyAdded(await snapshot.listings.changesSince(shown))
  if (!added || !main || !listings) return null
  const deciding = [...main, ...listings]
  const since = minVersion(deciding)
  const come = { added: pathsOf(added), isRearranged: false }
  if (since === Number.POSITIVE_INFINITY) return { since: Number.MAX_SAFE_INTEGER, ...come }
  const paths = pathsOf(deciding)
  const files = [...(await snapshot.main.files()), ...(await snapshot.listings.files())]
  if (files.some(({ path, version }) => version >= since && !paths.has(path))) return null
  return { since, ...come }
}
