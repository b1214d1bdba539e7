/**
 * The list of superseded keys: which versions of records others have superseded, and which version of each record is the last.
 * Made at each commit from the keys of what it adds and the lists before, so that nobody has to find it out from all rows.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { writeError } from '../core/errors.ts'
import type { CommittedPartition, FileOfRun, VersionFile } from '../core/partition.ts'
import type { Session } from '../lake/duckdb/engine.ts'
import { ident, literal, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes, defaultLocalBytes, type PlaceOf, withFiles } from '../lake/files/fetch-tables.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import { LISTINGS, mainTables, TABLES, type Table } from '../lake/tables/tables.ts'
import { recordKey, versionFacts, versionFilesOf } from '../lake/views/current-versions.ts'
import { lastVersionWith, ofLastVersion, versionOrder } from '../lake/views/version-order.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { storageOf } from '../storage/open-storage.ts'
import { makeFolder } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import type { PartWriter } from './extend-list.ts'
import { type MovedVersion, movedAsOf } from './moved-versions.ts'

/** Entries that a commit adds, with the versions that it gives. */
interface Added {
  readonly partitions: readonly CommittedPartition[]
  readonly files: readonly FileOfRun[]
}

/** Records that the lake had newer data of: how many, and the latest instant of that data. */
export interface OlderRecords {
  readonly older: number
  readonly olderThan: string
}

interface ListRequest extends Added {
  /** The lists before; none where the commit lists all that there is. */
  readonly before: Pick<SnapshotRoot, 'versions'> | null
  /** Partitions of a compaction, in which all versions with lower numbers than theirs are put together. @default none */
  readonly compacted?: readonly CommittedPartition[] | undefined
  readonly writer: PartWriter
  /** Versions before that turn out to be as of another instant. @default none */
  readonly moved?: readonly MovedVersion[] | undefined
  /** Marks of gone companies that a later listing confirmed, as `confirmedGone` gives them. @default none */
  readonly confirmed?: string | undefined
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

/** So many rows, one after the other, as of one instant. */
interface DatedRows {
  readonly rows: number
  readonly asOf: string
}

/** A file of keys, all of one version. */
interface KeyFile {
  readonly path: string
  readonly rows: number
  readonly bytes: number
  readonly sha256: string
  readonly version: number
  readonly dated: readonly DatedRows[]
}

/** A dictionary goes by its versions alone. */
const NO_INSTANT = new Date(0).toISOString()

/** The instants of a partition's records: where small sources share it, their records stand one source after the other. */
const datedRows = ({ asOf, sources = [], counts }: CommittedPartition): readonly DatedRows[] => {
  const own = sources.map((one) => ({ rows: one.counts.records, asOf: one.asOf ?? asOf }))
  const [first = { rows: counts.records, asOf }] = own
  return own.every((one) => one.asOf === first.asOf) ? [first] : own
}

/** Files of a table; those of a sink that writes no Parquet are of a lake that is not queried. */
const filesOf = ({ partitions, files }: Added, name: string): readonly KeyFile[] =>
  [
    ...partitions.flatMap((one) =>
      one.files.map((file) => ({ ...file, version: one.version, dated: datedRows(one) })),
    ),
    ...files.map((file) => ({ ...file, dated: [{ rows: file.rows, asOf: NO_INSTANT }] })),
  ].filter(({ table, path }) => table === name && path.endsWith('.parquet'))

const rowsOf = (files: readonly { readonly rows: number }[]): number =>
  files.reduce((sum, { rows }) => sum + rows, 0)

/** The tables whose records have versions: main tables, and the dictionary. */
const versionedTables = (): readonly Table[] => [
  ...mainTables(),
  ...TABLES.filter(({ content }) => content === undefined),
]

/** The lists of a table before, and the files of keys that came. */
interface ToExtend {
  readonly last: readonly VersionFile[]
  readonly superseded: readonly VersionFile[]
  readonly records: readonly KeyFile[]
  readonly listings: readonly KeyFile[]
}

const instantSql = (asOf: string): string => `TIMESTAMPTZ ${literal(asOf)}`

const isOfOneInstant = ({ dated }: KeyFile): boolean => dated.length === 1

/** The instant of a row by its place in the file. */
const asOfRow = ({ dated }: KeyFile): string => {
  let behind = 0
  const cases = dated.map(({ rows, asOf }) => {
    behind += rows
    return `WHEN file_row_number < ${behind} THEN ${instantSql(asOf)}`
  })
  return `CASE ${cases.join(' ')} END`
}

const holds = (files: CommittedPartition['files'], name: string): boolean =>
  files.some(({ table }) => table === name)

class TableVersions {
  readonly #context: VersionsContext
  readonly #table: Table
  readonly #writer: PartWriter
  readonly #keys: string
  /** Folder of this machine for files on their way. */
  readonly #scratch: string

