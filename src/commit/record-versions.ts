/**
 * The list of superseded keys: which versions of records others have superseded, and which version of each record is the last.
 * Made at each commit from the keys of what it adds and the lists before, so that nobody has to find it out from all rows.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { CommittedPartition, VersionFile } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes, defaultLocalBytes, type PlaceOf, withFiles } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { LISTINGS, mainTables, TABLES, type Table } from '../lake/tables/tables.ts'
import { recordKey, versionFacts, versionFilesOf } from '../lake/views/current-versions.ts'
import { lastVersionWith, ofLastVersion, versionOrder } from '../lake/views/version-order.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { storageOf } from '../storage/open-storage.ts'
import { makeFolders } from '../support/file-modes.ts'
import { temporaryName } from '../support/process-identity.ts'
import type { ConfirmedGone } from './confirmed-gone.ts'
import type { PartWriter } from './extend-list.ts'
import { type Added, type KeyFile, keyFilesOf, keyRows, rowsInFiles } from './key-files.ts'
import { type MovedVersion, movedAsOf } from './source-instants.ts'

/** Records that the lake had newer data of: how many, and the latest instant of that data. */
export interface OlderRecords {
  readonly older: number
  readonly olderThan: string
}

interface ListRequest extends Added {
  /** The lists before; none where the commit lists all that there is. */
  readonly before: Pick<SnapshotRoot, 'versions'> | null
  /** Partitions of a compaction, in which the versions between the partition before and theirs are put together. @default none */
  readonly compacted?: readonly CommittedPartition[] | undefined
  readonly writer: PartWriter
  /** Versions before that turn out to be as of another instant. @default none */
  readonly moved?: readonly MovedVersion[] | undefined
  /** Listings that lacked gone companies again. @default none */
  readonly confirmed?: ConfirmedGone | undefined
  /** Called with the versions that came of which the lake had newer data. */
  readonly onOlder?: ((version: number, older: OlderRecords) => void) | undefined
}

/**
 * Makes the lists of the next snapshot.
 *
 * @throws {ToolkitError} `LAKE_DAMAGED`, `DISK_FULL`, `WRITE_FAILED`
 */
export type ListVersions = (request: ListRequest) => Promise<readonly VersionFile[]>

/** Lake and session of the work. */
export interface VersionsContext {
  readonly lake: string
  readonly session: Session
  /** The most that files of a lake in a bucket take on this machine at once, in bytes. @default FIRMLAKE_CACHE_BYTES */
  readonly localBytes?: number | undefined
  /** @default as measured */
  readonly sizes?: typeof SIZES | undefined
}

const SIZES = {
  /** Rows that are sorted in memory at once, and of a file. */
  mostRows: 4_000_000,
  /** Shorter files are put together with those that come. */
  smallRows: 100_000,
}

/** The tables whose records have versions: main tables, and the dictionary. */
const versionedTables = (): readonly Table[] => [
  ...mainTables(),
  ...TABLES.filter(({ content }) => content === undefined),
]

const union = (...parts: readonly (string | undefined)[]): string =>
  parts.filter((part) => part !== undefined).join('\nUNION ALL ')

class TableVersions {
  readonly #context: VersionsContext
  readonly #table: Table
  readonly #writer: PartWriter
  readonly #keys: string
  readonly #sizes: typeof SIZES
  /** Folder of this machine for files on their way. */
  readonly #scratch: string

  constructor(context: VersionsContext, table: Table, writer: PartWriter) {
    this.#context = context
    this.#table = table
    this.#writer = writer
    this.#keys = recordKey(table).map(ident).join(', ')
    this.#sizes = context.sizes ?? SIZES
    // Not in the run's folder, which several commits of the run share and the first of them removes.
    this.#scratch = inLake(context.lake, `${RUNS_FOLDER}/${temporaryName()}`)
  }

