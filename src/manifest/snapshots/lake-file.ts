/**
 * `lake.duckdb` beside the tables of a lake in a folder: views, macros and facts of the newest snapshot, for any DuckDB.
 * Its SHA-256 stands beside it.
 */

import { readdir, rm } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { messageOf, writeError } from '../../core/errors.ts'
import { type DatabaseParts, makeDatabase } from '../../lake/duckdb/database-files.ts'
import { LAKE_FILE, LAKE_FILE_RECORD } from '../../lake/files/layout.ts'
import { keptSources, keptViews, type LakeContents, MADE_OF_QUERY } from '../../lake/views/lake-sql.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { readCached, writeCached } from '../../support/user-cache.ts'
import { workBase } from '../../support/work-base.ts'
import type { Findings } from '../form/problems.ts'
import { computedOfLake } from '../form/projections.ts'
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

/** Outcome for the file. `skipped`: the lake has too many files, or is in a bucket. */
type LakeFileOutcome =
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
  /** Number of the first snapshot. */
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
  // A process that is killed in between leaves a file with one of the two hashes.
  await storage.replace(LAKE_FILE_RECORD, recordText({ hashes: [sha256, old], snapshot }))
  await storage.replace(LAKE_FILE, bytes)
  await storage.replace(LAKE_FILE_RECORD, recordText({ hashes: [sha256], snapshot }))
}

/** The views of the file that is there, which cost more to make than all the rest, else those of other lakes. */
const viewsBefore = async (
  lake: string,
  computed: LakeContents['computed'],
): Promise<Omit<DatabaseParts, 'statements'>> => {
  const views = keptViews(computed)
  const record = await readRecord(lake)
  const bytes = typeof record === 'string' ? null : await storageOf(lake).read(LAKE_FILE)
  const isWhole = bytes !== null && typeof record !== 'string' && record.hashes.includes(sha256Of(bytes))
  // Those of other lakes have no columns of this one.
  const before = isWhole ? bytes : computed.length > 0 ? undefined : await madeViews(process.env, views)
  return { ...(before && { before }), ask: MADE_OF_QUERY, name: views.name, views: views.statements }
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

/** Checks the file and its record, which a lake need not have. @param newest the newest snapshot, which it should show */
export const verifyLakeFile = async (lake: string, newest: number, findings: Findings): Promise<void> => {
  const add = (path: string, problem: 'missing' | 'changed', detail: string): void =>
    findings.add(path, problem, `${detail}; ${MADE_AGAIN}`)
  const note = (text: string): number => findings.notes.push(`"${LAKE_FILE}" ${text}; ${MADE_AGAIN}`)
  const record = await readRecord(lake)
  const bytes = await storageOf(lake).read(LAKE_FILE)
  if (record === 'damaged') return add(LAKE_FILE_RECORD, 'changed', 'it is not what was written')
  if (record === 'none') return bytes ? add(LAKE_FILE_RECORD, 'missing', 'the file is missing') : undefined
  const sha256 = bytes === null ? NO_FILE : sha256Of(bytes)
  if (!record.hashes.includes(sha256)) {
    if (bytes === null) add(LAKE_FILE, 'missing', 'the file is missing')
    else add(LAKE_FILE, 'changed', `its SHA-256 is ${sha256}, expected ${record.hashes[0]}`)
  }
  if (record.hashes.length > 1) note('was not replaced to the end')
  else if (record.snapshot < newest) note(`shows snapshot ${record.snapshot}, the newest is ${newest}`)
}

const HASH_CHARACTERS = 64

/** The bytes after their hash; `undefined` where they are not those that were written. */
const unhashed = (text: Buffer | undefined): Buffer | undefined => {
  const bytes = text?.subarray(HASH_CHARACTERS)
  return bytes && sha256Of(bytes) === text?.toString('latin1', 0, HASH_CHARACTERS) ? bytes : undefined
}

const remember = async (path: string, bytes: Buffer): Promise<void> => {
  try {
    await writeCached(path, Buffer.concat([Buffer.from(sha256Of(bytes), 'latin1'), bytes]))
    const folder = dirname(path)
    for (const name of await readdir(folder))
      if (name.endsWith('.duckdb') && name !== basename(path)) await rm(join(folder, name), { force: true })
  } catch {
    // No home, or no room: they are made again for the next lake.
  }
}

/** The bytes of the database, in which `MADE_OF_QUERY` gives the name of its views. */
export const madeViews = async (
  env: NodeJS.ProcessEnv = process.env,
  { name, statements } = keptViews(),
): Promise<Buffer> => {
  const path = join(workBase(env), 'views', `${name.slice(0, 32)}.duckdb`)
  const kept = unhashed(await readCached(path))
  if (kept !== undefined) return kept
  const bytes = await makeDatabase({ ask: MADE_OF_QUERY, name, views: statements, statements: [] })
  await remember(path, bytes)
  return bytes
}