  constructor(context: VersionsContext, table: Table, writer: PartWriter) {
    this.#context = context
    this.#table = table
    this.#writer = writer
    this.#keys = recordKey(table).map(ident).join(', ')
    // Not in the run's folder, which several commits of the run share and the first of them removes.
    this.#scratch = inLake(context.lake, `${RUNS_FOLDER}/${temporaryName()}`)
  }

  /** Keys of files with what stands beside them in a list. */
  #keysIn(files: readonly KeyFile[], placeOf: PlaceOf, isListing: boolean): string {
    const [alike, mixed] = [files.filter(isOfOneInstant), files.filter((file) => !isOfOneInstant(file))]
    const ofFile = (values: readonly (number | string)[]): string =>
      `[${values.join(',')}][file_index::BIGINT + 1]`
    const asOfAlike = ofFile(alike.map(({ dated }) => instantSql(dated[0]?.asOf ?? NO_INSTANT)))
    const rows = (some: readonly KeyFile[], asOf: string, ...more: readonly string[]): string =>
      `SELECT ${this.#keys}, ${ofFile(some.map(({ version }) => version))}::BIGINT AS version, ${asOf} AS as_of, ${isListing} AS is_listing
FROM ${readParquet(pathsSql(some.map(({ path }) => placeOf(path))), 'union_by_name = true', ...more)}`
    return [
      ...(alike.length > 0 ? [rows(alike, asOfAlike)] : []),
      ...mixed.map((file) => rows([file], asOfRow(file), 'file_row_number = true')),
    ].join('\nUNION ALL ')
  }

  /** The same of a lake in a bucket: a few files at a time are fetched, and only their keys are kept. */
  async #copyKeys(files: readonly KeyFile[], isListing: boolean): Promise<string> {
    const { lake, session, localBytes = defaultLocalBytes(lake) } = this.#context
    const scratch = this.#scratch
    const copies: string[] = []
    await makeFolder(scratch, { within: inLake(lake, '') })
    for (const some of cutByBytes(files, localBytes)) {
      const copy = join(scratch, `keys-${some[0]?.version}-${copies.length}.parquet`)
      await withFiles(lake, some, join(scratch, 'files'), {}, (placeOf) =>
        session.copy(this.#keysIn(some, placeOf, isListing), copy, { kind: 'parquet' }),
      )
      copies.push(copy)
    }
    return `SELECT * FROM ${readParquet(pathsSql(copies))}`
  }

