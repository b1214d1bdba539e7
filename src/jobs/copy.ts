/** `copy`: a lake copied to another place, in one call. */

import { randomBytes } from 'node:crypto'
import { ToolkitError } from '../core/errors.ts'
import {
  inLake,
  oldestPath,
  RATES_PATH,
  RUNS_FOLDER,
  recordPath,
  runPath,
  snapshotPath,
} from '../lake/files/layout.ts'
import { readRatesFile } from '../lake/rates/rates-csv.ts'
import { forgottenBefore } from '../manifest/form/forgotten.ts'
import { listLeftovers } from '../manifest/gc/lake-files.ts'
import { removeGarbage } from '../manifest/gc/remove-garbage.ts'
import { refreshLakeFiles } from '../manifest/lake-file/lake-file.ts'
import { JOURNAL_FILE } from '../manifest/runs/journal.ts'
import { makeLake, removeRunFolder } from '../manifest/runs/runs.ts'
import { readHeld } from '../manifest/snapshots/held.ts'
import { copyLakeId, ensureLakeId } from '../manifest/snapshots/lake-id.ts'
import { unseenEntries } from '../manifest/snapshots/listed-entries.ts'
import { oldestText, recordText } from '../manifest/snapshots/snapshot-text.ts'
import { listManifest, readKnownRoot, readRoot } from '../manifest/snapshots/snapshots.ts'
import type { CopyOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { COPY } from '../options/read-jobs.ts'
import { storageOf } from '../storage/open-storage.ts'
import { makeFolder, removeIfThere } from '../support/durable-files.ts'
import { temporaryName } from '../support/process-identity.ts'
import { checkPlaces, firstOfRow, readSpan } from './copied-span.ts'
import { bringFiles, bringParts, readListed, type Way } from './copy-files.ts'

/** The snapshots of a copy now, and the files that were copied for it. */
export interface CopySummary {
  /** `nothing`: it had all of it. */
  readonly kind: 'copied' | 'nothing'
  /** The lake's oldest and its newest snapshot. */
  readonly oldest: number
  readonly newest: number
  /** Numbers of the snapshots that are new in it. */
  readonly snapshots: readonly number[]
  readonly files: number
  readonly bytes: number
  /** Files that an earlier copy has brought: their lengths were compared. */
  readonly filesThere: number
  /** Snapshots that it had from before the lake's forget: they were removed. Absent where there were none. */
  readonly forgotten?: readonly number[]
  /** Number of the snapshot that is held back in the lake: the copy has nothing of it. Absent where none is. */
  readonly leftHeld?: number
  /** Why it has no `lake.duckdb` or `lake.ducklake` of its newest snapshot; absent where it has those that it is to have. */
  readonly noViews?: string
}

/** @param seen parts that were read in the copy */
const bringSnapshot = async ({ lake, to }: Way, number: number, seen: Set<string>): Promise<void> => {
  // The snapshot's own hash is checked, and the parts that it lists stand in the copy.
  const root = await readKnownRoot(lake, number)
  for await (const _ of unseenEntries(to, root, seen));
  const bytes = await storageOf(lake).read(snapshotPath(number))
  if (bytes === null)
    throw new ToolkitError(
      'SNAPSHOT_DAMAGED',
      `Cannot read snapshot "${snapshotPath(number)}": it is missing`,
      {
        lake,
        snapshot: number,
      },
    )
  const target = storageOf(to)
  // A reader between the snapshot and its record, or gc after a kill, sees a commit that is not finished.
  await target.createFolder(runPath(root.run), new Map([[JOURNAL_FILE, '']]))
  if (!(await target.create(snapshotPath(number), bytes))) {
    const found = await target.read(snapshotPath(number))
    if (found === null || !found.equals(bytes))
      throw new ToolkitError(
        'COMMIT_CONFLICT',
        `Cannot copy snapshot ${number} to "${to}": another run has committed there meanwhile`,
        { to, snapshot: number },
      )
  }
  await target.create(recordPath(number), recordText(number, bytes))
  await removeRunFolder(to, root.run)
}

/** Says where the copy begins, so that nothing before looks lost. */
const markOldest = async (to: string): Promise<number> => {
  const listing = await listManifest(to)
  const first = firstOfRow(listing)
  if (first > listing.oldest) await storageOf(to).create(oldestPath(first), oldestText(first))
  return Math.max(first, listing.oldest)
}

const bringRates = async ({ lake, to }: Way): Promise<boolean> => {
  const bytes = await storageOf(lake).read(RATES_PATH)
  if (bytes === null) return false
  if (readRatesFile(bytes) === null)
    throw new ToolkitError(
      'LAKE_DAMAGED',
      `Cannot copy "${RATES_PATH}" of lake "${lake}": it does not match its hash`,
      {
        lake,
        path: RATES_PATH,
      },
    )
  if ((await storageOf(to).read(RATES_PATH))?.equals(bytes)) return false
  await storageOf(to).replace(RATES_PATH, bytes)
  return true
}

/** Nobody can read a copy's snapshots from before the forget of its lake: what they hold goes too. */
const removeForgotten = async (to: string): Promise<readonly number[]> => {
  const { oldest } = await listManifest(to)
  const forgotten = forgottenBefore(await readRoot(to))
  return oldest < forgotten ? (await removeGarbage({ lake: to, now: new Date() })).snapshots : []
}

const clearLeftovers = async (to: string): Promise<void> => {
  for (const { path } of await listLeftovers(to, { now: new Date() })) await removeIfThere(inLake(to, path))
}

const copyOnce = async (options: CopyOptions): Promise<CopySummary> => {
  const { lake, to, onProgress, signal } = options
  const { numbers, missing } = await readSpan(options)
  const listed = await readListed(lake, numbers)
  await makeLake(to)
  if (options.sameLake) await copyLakeId(to, await ensureLakeId(lake, randomBytes))
  else await ensureLakeId(to, randomBytes)
  await clearLeftovers(to)
  const staging = inLake(to, `${RUNS_FOLDER}/${temporaryName()}`)
  const way: Way = { lake, to, staging, onProgress, signal }
  try {
    await makeFolder(staging, { within: inLake(to, '') })
    const brought = await bringFiles(way, listed)
    await bringParts(way, listed)
    const seen = new Set<string>()
    for (const number of missing) {
      signal?.throwIfAborted()
      await bringSnapshot(way, number, seen)
    }
    // Until a snapshot listed them, a gc of the copy could take files for garbage.
    const again =
      missing.length > 0
        ? await bringFiles({ ...way, onProgress: undefined }, listed)
        : { files: 0, bytes: 0 }
    const rates = await bringRates(way)
    const forgotten = await removeForgotten(to)
    const oldest = await markOldest(to)
    const noViews = await refreshLakeFiles(to)
    const held = await readHeld(lake)
    const files = brought.files + again.files
    return {
      kind: files > 0 || missing.length > 0 || rates ? 'copied' : 'nothing',
      oldest,
      newest: numbers.at(-1) ?? 0,
      snapshots: missing,
      files,
      bytes: brought.bytes + again.bytes,
      filesThere: listed.files.size - brought.files,
      ...(forgotten.length > 0 && { forgotten }),
      ...(held && { leftHeld: held.root.snapshot }),
      ...(noViews !== undefined && { noViews }),
    }
  } finally {
    await removeIfThere(staging)
  }
}

/**
 * Copies a lake; given again, what is new in it. Loads, compactions and gc of the lake may run meanwhile.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED` naming the file,
 *   `TARGET_REFUSED` where the place holds another lake, `COMMIT_CONFLICT`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`,
 *   `STORAGE_FAILED`: run again, it continues from what is copied
 */
export const copyLake = async (options: CopyOptions): Promise<CopySummary> => {
  checkPlaces(options)
  for (;;) {
    const { oldest } = await listManifest(options.lake)
    try {
      return await copyOnce(options)
    } catch (error) {
      // Old snapshots were removed meanwhile, and files with them: what is kept now is copied.
      if (options.signal?.aborted || (await listManifest(options.lake)).oldest === oldest) throw error
    }
  }
}

/**
 * Copies snapshots of a lake between folders and buckets: each file's hash is compared on the way, and the copy shows a
 * snapshot only when all of it is there. Given again it copies what is new; one that was killed resumes. What is made from a
 * lake (serving indexes, batch files, published tables) is not copied: make it from the copy.
 *
 * @returns what the copy has now, and what was copied; `kind: 'nothing'` where it had all
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `TARGET_REFUSED` where
 *   the place holds another lake or a newer copy, `COMMIT_CONFLICT`, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`,
 *   `STORAGE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, copy } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { newest, snapshots } = await copy({ lake: './lake', to: './backup' })
 * console.log(newest, snapshots.length) // 1 1
 */
export const copy: (options: CopyOptions) => Promise<CopySummary> = job('copy', COPY, copyLake, 'The copy')
