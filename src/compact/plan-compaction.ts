/** Plans which partitions a compaction merges, and how much of a table DuckDB sorts at once. Pure. */

import { CONTENT, type Content } from '../contract/objects.ts'
import type { CommittedPartition, FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import { isCompaction } from '../core/source-kinds.ts'
import { versionsTable } from '../lake/tables/past-tables.ts'
import { rowGroupRows } from '../lake/tables/sort-rows.ts'
import { LISTINGS, QUARANTINE, type Table } from '../lake/tables/tables.ts'
import { observedIn } from '../manifest/form/part-summary.ts'
import { latestInstant } from '../manifest/form/sources.ts'
import { sha256Of } from '../support/hash.ts'

/** How far a file may be from the target, as a share of it. */
const SIZE_TOLERANCE = 0.1

/** Fewer rows make no file: its column metadata would outweigh them. */
export const MIN_ROWS = 100

/** The newest partitions of one content, or all of them; they become one. */
export interface CompactContent {
  readonly content: Content
  /** Their least version; 0 where they are all. */
  readonly fromVersion: number
  readonly partitions: readonly CommittedPartition[]
  /** Rows and bytes of their tables. */
  readonly files: readonly FileEntry[]
}

export interface CompactPlan {
  readonly contents: readonly CompactContent[]
  /** Nothing is superseded, and the files have their sizes: a compaction would only write the same again. */
  readonly compact: boolean
}

const isTableFile = ({ table }: FileEntry): boolean => table !== QUARANTINE.name

const isTooLarge = ({ bytes, rows }: FileEntry, targetBytes: number): boolean =>
  bytes > targetBytes * (1 + SIZE_TOLERANCE) && rows > MIN_ROWS

const isTooSmall = ({ bytes }: FileEntry, targetBytes: number): boolean =>
  bytes < targetBytes * (1 - SIZE_TOLERANCE)

/**
 * Whether the files of one table, in the order of their rows, were made for this target: most of them fit. One that
 * could not be met must not make every compaction begin again.
 */
const sizesFit = (files: readonly FileEntry[], targetBytes: number): boolean => {
  const off = files.filter(
    (file, at) => isTooLarge(file, targetBytes) || (at < files.length - 1 && isTooSmall(file, targetBytes)),
  )
  return off.length * 2 <= files.length - 1
}

const isDone = ({ partitions }: CompactContent, targetBytes: number): boolean => {
  // A partition without a record supersedes nothing.
  const loaded = partitions.filter(({ counts }) => counts.records > 0)
  if (loaded.length === 0) return true
  const [first, ...others] = loaded
  if (first === undefined || !isCompaction(first.source) || others.length > 0) return false
  // The list of versions is one file.
  const tables = first.files.filter(({ table }) => table !== versionsTable(first.content).name)
  return [...Map.groupBy(tables, ({ table }) => table).values()].every((files) =>
    sizesFit(files, targetBytes),
  )
}

const ofContents = ({ partitions }: Snapshot): readonly CompactContent[] =>
  (Object.keys(CONTENT) as Content[]).flatMap((content) => {
    const own = partitions.filter((one) => one.content === content)
    return own.length === 0 ? [] : [contentOf(content, own, 0)]
  })

const contentOf = (
  content: Content,
  partitions: readonly CommittedPartition[],
  fromVersion: number,
): CompactContent => ({
  ...{ content, fromVersion, partitions },
  files: partitions.flatMap((one) => one.files).filter(isTableFile),
})

/** @param isPastDone whether a content has no past rows that are to go */
export const planCompaction = (
  snapshot: Snapshot,
  targetBytes: number,
  isPastDone: (content: CompactContent) => boolean,
): CompactPlan => {
  const contents = ofContents(snapshot)
  return { contents, compact: contents.every((one) => isDone(one, targetBytes) && isPastDone(one)) }
}

/** Partitions of a content that may have rows of one table. With nights of 0.5 % of the companies each row is written four times then. */
const MOST_PARTITIONS = 12

/** Rows of a partition's tables. Sizes go by them: bytes of small files are mostly those of their columns' names and bounds. */
const rowsIn = ({ files }: CommittedPartition): number =>
  files.filter(isTableFile).reduce((sum, { rows }) => sum + rows, 0)

/** How many partitions have rows of records, and how many have listings. */
const countsOf = (partitions: readonly CommittedPartition[]): readonly number[] => {
  const listings = partitions.filter(({ files }) => files.some(({ table }) => table === LISTINGS.name)).length
  return [partitions.length - listings, listings]
}

/** Whether there are few enough partitions once those from a place on are one. */
const isFewWith = (partitions: readonly CommittedPartition[], at: number): boolean => {
  const merged = countsOf(partitions.slice(at))
  return countsOf(partitions).every(
    (all, kind) => all <= MOST_PARTITIONS || all - (merged[kind] ?? 0) < MOST_PARTITIONS,
  )
}

/** The place of the first partition of those that a compaction has made together; of what was loaded each stands by itself. */
const firstMadeWith = (partitions: readonly CommittedPartition[], at: number): number => {
  const first = partitions.findIndex(({ run }) => run === partitions[at]?.run)
  const isMade = partitions[first] !== undefined && isCompaction(partitions[first].source)
  return isMade ? first : at
}

/**
 * The place of the first partition to merge: it and all newer ones become one. As few are merged as leave no more than
 * `MOST_PARTITIONS`, and none is left that is not larger than what is merged behind it, so that a row is merged only with about as many
 * others. Where those beside the largest one have half of its rows, all are merged: about as many of its rows are superseded by then.
 * Partitions that a merge has made stay together: its listings stand for versions that its records keep.
 */
const firstMerged = (partitions: readonly CommittedPartition[]): number => {
  const sizes = partitions.map(rowsIn)
  const all = sizes.reduce((sum, rows) => sum + rows, 0)
  const largest = Math.max(...sizes)
  if ((all - largest) * 2 > largest) return 0
  let [at, merged] = [partitions.length, 0]
  while (at > 0) {
    const first = firstMadeWith(partitions, at - 1)
    const size = sizes.slice(first, at).reduce((sum, rows) => sum + rows, 0)
    if (isFewWith(partitions, at) && size > merged) break
    at = first
    merged += size
  }
  return at
}

/** Plans what is merged after a load: of each content with too many partitions the newest ones, or all of them. */
export const planMerge = (snapshot: Snapshot): CompactPlan => {
  const contents = ofContents(snapshot).flatMap(({ content, partitions }): CompactContent[] => {
    if (isFewWith(partitions, partitions.length)) return []
    const at = firstMerged(partitions)
    return [contentOf(content, partitions.slice(at), at === 0 ? 0 : (partitions[at]?.version ?? 0))]
  })
  return { contents, compact: contents.length === 0 }
}

const hashOf = ({ content, partitions }: CompactContent): string =>
  sha256Of(`${content}\n${partitions.map(({ run, id }) => `${run} ${id}\n`).join('')}`)

/** The same for the same partitions. */
export const compactedId = (content: CompactContent): string => hashOf(content).slice(0, 16)

/** The manifest's entry of what a content has become. @param records companies that are left @param pastSince since when no past row is missing */
export const compactedEntry = (
  content: CompactContent,
  run: string,
  records: number,
  files: readonly FileEntry[],
  pastSince: string | undefined,
): PartitionEntry => {
  const rows = new Map<string, number>()
  for (const file of files) rows.set(file.table, (rows.get(file.table) ?? 0) + file.rows)
  const { partitions } = content
  return {
    id: compactedId(content),
    run,
    content: content.content,
    source: {
      kind: 'compaction',
      name: `compaction of ${partitions.length} ${partitions.length === 1 ? 'partition' : 'partitions'}`,
      bytes: content.files.reduce((sum, { bytes }) => sum + bytes, 0),
      sha256: hashOf(content),
      block: 0,
      firstLine: 1,
      offset: 0,
      last: true,
    },
    asOf: latestInstant(partitions),
    ...(pastSince !== undefined && { pastSince }),
    range: {
      field: partitions[0]?.range.field ?? 'ContentUpdatedAt',
      requested: null,
      observed: observedIn(partitions.map(({ range }) => range)),
    },
    counts: { lines: records, records, quarantined: 0, rows: Object.fromEntries(rows) },
    files,
    drift: [],
  }
}

const MEBIBYTE = 1024 ** 2

/**
 * Rows with few columns. With two threads and all figures of companies, 57 million rows were sorted in 150 and in 210 MiB and not
 * in 120 or 180, 173 million in 320 and not in 260.
 */
const narrowRows = (mebibytes: number, threads: number): number =>
  1200 * ((2 * mebibytes) / Math.max(threads, 2)) ** 2

/**
 * Values of rows with many columns, of which some are held however few rows there are. Of companies, 5.7 million (100,000 rows) were
 * sorted in 220 MiB and not in 200, 17 million in 300 and not in 240, 68 million in 624 and not in 300; of 274 million in 624 MiB
 * the process took 370 MB beside.
 */
const wideValues = (mebibytes: number): number => 325 * Math.max(mebibytes - 150, 20) ** 2

/**
 * DuckDB holds the footers of all files that it reads together: 735 of companies took 400 MB beside its limit.
 */
const MOST_FOOTER_COLUMNS = 8_000

/** The most files of a table that are read together. */
export const filesAtOnce = ({ columns }: Pick<Table, 'columns'>): number =>
  Math.floor(MOST_FOOTER_COLUMNS / columns.length)

/** Bytes that DuckDB holds for a value while it sorts it in memory: of tables with many columns most are texts. */
const BYTES_A_VALUE = { narrow: 12, wide: 32 }
/** DuckDB holds rows that it reads and writes beside those that it sorts. */
const SORTING_SHARE = 0.75

export interface SortMemory {
  /** DuckDB's limit, in bytes. */
  readonly engineBytes: number
  readonly threads: number
}

/** The most bytes of a table's files that are sorted at once. @param sizes of all of its files */
export const sortedAtOnce = (
  { engineBytes, threads }: SortMemory,
  { columns }: Pick<Table, 'columns'>,
  { rows, bytes }: { readonly rows: number; readonly bytes: number },
): number => {
  const mebibytes = engineBytes / MEBIBYTE
  const most =
    rowGroupRows(columns) === undefined
      ? narrowRows(mebibytes, threads)
      : wideValues(mebibytes) / columns.length
  return rows <= most ? Number.POSITIVE_INFINITY : Math.floor((bytes * most) / rows)
}

/** How many rows of a table are sorted without anything put aside on the disk. */
export const rowsInMemory = ({ engineBytes }: SortMemory, { columns }: Pick<Table, 'columns'>): number => {
  const valueBytes = rowGroupRows(columns) === undefined ? BYTES_A_VALUE.narrow : BYTES_A_VALUE.wide
  return Math.floor((SORTING_SHARE * engineBytes) / (valueBytes * columns.length))
}