  /** Rows of lists of one kind. */
  #listed(files: readonly VersionFile[], placeOf: PlaceOf): string {
    return `FROM ${readParquet(pathsSql(versionFacts(files).map(({ path }) => placeOf(path))), 'union_by_name = true')}`
  }

  /** Rows of lists of last versions, where some are as of another instant than they say. */
  #lastWith(moved: readonly MovedVersion[], files: readonly VersionFile[], placeOf: PlaceOf): string {
    const rows = this.#listed(files, placeOf)
    return moved.length === 0
      ? rows
      : `SELECT * REPLACE (${movedAsOf(moved)} AS as_of) FROM (${this.#lastOf(rows)})`
  }

  /** Last versions, each record once; marks of gone companies that a later listing confirmed are as of that listing. */
  #withConfirmed(rows: string, confirmed: string | undefined): string {
    return confirmed === undefined
      ? rows
      : `SELECT r.* REPLACE (greatest(r.as_of, c.as_of) AS as_of)
FROM (${this.#lastOf(rows)}) AS r LEFT JOIN (${confirmed}) AS c ON r.is_listing AND c.internal_id = r.internal_id AND c.version = r.version`
  }

  #movedOf({ moved = [] }: Pick<ListRequest, 'moved'>): readonly MovedVersion[] {
    return moved.filter(({ content }) => content === this.#table.content)
  }

  /** Writes a list, ordered by key: whoever looks for a few ids reads little of it. */
  async #write(kind: VersionFile['kind'], rows: string): Promise<readonly VersionFile[]> {
    const { lake, session } = this.#context
    await makeFolder(this.#scratch, { within: inLake(lake, '') })
    const local = join(this.#scratch, `${kind}.parquet`)
    try {
      const { rows: count } = await session.copy(
        `SELECT * FROM (${rows}) ORDER BY ${this.#keys}, version`,
        local,
        {
          kind: 'parquet',
        },
      )
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
  async #extend(
    kind: VersionFile['kind'],
    before: readonly VersionFile[],
    added: { readonly sql: string; readonly rows: number },
    placeOf: PlaceOf,
  ): Promise<readonly VersionFile[]> {
    if (added.rows === 0) return before
    const { mostRows, smallRows } = this.#context.sizes ?? SIZES
    let [rows, at] = [added.rows, before.length]
    for (; at > 0; at -= 1) {
      const own = before[at - 1]?.rows ?? 0
      if (own > Math.max(rows, smallRows) || own + rows > mostRows) break
      rows += own
    }
    const merged = before.slice(at)
    const all =
      merged.length === 0 ? added.sql : `(${added.sql}) UNION ALL (${this.#listed(merged, placeOf)})`
    const pieces = Math.ceil(rows / mostRows)
    const written: VersionFile[] = []
    for (let piece = 0; piece < pieces; piece += 1) {
      const some = `SELECT * FROM (${all})${pieces === 1 ? '' : ` WHERE hash(${this.#keys}) % ${pieces} = ${piece}`}`
      written.push(...(await this.#write(kind, kind === 'last' ? this.#lastOf(some) : some)))
    }
    return [...before.slice(0, at), ...written]
  }

  /** The last version of each key in the order, where several lists have the key. */
  #lastOf(rows: string): string {
    return `SELECT ${this.#keys}, last.version AS version, last.as_of AS as_of, last.is_listing AS is_listing
FROM (SELECT ${this.#keys}, ${lastVersionWith('is_listing')} AS last FROM (${rows}) GROUP BY ${this.#keys})`
  }

  /** Those of some versions of records that others are behind of in the order, with the first of these. */
  #behindOthers(rows: string): string {
    return `SELECT * FROM (
  SELECT ${this.#keys}, version, as_of, is_listing, min(version) OVER behind AS next, arg_min(is_listing, version) OVER behind AS is_gone
  FROM (${rows}) WINDOW behind AS (PARTITION BY ${this.#keys} ORDER BY ${versionOrder()} ROWS BETWEEN 1 FOLLOWING AND UNBOUNDED FOLLOWING)
) WHERE next IS NOT NULL`
  }

  /** Makes the table of versions that are newly superseded, among those that came and the last ones before. @returns how many */
  async #findSuperseded(came: string, rows: number, last: string | undefined): Promise<number> {
    const { session } = this.#context
    const pieces = Math.ceil(rows / (this.#context.sizes ?? SIZES).mostRows)
    const before =
      last === undefined
        ? ''
        : ` UNION ALL ${this.#lastOf(`SELECT * FROM (${last}) SEMI JOIN came USING (${this.#keys})`)}`
    for (let piece = 0; piece < pieces; piece += 1) {
      const some =
        pieces === 1 ? came : `SELECT * FROM (${came}) WHERE hash(${this.#keys}) % ${pieces} = ${piece}`
      const found = `WITH came AS MATERIALIZED (${some})
${this.#behindOthers(`FROM came${before}`)}`
      await session.run(
        piece === 0
          ? `CREATE OR REPLACE TEMP TABLE newly_superseded AS ${found}`
          : `INSERT INTO newly_superseded ${found}`,
      )
    }
    const [counted] = await session.rows('SELECT count(*)::INTEGER AS n FROM newly_superseded')
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
    const { lake } = this.#context
    const [last, superseded] = (['last', 'superseded'] as const).map((kind) =>
      versionFilesOf({ versions: before }, kind, this.#table),
    ) as [readonly VersionFile[], readonly VersionFile[]]
    const records = filesOf(added, this.#table.name)
    const listings = this.#table.content === LISTINGS.content ? filesOf(added, LISTINGS.name) : []
    if (records.length + listings.length === 0) return [...last, ...superseded]
    const lists = versionFacts([...last, ...superseded])
    try {
      return await withFiles(lake, lists, join(this.#scratch, 'lists'), {}, (placeOf) =>
        this.#extendBoth({ last, superseded, records, listings }, placeOf, added),
      )
    } finally {
      await rm(this.#scratch, { recursive: true, force: true })
    }
  }

  async #extendBoth(
    { last, superseded, records, listings }: ToExtend,
    placeOf: PlaceOf,
    added: Pick<ListRequest, 'onOlder' | 'moved' | 'confirmed' | 'partitions'>,
  ): Promise<readonly VersionFile[]> {
    const { lake, session } = this.#context
    const keysIn = (files: readonly KeyFile[], isListing = false): Promise<string> | string =>
      storageOf(lake).isRemote
        ? this.#copyKeys(files, isListing)
        : this.#keysIn(files, (path) => inLake(lake, path), isListing)
    // No partition has a record twice: without a list before, the greatest one stands in for it.
    const sizes = Map.groupBy(records, ({ version }) => version)
    const [greatest] = [...sizes].sort(([, a], [, b]) => rowsOf(b) - rowsOf(a))
    const base = last.length === 0 && greatest ? greatest[1] : []
    const others = records.filter((file) => !base.includes(file))
    const came = [
      ...(others.length > 0 ? [await keysIn(others)] : []),
      ...(listings.length > 0 ? [await keysIn(listings, true)] : []),
    ].join('\nUNION ALL ')
    const based = base.length > 0 ? await keysIn(base) : undefined
    const confirmed = this.#table.content === LISTINGS.content ? added.confirmed : undefined
    const held =
      last.length > 0
        ? this.#withConfirmed(this.#lastWith(this.#movedOf(added), last, placeOf), confirmed)
        : undefined
    const known = based ?? held
    const rows = rowsOf([...others, ...listings])
    const count = rows === 0 ? 0 : await this.#findSuperseded(came, rows, known)
    if (count > 0) await this.#countOlder(added, known)
    const all = [...(based === undefined ? [] : [based]), ...(rows > 0 ? [came] : [])]
    // Where some are as of another instant than they said, the whole list is written anew.
    const isAnew = known !== undefined && this.#movedOf(added).length > 0
    if (isAnew) all.push(known)
    else if (confirmed !== undefined && known !== undefined && rows > 0)
      all.push(
        `SELECT k.* FROM (${known}) AS k SEMI JOIN (${came}) AS o USING (${this.#keys}) WHERE k.is_listing`,
      )
    const newest = {
      sql: all.join('\nUNION ALL '),
      rows: rowsOf([...records, ...listings, ...(isAnew ? last : [])]),
    }
    const extended = [
      ...(await this.#extend('last', isAnew ? [] : last, newest, placeOf)),
      ...(await this.#extend(
        'superseded',
        superseded,
        { sql: 'FROM newly_superseded', rows: count },
        placeOf,
      )),
    ]
    await session.run('DROP TABLE IF EXISTS newly_superseded')
    return extended
  }

  /** The lists once a compaction has put together all versions below its own. Its records keep the instants that they had. */
  async merge(
    before: readonly VersionFile[],
    compacted: readonly CommittedPartition[],
  ): Promise<readonly VersionFile[]> {
    const own = before.filter(({ table }) => table === this.#table.name)
    const first = Math.min(...compacted.map(({ version }) => version))
    const versionOf = (table: string): number | undefined =>
      compacted.find(({ content, files }) => content === this.#table.content && holds(files, table))?.version
    const [records, listings] = [versionOf(this.#table.name), versionOf(LISTINGS.name)]
    const { lake, session } = this.#context
    const pieces = Math.max(1, Math.ceil(rowsOf(own) / (this.#context.sizes ?? SIZES).mostRows))
    const written: VersionFile[] = []
    try {
      await withFiles(lake, versionFacts(own), join(this.#scratch, 'lists'), {}, async (placeOf) => {
        for (let piece = 0; piece < pieces && own.length > 0; piece += 1) {
          const known = `SELECT DISTINCT ${this.#keys}, version, as_of, is_listing FROM (${this.#listed(own, placeOf)})
WHERE hash(${this.#keys}) % ${pieces} = ${piece}`
          const merged = `FROM known WHERE version < ${first}`
          const all = [
            `FROM known WHERE version > ${first}`,
            ...(records === undefined
              ? []
              : [
                  `SELECT ${this.#keys}, ${records}, max(as_of), false ${merged} AND NOT is_listing GROUP BY ${this.#keys}`,
                ]),
            ...(listings === undefined
              ? []
              : [
                  `SELECT ${this.#keys}, ${listings}, max(as_of), true ${merged} GROUP BY ${this.#keys}
HAVING ${ofLastVersion('is_listing')}`,
                ]),
          ]
          await session.run(`CREATE OR REPLACE TEMP TABLE all_versions AS WITH known AS MATERIALIZED (${known})
${all.join('\nUNION ALL ')}`)
          written.push(...(await this.#write('last', this.#lastOf('FROM all_versions'))))
          written.push(...(await this.#write('superseded', this.#behindOthers('FROM all_versions'))))
        }
      })
      await session.run('DROP TABLE IF EXISTS all_versions')
    } finally {
      await rm(this.#scratch, { recursive: true, force: true })
    }
    return written
  }

  /** The lists without the rows of some companies. */
  async without(
    before: readonly VersionFile[],
    companies: readonly bigint[],
  ): Promise<readonly VersionFile[]> {
    const own = before.filter(({ table }) => table === this.#table.name)
    const { lake } = this.#context
    const left = `${this.#keys} NOT IN (SELECT unnest([${companies.join(', ')}]::BIGINT[]))`
    const written: VersionFile[] = []
    try {
      await withFiles(lake, versionFacts(own), join(this.#scratch, 'lists'), {}, async (placeOf) => {
        for (const file of own) {
          const rows = `SELECT * FROM (${this.#listed([file], placeOf)}) WHERE ${left}`
          written.push(...(await this.#write(file.kind, rows)))
        }
      })
    } finally {
      await rm(this.#scratch, { recursive: true, force: true })
    }
    return written
  }
}

/** Lists the versions of a commit in a session. */
export const listVersions =
  (context: VersionsContext): ListVersions =>
  async ({ before, compacted, writer, ...added }) => {
    const lists: VersionFile[] = []
    for (const table of versionedTables()) {
      const own = new TableVersions(context, table, writer)
      const known = before?.versions ?? []
      if (compacted === undefined) lists.push(...(await own.extend(known, added)))
      else if (table.content === undefined) lists.push(...(await own.extend([], added)))
      else lists.push(...(await own.merge(known, compacted)))
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