  /** Works with lists of versions where DuckDB finds them. */
  async #withLists<T>(files: readonly VersionFile[], work: (placeOf: PlaceOf) => Promise<T>): Promise<T> {
    try {
      return await withFiles(this.#context.lake, versionFacts(files), join(this.#scratch, 'lists'), {}, work)
    } finally {
      await rm(this.#scratch, { recursive: true, force: true })
    }
  }

  /** Keys of files with what stands beside them in a list; of a lake in a bucket a few files at a time are fetched, and their keys kept. */
  async #keysIn(files: readonly KeyFile[], isListing = false): Promise<string | undefined> {
    const { lake, session, localBytes = defaultLocalBytes(lake) } = this.#context
    if (files.length === 0) return undefined
    if (!storageOf(lake).isRemote) return keyRows(this.#keys, files, (path) => inLake(lake, path), isListing)
    const copies: string[] = []
    await makeFolders(this.#scratch, { within: inLake(lake, '') })
    for (const some of cutByBytes(files, localBytes)) {
      const copy = join(this.#scratch, `keys-${some[0]?.version}-${copies.length}.parquet`)
      await withFiles(lake, some, join(this.#scratch, 'files'), {}, (placeOf) =>
        session.copy(keyRows(this.#keys, some, placeOf, isListing), copy, { kind: 'parquet' }),
      )
      copies.push(copy)
    }
    return `SELECT * FROM ${readParquet(pathsSql(copies))}`
  }

  /** Rows of lists of one kind. */
  #listed(files: readonly VersionFile[], placeOf: PlaceOf): string {
    return `FROM ${readParquet(pathsSql(versionFacts(files).map(({ path }) => placeOf(path))), 'union_by_name = true')}`
  }

  /** Rows in pieces that are sorted in memory at once; a key is in one of them. */
  #inPieces(sql: string, rows: number): readonly string[] {
    const count = Math.ceil(rows / this.#sizes.mostRows)
    if (count <= 1) return [`SELECT * FROM (${sql})`]
    return Array.from(
      { length: count },
      (_, piece) => `SELECT * FROM (${sql}) WHERE hash(${this.#keys}) % ${count} = ${piece}`,
    )
  }

  /** The last version of each key in the order, where several lists have the key. */
  #lastOf(rows: string): string {
    return `SELECT ${this.#keys}, last.version AS version, last.as_of AS as_of, last.is_listing AS is_listing
FROM (SELECT ${this.#keys}, ${lastVersionWith('is_listing')} AS last FROM (${rows}) GROUP BY ${this.#keys})`
  }

  /** The versions in some rows that later versions of the same record stand behind in the order, with the first of these. */
  #behindOthers(rows: string): string {
    return `SELECT * FROM (
  SELECT ${this.#keys}, version, as_of, is_listing, min(version) OVER behind AS next, arg_min(is_listing, version) OVER behind AS is_gone
  FROM (${rows}) WINDOW behind AS (PARTITION BY ${this.#keys} ORDER BY ${versionOrder()} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
) WHERE next IS NOT NULL`
  }

  /** Last versions before, as of the instants that are known by now: a source may be of another one, and a mark of a later listing. */
  #corrected(rows: string, moved: readonly MovedVersion[], isConfirmed: boolean): string {
    if (moved.length === 0 && !isConfirmed) return rows
    const last = `SELECT * REPLACE (${movedAsOf(moved)} AS as_of) FROM (${this.#lastOf(rows)})`
    return isConfirmed
      ? `SELECT r.* REPLACE (CASE WHEN r.is_listing THEN greatest(r.as_of, c.as_of) ELSE r.as_of END AS as_of)
FROM (${last}) AS r LEFT JOIN (SELECT ${this.#keys}, max(as_of) AS as_of FROM newly_confirmed GROUP BY ${this.#keys}) AS c USING (${this.#keys})`
      : last
  }

  /** Writes a list, ordered by key: whoever looks for a few ids reads little of it. */
  async #write(kind: VersionFile['kind'], rows: string): Promise<readonly VersionFile[]> {
    const { lake, session } = this.#context
    await makeFolders(this.#scratch, { within: inLake(lake, '') })
    const local = join(this.#scratch, `${kind}.parquet`)
    const sorted = `SELECT * FROM (${rows}) ORDER BY ${this.#keys}, version, as_of`
    try {
      const { rows: count } = await session.copy(sorted, local, { kind: 'parquet' })
      if (count === 0) return []
      const [counted] = await session.rows(
        `SELECT count(*) AS n FROM ${readParquet(literal(local))} WHERE NOT is_listing`,
      )
      const ref = await this.#writer.place(await readFile(local))
      return [{ kind, table: this.#table.name, ...ref, rows: count, records: Number(counted?.n) }]
    } catch (error) {
      throw writeError(`Cannot list the versions of table "${this.#table.name}"`, error)
    } finally {
      await rm(local, { force: true })
    }
  }

  /** Adds rows to the lists of a kind; the short ones at their end become one with them. */
  async #append(
    kind: VersionFile['kind'],
    before: readonly VersionFile[],
    added: { readonly sql: string; readonly rows: number },
    placeOf: PlaceOf,
  ): Promise<readonly VersionFile[]> {
    if (added.rows === 0) return before
    const { mostRows, smallRows } = this.#sizes
    let [rows, at] = [added.rows, before.length]
    for (; at > 0; at -= 1) {
      const own = before[at - 1]?.rows ?? 0
      if (own > Math.max(rows, smallRows) || own + rows > mostRows) break
      rows += own
    }
    const merged = before.slice(at)
    const all =
      merged.length === 0 ? added.sql : `(${added.sql}) UNION ALL (${this.#listed(merged, placeOf)})`
    const written: VersionFile[] = []
    for (const some of this.#inPieces(all, rows))
      written.push(...(await this.#write(kind, kind === 'last' ? this.#lastOf(some) : some)))
    return [...before.slice(0, at), ...written]
  }

  /** Makes the table of versions that are newly superseded, among those that came and the last ones before. @returns how many */
  async #findSuperseded(came: string, rows: number, last: string | undefined): Promise<number> {
    const { session } = this.#context
    const before = last && this.#lastOf(`SELECT * FROM (${last}) SEMI JOIN came USING (${this.#keys})`)
    for (const [piece, some] of this.#inPieces(came, rows).entries()) {
      const found = `WITH came AS MATERIALIZED (${some})
${this.#behindOthers(union('FROM came', before))}`
      await session.run(
        piece === 0
          ? `CREATE OR REPLACE TEMP TABLE newly_superseded AS ${found}`
          : `INSERT INTO newly_superseded ${found}`,
      )
    }
    const [counted] = await session.rows('SELECT count(*)::INTEGER AS n FROM newly_superseded')
    return Number(counted?.n)
  }

  /** Makes the table of listings that lacked companies again behind versions that came late. @returns how many */
  async #findConfirmed(came: string, confirmed: ConfirmedGone | undefined): Promise<number> {
    if (confirmed === undefined || came === '') return 0
    const { session } = this.#context
    await session.run(`CREATE OR REPLACE TEMP TABLE newly_confirmed AS ${confirmed(came)}`)
    const [counted] = await session.rows('SELECT count(*)::INTEGER AS n FROM newly_confirmed')
    return Number(counted?.n)
  }

  /** Counts the records that came after newer ones, of those that are newly superseded. */
  async #countOlder(
    { onOlder, partitions }: Pick<ListRequest, 'onOlder' | 'partitions'>,
    last: string | undefined,
  ): Promise<void> {
    const first = partitions[0]?.version
    const isRecords = this.#table.content !== undefined
    if (onOlder === undefined || first === undefined || last === undefined || !isRecords) return
    const rows = await this.#context.session.rows(
      `SELECT n.version::INTEGER AS version, count(*)::INTEGER AS records, epoch_ms(max(l.as_of))::VARCHAR AS ms
FROM newly_superseded AS n JOIN (${this.#lastOf(last)}) AS l USING (${this.#keys})
WHERE n.version >= ${first} AND n.next < ${first} AND NOT n.is_listing GROUP BY n.version`,
    )
    for (const { version, records, ms } of rows)
      onOlder(Number(version), { older: Number(records), olderThan: new Date(Number(ms)).toISOString() })
  }

  /** @param before the lists of all tables */
  async extend(
    before: readonly VersionFile[],
    added: Added & Pick<ListRequest, 'onOlder' | 'moved' | 'confirmed'>,
  ): Promise<readonly VersionFile[]> {
    const ofKind = (kind: VersionFile['kind']) => versionFilesOf({ versions: before }, kind, this.#table)
    const [last, superseded, again] = [ofKind('last'), ofKind('superseded'), ofKind('confirmed')]
    const { name, content } = this.#table
    const records = keyFilesOf(added, name)
    const isListed = content === LISTINGS.content
    const listings = isListed ? keyFilesOf(added, LISTINGS.name) : []
    if (records.length + listings.length === 0) return [...last, ...superseded, ...again]
    const moved = added.moved?.filter((one) => one.content === content) ?? []
    const confirmed = isListed ? added.confirmed : undefined
    // No partition has a record twice: without a list before, the greatest one stands in for it.
    const byVersion = [...Map.groupBy(records, ({ version }) => version).values()]
    const [largest = []] = last.length > 0 ? [] : byVersion.sort((a, b) => rowsInFiles(b) - rowsInFiles(a))
    const others = records.filter((file) => !largest.includes(file))
    return this.#withLists([...last, ...superseded, ...again], async (placeOf) => {
      const came = union(await this.#keysIn(others), await this.#keysIn(listings, true))
      const confirmedRows = await this.#findConfirmed(came, confirmed)
      const held =
        last.length > 0 ? this.#corrected(this.#listed(last, placeOf), moved, confirmedRows > 0) : undefined
      const known = held ?? (await this.#keysIn(largest))
      const rows = rowsInFiles([...others, ...listings])
      const count = rows === 0 ? 0 : await this.#findSuperseded(came, rows, known)
      if (count > 0) await this.#countOlder(added, known)
      // Lists are written anew if versions are as of another instant than they said; else only marks that are confirmed.
      const isAnew = held !== undefined && moved.length > 0
      const marks =
        held !== undefined && confirmedRows > 0
          ? `SELECT k.* FROM (${held}) AS k SEMI JOIN newly_confirmed USING (${this.#keys}) WHERE k.is_listing`
          : undefined
      const newest = {
        sql: union(held === undefined || isAnew ? known : marks, rows > 0 ? came : undefined),
        rows: rowsInFiles([...records, ...listings, ...(isAnew ? last : [])]),
      }
      const movedBefore =
        isAnew && superseded.length > 0
          ? `SELECT * REPLACE (${movedAsOf(moved)} AS as_of) ${this.#listed(superseded, placeOf)}`
          : undefined
      const behind = {
        sql: union(movedBefore, count > 0 || movedBefore === undefined ? 'FROM newly_superseded' : undefined),
        rows: count + (movedBefore === undefined ? 0 : rowsInFiles(superseded)),
      }
      const newlyConfirmed = { sql: 'FROM newly_confirmed', rows: confirmedRows }
      const extended = [
        ...(await this.#append('last', isAnew ? [] : last, newest, placeOf)),
        ...(await this.#append('superseded', movedBefore === undefined ? superseded : [], behind, placeOf)),
        ...(await this.#append('confirmed', again, newlyConfirmed, placeOf)),
      ]
      await this.#context.session.run('DROP TABLE IF EXISTS newly_superseded')
      await this.#context.session.run('DROP TABLE IF EXISTS newly_confirmed')
      return extended
    })
  }

  /** The files with a row that names a version in one of some columns. @param isNamed condition on a column */
  async #filesNaming(
    files: readonly VersionFile[],
    columns: readonly string[],
    isNamed: (column: string) => string,
    placeOf: PlaceOf,
  ): Promise<readonly VersionFile[]> {
    if (files.length === 0) return []
    const named = columns.map(
      (column) => `SELECT file_index ${this.#listed(files, placeOf)} WHERE ${isNamed(column)}`,
    )
    const found = await this.#context.session.rows(
      `SELECT DISTINCT file_index::INTEGER AS file FROM (${union(...named)})`,
    )
    const places = new Set(found.map(({ file }) => Number(file)))
    return files.filter((_, at) => places.has(at))
  }

  /**
   * The lists once a compaction has put versions together: those below its own numbers, from behind the last partition on that it has
   * left as it was. Its records keep the instants that they had. Files that name none of these versions stay as they are,
   * and so do listings that lacked a company again.
   */
  async merge(
    before: readonly VersionFile[],
    compacted: readonly CommittedPartition[],
    partitions: readonly CommittedPartition[],
  ): Promise<readonly VersionFile[]> {
    const own = before.filter(({ table }) => table === this.#table.name)
    const made = compacted.filter(({ content }) => content === this.#table.content)
    if (made.length === 0) return own
    const first = Math.min(...compacted.map(({ version }) => version))
    const left = partitions.filter(
      ({ content, version }) => content === this.#table.content && version < first,
    )
    const from = (left.at(-1)?.version ?? 0) + 1
    const isMerged = (version: string): string => `${version} BETWEEN ${from} AND ${first - 1}`
    const versionOf = (table: string): number | undefined =>
      made.find(({ files }) => files.some((file) => file.table === table))?.version
    const standIns = { records: versionOf(this.#table.name), listings: versionOf(LISTINGS.name) }
    const ofKind = (kind: VersionFile['kind']) => versionFilesOf({ versions: before }, kind, this.#table)
    return this.#withLists(own, async (placeOf) => {
      const last = await this.#filesNaming(ofKind('last'), ['version'], isMerged, placeOf)
      const superseded = await this.#filesNaming(ofKind('superseded'), ['version', 'next'], isMerged, placeOf)
      const anew = [...last, ...superseded]
      const written = own.filter((file) => !anew.includes(file))
      const columns = `${this.#keys}, version, as_of, is_listing`
      const rows = union(
        last.length === 0
          ? undefined
          : `SELECT ${columns}, NULL::BIGINT AS next, NULL::BOOLEAN AS is_gone ${this.#listed(last, placeOf)}`,
        superseded.length === 0
          ? undefined
          : `SELECT ${columns}, next, is_gone ${this.#listed(superseded, placeOf)}`,
      )
      if (anew.length > 0)
        for (const some of this.#inPieces(rows, rowsInFiles(anew)))
          written.push(...(await this.#writeMerged(some, isMerged, standIns)))
      return written
    })
  }

  /**
   * Writes rows of lists anew, with the numbers that stand in for merged versions. A record's last merged version, and the last one that is
   * no listing, stand where their stand-ins do among its other versions: what is behind the one is behind the other.
   *
   * @param rows of both kinds; those of last versions have no `next`
   */
  async #writeMerged(
    rows: string,
    isMerged: (version: string) => string,
    { records, listings }: Readonly<Record<'records' | 'listings', number | undefined>>,
  ): Promise<readonly VersionFile[]> {
    const { session } = this.#context
    const keys = this.#keys
    const columns = `${keys}, version, as_of, is_listing`
    // Behind the last record among merged versions only the mark of a gone company can stand.
    const standIn = (version: number, isListing: boolean, of: string): string =>
      `SELECT ${keys}, ${version}::BIGINT AS version, max(as_of) AS as_of, ${isListing} AS is_listing,
  ${ofLastVersion(`CASE WHEN ${isMerged('next')} THEN ${listings ?? records} ELSE next END`)} AS next, ${ofLastVersion('is_gone')} AS is_gone
FROM merged ${of}`
    const standIns = union(
      records === undefined ? undefined : standIn(records, false, `WHERE NOT is_listing GROUP BY ${keys}`),
      listings === undefined
        ? undefined
        : standIn(listings, true, `GROUP BY ${keys} HAVING ${ofLastVersion('is_listing')}`),
    )
    await session.run(`CREATE OR REPLACE TEMP TABLE held AS ${rows}`)
    await session.run(`CREATE OR REPLACE TEMP TABLE stand_ins AS WITH merged AS MATERIALIZED (
  SELECT ${keys}, version, max(as_of) AS as_of, bool_or(is_listing) AS is_listing, any_value(next) AS next, any_value(is_gone) AS is_gone
  FROM held WHERE ${isMerged('version')} GROUP BY ${keys}, version
)
${standIns}`)
    const isLeft = `NOT (${isMerged('h.version')})`
    // A listing that supersedes a row may be no mark any more, where a record was merged behind it: then that record does.
    const isAlike = 's.is_listing = h.is_gone'
    const written = [
      ...(await this.#write(
        'last',
        this.#lastOf(
          `SELECT ${columns} FROM held AS h WHERE next IS NULL AND ${isLeft} UNION ALL SELECT ${columns} FROM stand_ins WHERE next IS NULL`,
        ),
      )),
      ...(await this.#write(
        'superseded',
        `SELECT * FROM held AS h WHERE ${isLeft} AND NOT (${isMerged('h.next')})
UNION ALL
SELECT ${keys}, h.version, h.as_of, h.is_listing, arg_max(s.version, ${isAlike}), arg_max(s.is_listing, ${isAlike})
FROM held AS h JOIN stand_ins AS s USING (${keys}) WHERE ${isLeft} AND ${isMerged('h.next')} GROUP BY ALL
UNION ALL
SELECT * FROM stand_ins WHERE next IS NOT NULL`,
      )),
    ]
    await session.run('DROP TABLE held; DROP TABLE stand_ins')
    return written
  }

  /** The lists without the rows of some companies. */
  async without(
    before: readonly VersionFile[],
    companies: readonly bigint[],
  ): Promise<readonly VersionFile[]> {
    const own = before.filter(({ table }) => table === this.#table.name)
    const left = `${this.#keys} NOT IN (SELECT unnest([${companies.join(', ')}]::BIGINT[]))`
    const written: VersionFile[] = []
    await this.#withLists(own, async (placeOf) => {
      for (const file of own) {
        const rows = `SELECT * FROM (${this.#listed([file], placeOf)}) WHERE ${left}`
        written.push(...(await this.#write(file.kind, rows)))
      }
    })
    return written
  }
}

/** Lists the versions of a commit in a session. */
export const listVersions =
  (context: VersionsContext): ListVersions =>
  async ({ before, compacted, writer, ...added }) => {
    const known = before?.versions ?? []
    const lists: VersionFile[] = []
    for (const table of versionedTables()) {
      const own = new TableVersions(context, table, writer)
      if (compacted === undefined) lists.push(...(await own.extend(known, added)))
      else if (table.content === undefined) lists.push(...(await own.extend([], added)))
      else lists.push(...(await own.merge(known, compacted, added.partitions)))
    }
    return lists
  }

/**
 * The lists without some companies, and without line items that only their records had.
 *
 * @param files the dictionaries that are left
 * @throws as `ListVersions`
 */
export const versionsWithout = async (
  context: VersionsContext,
  companies: readonly bigint[],
  {
    before,
    files,
    writer,
  }: Pick<ListRequest, 'files' | 'writer'> & { readonly before: Pick<SnapshotRoot, 'versions'> },
): Promise<readonly VersionFile[]> => {
  const lists: VersionFile[] = []
  for (const table of versionedTables()) {
    const own = new TableVersions(context, table, writer)
    lists.push(
      ...(table.content === undefined
        ? await own.extend([], { partitions: [], files })
        : await own.without(before.versions, companies)),
    )
  }
  return lists
}
