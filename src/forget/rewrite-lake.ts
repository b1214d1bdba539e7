/** Rewrites all that a snapshot lists, without the forgotten: files that hold something of theirs are written again, the others stay. */

import type { LeftInLake } from '../commit/commit-forget.ts'
import type { Identifiers } from '../core/identifiers.ts'
import type { CommittedPartition, FileEntry, FileOfRun } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import { isReplay } from '../core/source-kinds.ts'
import { pathSql, pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { dictionaryOf } from '../lake/tables/dictionary-of.ts'
import { isOfTable } from '../lake/tables/past-tables.ts'
import { LISTINGS, QUARANTINE } from '../lake/tables/tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import type { ForgottenFiles } from '../manifest/form/forgotten.ts'
import { togetherAs } from '../manifest/form/sources.ts'
import { addUp, cleanPull, cleanSource, dropDrift, withoutTelling, withQuarantine } from './clean-entries.ts'
import { findByKeys } from './find-by-keys.ts'
import { findHeld, findTold, type Held } from './find-held.ts'
import type { StrippedRecord } from './forget-summary.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import { findFiles, rewritePartition } from './rewrite-partition.ts'
import { rewriteQuarantine } from './rewrite-quarantine.ts'

/** The files that were found, and those that took their place. */
export interface Rewritten {
  readonly listed: LeftInLake
  readonly written: readonly FileEntry[]
  /** Names of the drift that was dropped. */
  readonly names: readonly string[]
  readonly files: readonly ForgottenFiles[]
  readonly linesCleared: number
  /** Ids that the lake has rows of, or tells of. */
  readonly known: ReadonlySet<bigint>
  /** Records of others that lost their unknown fields. */
  readonly stripped: readonly StrippedRecord[]
  /** Names and numbers that identify the forgotten. */
  readonly identifiers: Identifiers
}

const NONE: Held = { removed: new Set(), changed: new Set() }

/** Adds up files and rows by kind. */
class Tally {
  readonly #kinds = new Map<string, { files: number; rows: number }>()
  add(kind: string, rows: number): void {
    const { files, rows: before } = this.#kinds.get(kind) ?? { files: 0, rows: 0 }
    this.#kinds.set(kind, { files: files + 1, rows: before + rows })
  }
  get files(): readonly ForgottenFiles[] {
    return [...this.#kinds].map(([kind, counts]) => ({ kind, ...counts }))
  }
}

/** A partition whose sources and drift tell nothing. @param hashes of quarantine files, by that of the file before */
const cleanEntry = (
  partition: CommittedPartition,
  identifiers: Identifiers,
  hashes: ReadonlyMap<string, string>,
): CommittedPartition => {
  const { source, sources, drift } = partition
  const cleaned = cleanSource(source, identifiers)
  const replayed = isReplay(source) ? hashes.get(source.sha256) : undefined
  const own = sources?.map((one) => cleanSource(one, identifiers))
  return {
    ...partition,
    source: own ? togetherAs(own) : replayed === undefined ? cleaned : { ...cleaned, sha256: replayed },
    ...(own && { sources: own }),
    drift: withoutTelling(drift, identifiers),
  }
}

/** The dictionaries of partitions that have lost companies. */
const dictionaries = async (
  work: ForgetWork,
  sink: SinkRun,
  partitions: readonly CommittedPartition[],
  lost: ReadonlySet<string>,
  tally: Tally,
): Promise<readonly FileOfRun[]> => {
  const files: FileOfRun[] = []
  const { files: all } = work.snapshot
  const owned = Map.groupBy(partitions, ({ run }) => dictionaryOf(all, run))
  for (const file of all) {
    const own = owned.get(file) ?? []
    const next = own.some(({ run }) => lost.has(run)) ? await rewriteDictionary(work, sink, file, own) : null
    if (next !== null) tally.add(file.table, next.rows)
    files.push(next === null ? file : { ...file, ...next.file })
  }
  return files
}

/** @param sink where files go. @default nothing is written, and what is listed stays as it was */
export const rewriteLake = async (
  work: ForgetWork,
  nationalIds: readonly string[],
  sink?: SinkRun,
): Promise<Rewritten> => {
  const { snapshot, ids, isEntity } = work
  const found = await findHeld(work)
  const { held, known } = found
  const identifiers = await findByKeys(work, found, nationalIds)
  const stripped = await findTold(work, found, identifiers)
  const forgetting = { isCompany: (id: bigint) => ids.companies.has(id), isEntity, identifiers }
  const tally = new Tally()
  const written: FileEntry[] = []
  const hashes = new Map<string, string>()
  /** Partitions whose tables were written again. */
  const affected: CommittedPartition[] = []
  let linesCleared = 0

  const quarantineOf = async (partition: CommittedPartition): Promise<CommittedPartition> => {
    const changes = await rewriteQuarantine(work, partition, forgetting, sink)
    for (const { file, written: next, gone, changed, cleared } of changes) {
      tally.add(QUARANTINE.name, addUp(gone.values()) + changed + cleared)
      linesCleared += cleared
      if (next) {
        written.push(next)
        hashes.set(file.sha256, next.sha256)
      }
    }
    return sink ? withQuarantine(partition, changes) : partition
  }

  const rowsOf = async (partition: CommittedPartition, own: Held): Promise<CommittedPartition> => {
    const files = await findFiles(work, partition, own, identifiers)
    for (const { table, rows } of files) tally.add(table.name, rows)
    if (sink === undefined || files.length === 0) return partition
    const next = await rewritePartition(work, sink, partition, own, files, forgetting)
    written.push(...next.written)
    affected.push(partition)
    return next.partition
  }

  const partitions: CommittedPartition[] = []
  for (const [place, partition] of snapshot.partitions.entries()) {
    const isListing = partition.files.some(({ table }) => table === LISTINGS.name)
    const own = held.get(place) ?? (isListing ? NONE : undefined)
    partitions.push(await quarantineOf(own ? await rowsOf(partition, own) : partition))
  }
  const merged: CommittedPartition[] = []
  for (const partition of snapshot.merged ?? []) merged.push(await quarantineOf(partition))
  if (sink) await sink.commit(written)
  const { names, ...listed } = dropDrift({ partitions, merged }, affected, identifiers)
  const runs = new Set([...held.keys()].flatMap((place) => snapshot.partitions[place]?.run ?? []))
  const files = sink ? await dictionaries(work, sink, listed.partitions, runs, tally) : snapshot.files
  const items = files.filter((file) => !snapshot.files.includes(file))
  if (sink && items.length > 0) await sink.commit(items)
  const clean = (some: readonly CommittedPartition[]): readonly CommittedPartition[] =>
    some.map((partition) => cleanEntry(partition, identifiers, hashes))
  return {
    listed: {
      partitions: clean(listed.partitions),
      files,
      pulls: (snapshot.pulls ?? []).map((pull) => cleanPull(pull, identifiers)),
      merged: clean(listed.merged),
    },
    written: [...written, ...items],
    ...{ names, identifiers },
    files: tally.files,
    linesCleared,
    known,
    stripped,
  }
}

const UNKNOWN = `${HIDDEN_SCHEMA}.unknown_items`

/** Leaves in the table the items that stand in none of some files. */
const dropUsed = async (work: ForgetWork, files: readonly FileEntry[]): Promise<void> => {
  const { session, localBytes, signal } = work
  for (const group of cutByBytes(files, localBytes)) {
    signal?.throwIfAborted()
    await withLakeFiles(work, group, (placeOf) =>
      session.run(`DELETE FROM ${UNKNOWN} AS u USING (
  SELECT DISTINCT category, line_item
  FROM ${readParquet(pathsSql(group.map(({ path }) => placeOf(path))))}
  SEMI JOIN ${UNKNOWN} USING (category, line_item)
) AS used WHERE u.category = used.category AND u.line_item = used.line_item`),
    )
  }
}

/**
 * @param partitions of the dictionary, as they are left
 * @returns the dictionary that takes its place, and how many items are gone; `null` where none is
 */
const rewriteDictionary = async (
  work: ForgetWork,
  sink: SinkRun,
  dictionary: FileOfRun,
  partitions: readonly CommittedPartition[],
): Promise<{ readonly file: FileEntry; readonly rows: number } | null> => {
  const { session } = work
  return withLakeFiles(work, [dictionary], async (placeOf) => {
    const from = readParquet(pathSql(placeOf(dictionary.path)))
    await session.run(`CREATE OR REPLACE TABLE ${UNKNOWN} AS
SELECT category, line_item FROM ${from} WHERE unit = 'unknown'`)
    const left = async (): Promise<number> =>
      Number((await session.rows(`SELECT count(*) AS items FROM ${UNKNOWN}`))[0]?.items)
    if ((await left()) === 0) return null
    const figures = partitions.flatMap(({ files }) =>
      files.filter((file) => isOfTable(file, 'financials') && file.rows > 0),
    )
    await dropUsed(work, figures)
    const rows = await left()
    if (rows === 0) return null
    const kept = session.relation(`FROM ${from} ANTI JOIN ${UNKNOWN} USING (category, line_item)`)
    // Each run has one, and all of them one name.
    const [file] = (await sink.write(`${dictionary.table}-${dictionary.run}`, dictionary.table, kept)).files
    return file ? { file, rows } : null
  })
}
