/**
 * `lake.duckdb` beside the tables of a lake in a folder: views and macros only, of the newest snapshot, for any DuckDB.
 * Its SHA-256 stands beside it.
 */

import { resolve } from 'node:path'
import { writeError } from '../../core/errors.ts'
import { type DatabaseParts, makeDatabase } from '../../lake/duckdb/make-database.ts'
import { LAKE_FILE, LAKE_FILE_RECORD } from '../../lake/files/layout.ts'
import { keptSources, keptViews, type LakeContents, MADE_OF_QUERY } from '../../lake/views/lake-sql.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import type { Problem } from '../form/findings.ts'
import { computedOfLake } from '../form/taken.ts'
import { madeViews } from './made-views.ts'
import { readFactsOf } from './read-facts.ts'
import { readWithoutSources, type SnapshotRoot } from './snapshot-root.ts'
import { newestNumber, readRoot } from './snapshots.ts'

/** Above it a file of views takes too long to make at each commit, and its views to open. */
const MOST_FILES = 10_000
const MOST_ATTEMPTS = 10

/** A snapshot's files, and what the manifest says of it. @throws {ToolkitError} as `readWithoutSources` */
export const readContents = async (lake: string, root: SnapshotRoot): Promise<LakeContents> => {
  const listed = await readWithoutSources(lake, root)
  return {
    // DuckDB looks for a relative path from the working folder of whoever opens the views.
    lake: resolve(storageOf(lake).local),
    listed,
    facts: readFactsOf(lake, root, listed),
    computed: await computedOfLake(root),
  }
}

/** What became of the file. `skipped`: the lake has too many files, or is in a bucket. */
export type LakeFileOutcome =
  | { readonly kind: 'written'; readonly snapshot: number }
  | { readonly kind: 'skipped'; readonly reason: string }

const filesOf = ({ totals }: SnapshotRoot): number => totals.tables.reduce((sum, { files }) => sum + files, 0)

/** Whether what the manifest says goes into a database file. */
export const fitsIntoFile = (root: SnapshotRoot): boolean => filesOf(root) <= MOST_FILES

const isInFolder = (lake: string): boolean => storageOf(lake).uri.startsWith('file:')

/** Stands for a file that is not there yet. */
const NO_FILE = '0'.repeat(64)

interface FileRecord {
  /** The hashes that the file may have: while it is replaced there are two, the new one first. */
  readonly hashes: readonly string[]
  /** Of the first. */
  readonly snapshot: number
}

/** Lines as `sha256sum` writes them, and comments: the snapshot, the hash of the lines above. */
const recordText = ({ hashes, snapshot }: FileRecord): string => {
  const lines = hashes.map((sha256) => `${sha256}  ${LAKE_FILE}\n`).join('')
  const text = `${lines}# snapshot ${snapshot}\n`
  return `${text}# ${sha256Of(text)}\n`
}

