/** The snapshots of a lake on disk: which there are, reading one, creating the next. Checks what it reads. */

import { ToolkitError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import {
  MANIFEST_FOLDER,
  type ManifestName,
  parseManifestName,
  recordPath,
  snapshotPath,
} from '../lake/lake/layout.ts'
import { storageOf } from '../storage/open-storage.ts'
import { bytesToSnapshot, recordText, snapshotToText } from './snapshot-text.ts'

/** What stands in `_manifest`; numbers ascend. */
export interface ManifestListing {
  readonly snapshots: readonly number[]
  readonly records: readonly number[]
  /** First snapshot that gc has left; 1 when it never removed one. */
  readonly oldest: number
  /** All names that are none of these: unfinished writes and unknown files. */
  readonly others: readonly string[]
}

/** @throws {ToolkitError} `LAKE_NOT_FOUND` when the folder is missing or holds no `_manifest` */
export const listManifest = async (lake: string): Promise<ManifestListing> => {
  const storage = storageOf(lake)
  const entries = await storage.entries(MANIFEST_FOLDER)
  // In a bucket each question is a request: whether there is a folder is asked only where it may be an empty one.
  if (entries.length === 0 && !(await storage.hasFolder(MANIFEST_FOLDER)))
    throw new ToolkitError('LAKE_NOT_FOUND', `Cannot open lake "${lake}": no folder "${MANIFEST_FOLDER}"`, {
      lake,
    })
  const found: Record<ManifestName['kind'], number[]> = { snapshot: [], record: [], oldest: [1] }
  const others: string[] = []
  for (const { name } of entries) {
    const known = parseManifestName(name)
    if (known) found[known.kind].push(known.number)
    else others.push(name)
  }
  const oldest = Math.max(...found.oldest)
  const ascending = (numbers: number[]): number[] =>
    numbers.filter((one) => one >= oldest).sort((a, b) => a - b)
  return { snapshots: ascending(found.snapshot), records: ascending(found.record), oldest, others }
}

/** The numbers of the lake's snapshots, ascending. */
export const listSnapshots = async (lake: string): Promise<readonly number[]> =>
  (await listManifest(lake)).snapshots

const damaged = (lake: string, number: number, reason: string, cause?: unknown): ToolkitError =>
  new ToolkitError(
    'SNAPSHOT_DAMAGED',
    `Cannot read snapshot "${snapshotPath(number)}": ${reason}`,
    { lake, snapshot: number },
    cause,
  )

/** What a snapshot of a later release is answered with; it is whole, and of use to that release. */
export const madeLater = (number: number, tool: string): ToolkitError =>
  new ToolkitError(
    'LAKE_NEWER',
    `Cannot read snapshot "${snapshotPath(number)}": made by a later release, needs ${tool} or later`,
    { snapshot: number, tool },
  )

const readBytes = async (lake: string, number: number): Promise<Buffer> => {
  const bytes = await storageOf(lake)
    .read(snapshotPath(number))
    .catch((error: unknown) => {
      // A bucket that does not answer proves nothing about the snapshot.
      throw error instanceof ToolkitError ? error : damaged(lake, number, 'it is not readable', error)
    })
  if (bytes === null) throw damaged(lake, number, 'it is missing')
  return bytes
}

const readChecked = async (lake: string, number: number): Promise<{ bytes: Buffer; snapshot: Snapshot }> => {
  const bytes = await readBytes(lake, number)
  const read = bytesToSnapshot(bytes)
  if (read.kind === 'newer') throw madeLater(number, read.tool)
  if (read.kind === 'damaged') throw damaged(lake, number, read.reason)
  if (read.snapshot.snapshot !== number)
    throw damaged(lake, number, `it says it is ${read.snapshot.snapshot}`)
  return { bytes, snapshot: read.snapshot }
}

/** One snapshot that must be there. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
export const readKnownSnapshot = async (lake: string, number: number): Promise<Snapshot> =>
  (await readChecked(lake, number)).snapshot

/** A record of a later commit means that the newest snapshot is missing: it is never passed over for an older one. */
const newestOf = async (lake: string, { snapshots, records }: ManifestListing): Promise<number> => {
  const [snapshot, record] = [snapshots.at(-1) ?? 0, records.at(-1) ?? 0]
  // A listing is not one instant: the snapshot may have come after its place was passed.
  if (record > snapshot && !(await storageOf(lake).stat(snapshotPath(record))))
    throw damaged(lake, record, 'it is missing, and its commit is on record')
  return Math.max(snapshot, record)
}

/**
 * Number of the newest snapshot, 0 for a lake without one.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_DAMAGED`
 */
export const newestNumber = async (lake: string): Promise<number> => newestOf(lake, await listManifest(lake))

/** The newest snapshot, `null` for a lake without one. @throws {ToolkitError} as `newestNumber` */
export const newestSnapshot = async (lake: string): Promise<Snapshot | null> => {
  const number = await newestNumber(lake)
  return number === 0 ? null : readKnownSnapshot(lake, number)
}

/** As `newestSnapshot`; `null` also where there is no lake yet. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
export const snapshotIfAny = async (lake: string): Promise<Snapshot | null> => {
  try {
    return await newestSnapshot(lake)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return null
    throw error
  }
}

/** @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND` */
const numberOf = async (lake: string, requested: number | undefined): Promise<number> => {
  const listing = await listManifest(lake)
  const [newest, oldest] = [await newestOf(lake, listing), listing.oldest]
  const number = requested ?? newest
  if (number >= oldest && number <= newest) return number
  const state = newest === 0 ? 'the lake has none yet' : `the lake has ${oldest} to ${newest}`
  const what = requested === undefined ? 'the newest snapshot' : `snapshot ${requested}`
  throw new ToolkitError('SNAPSHOT_NOT_FOUND', `Cannot read ${what}: ${state}`, { lake, snapshot: number })
}

/**
 * The newest snapshot, or the one of a number.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_NEWER`
 */
export const readSnapshot = async (lake: string, number?: number): Promise<Snapshot> =>
  readKnownSnapshot(lake, await numberOf(lake, number))

/** The text of a snapshot as it stands on disk, checked. @throws {ToolkitError} as `readSnapshot` */
export const readSnapshotText = async (lake: string, number?: number): Promise<string> =>
  (await readChecked(lake, await numberOf(lake, number))).bytes.toString('utf8')

/** Creates the file of a snapshot if its number is free. @returns whether it was */
export const createSnapshot = (lake: string, snapshot: Snapshot): Promise<boolean> =>
  storageOf(lake).create(snapshotPath(snapshot.snapshot), snapshotToText(snapshot))

/** Writes the second record of a commit where it is missing. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
export const ensureRecord = async (lake: string, number: number): Promise<void> => {
  const storage = storageOf(lake)
  if (await storage.stat(recordPath(number))) return
  const { bytes } = await readChecked(lake, number)
  await storage.create(recordPath(number), recordText(number, bytes))
}