const readRecord = async (lake: string): Promise<FileRecord | 'none' | 'damaged'> => {
  const bytes = await storageOf(lake).read(LAKE_FILE_RECORD)
  if (bytes === null) return 'none'
  const text = bytes.toString('latin1')
  const hashes = [...text.matchAll(/^([0-9a-f]{64}) {2}/gm)].map(([, sha256 = '']) => sha256)
  const record = { hashes, snapshot: Number(/^# snapshot (\d{1,15})$/m.exec(text)?.[1]) }
  return hashes.length > 0 && text === recordText(record) ? record : 'damaged'
}

const place = async (lake: string, bytes: Buffer, snapshot: number): Promise<void> => {
  const storage = storageOf(lake)
  const sha256 = sha256Of(bytes)
  const before = await readRecord(lake)
  const [old = NO_FILE] = typeof before === 'string' ? [] : before.hashes
  // Whoever is killed in between leaves a file of one of the two hashes.
  await storage.replace(LAKE_FILE_RECORD, recordText({ hashes: [sha256, old], snapshot }))
  await storage.replace(LAKE_FILE, bytes)
  await storage.replace(LAKE_FILE_RECORD, recordText({ hashes: [sha256], snapshot }))
}

/** The views of the file that is there, which cost more to make than all the rest, else those of other lakes. */
const viewsBefore = async (
  lake: string,
  computed: LakeContents['computed'],
): Promise<Omit<DatabaseParts, 'statements'>> => {
  const { name, statements } = keptViews(computed)
  const record = await readRecord(lake)
  const bytes = typeof record === 'string' ? null : await storageOf(lake).read(LAKE_FILE)
  const isWhole = bytes !== null && typeof record !== 'string' && record.hashes.includes(sha256Of(bytes))
  // Those of other lakes have no columns of this one.
  const before = isWhole ? bytes : computed.length > 0 ? undefined : await madeViews()
  return { ...(before && { before }), ask: MADE_OF_QUERY, name, views: statements }
}

/** Whether the file was placed for a snapshot, and nobody is, or was killed, replacing it. */
const isPlaced = async (lake: string, snapshot: number): Promise<boolean> => {
  const record = await readRecord(lake)
  const bytes = await storageOf(lake).read(LAKE_FILE)
  if (bytes === null || typeof record === 'string') return false
  const [sha256, ...older] = record.hashes
  return older.length === 0 && sha256 === sha256Of(bytes) && record.snapshot === snapshot
}

const remove = (lake: string): Promise<void> => storageOf(lake).remove([LAKE_FILE, LAKE_FILE_RECORD])

/**
 * Writes the file for the newest snapshot, whole or not at all. Of several at once the newest snapshot's stays: whoever
 * writes looks afterwards whether it is still the newest.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `RATES_UNREADABLE`, `DISK_FULL`,
 *   `WRITE_FAILED`
 */
export const writeLakeFile = async (
  lake: string,
  { mostFiles = MOST_FILES }: { readonly mostFiles?: number } = {},
): Promise<LakeFileOutcome> => {
  if (!isInFolder(lake))
    return { kind: 'skipped', reason: 'the lake is in a bucket; "firmlake views" prints its views' }
  for (let attempt = 1; ; attempt += 1) {
    const root = await readRoot(lake)
    const files = filesOf(root)
    if (files > mostFiles) {
      // Views of an older snapshot would be taken for the lake.
      await remove(lake)
      return {
        kind: 'skipped',
        reason: `the lake has ${files} files, more than ${mostFiles}; "firmlake compact" puts them together`,
      }
    }
    try {
      const contents = await readContents(lake, root)
      const bytes = await makeDatabase({
        ...(await viewsBefore(lake, contents.computed)),
        statements: keptSources(contents),
      })
      await place(lake, bytes, root.snapshot)
      const isNewest = (await newestNumber(lake)) === root.snapshot
      if ((isNewest && (await isPlaced(lake, root.snapshot))) || attempt >= MOST_ATTEMPTS)
        return { kind: 'written', snapshot: root.snapshot }
    } catch (error) {
      throw writeError(`Cannot write "${LAKE_FILE}" of lake "${lake}"`, error)
    }
  }
}

const messageOf = (error: unknown): string => (error instanceof Error ? error.message : String(error))

/**
 * Writes the file after a commit, which stands whatever becomes of it.
 *
 * @returns why there is none; `undefined` where it was written, or the lake is in a bucket
 */
export const updateLakeFile = async (lake: string): Promise<string | undefined> => {
  if (!isInFolder(lake)) return undefined
  try {
    const outcome = await writeLakeFile(lake)
    return outcome.kind === 'written' ? undefined : outcome.reason
  } catch (error) {
    return messageOf(error)
  }
}

/**
 * Writes the file where it is not of the newest snapshot: whoever committed that one may have been killed, or had no room.
 *
 * @param whereKept only where the lake has had one: not every command that finds none makes one
 * @returns as `updateLakeFile`
 */
export const refreshLakeFile = async (
  lake: string,
  { whereKept = false } = {},
): Promise<string | undefined> => {
  if (!isInFolder(lake)) return undefined
  try {
    if (whereKept && (await readRecord(lake)) === 'none') return undefined
    const newest = await newestNumber(lake)
    if (newest === 0) return undefined
    return (await isPlaced(lake, newest).catch(() => false)) ? undefined : await updateLakeFile(lake)
  } catch (error) {
    return messageOf(error)
  }
}

const MADE_AGAIN = '"firmlake views --write" makes it again'

/** What is wrong with the file or its hash; a lake need have neither. */
export const checkLakeFile = async (lake: string): Promise<Problem | null> => {
  const record = await readRecord(lake)
  if (record === 'damaged')
    return { path: LAKE_FILE_RECORD, problem: 'changed', detail: `it is not what was written; ${MADE_AGAIN}` }
  const bytes = await storageOf(lake).read(LAKE_FILE)
  if (record === 'none')
    return (
      bytes && { path: LAKE_FILE_RECORD, problem: 'missing', detail: `the file is missing; ${MADE_AGAIN}` }
    )
  const sha256 = bytes === null ? NO_FILE : sha256Of(bytes)
  if (record.hashes.includes(sha256)) return null
  if (bytes === null)
    return { path: LAKE_FILE, problem: 'missing', detail: `the file is missing; ${MADE_AGAIN}` }
  return {
    path: LAKE_FILE,
    problem: 'changed',
    detail: `its SHA-256 is ${sha256}, expected ${record.hashes[0]}; ${MADE_AGAIN}`,
  }
}

/** What a file that is whole shows instead of a snapshot, `undefined` where it shows that or a newer one. */
export const staleLakeFile = async (lake: string, snapshot: number): Promise<string | undefined> => {
  const record = await readRecord(lake)
  if (typeof record === 'string') return undefined
  if (record.hashes.length > 1) return `"${LAKE_FILE}" was not replaced to the end; ${MADE_AGAIN}`
  if (record.snapshot >= snapshot) return undefined
  return `"${LAKE_FILE}" shows snapshot ${record.snapshot}, the newest is ${snapshot}; ${MADE_AGAIN}`
}
