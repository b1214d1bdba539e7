/**
 * The snapshots of a lake on disk: which there are, reading one, creating the next. Checks what it reads. `…Root` opens no
 * part; the others read all that a snapshot lists.
 */

import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import {
  isDocumentName,
  isPartsFolder,
  MANIFEST_FOLDER,
  type ManifestName,
  parseManifestName,
  recordPath,
  snapshotPath,
} from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { mayHoldRun } from '../form/part-summary.ts'
import { entriesOf, LIST_NAMES, type ListName } from './parts.ts'
import { readAllListed, readPulls, type SnapshotRoot } from './snapshot-root.ts'
import { bytesToSnapshot, recordText, rootToText } from './snapshot-text.ts'

/** Contents of `_manifest`; numbers ascend. */
export interface ManifestListing {
  readonly snapshots: readonly number[]
  readonly records: readonly number[]
  /** First snapshot that gc has left; 1 when it never removed one. */
  readonly oldest: number
  /** The names that are none of these: unfinished writes and unknown files. */
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
    else if (!isPartsFolder(name) && !isDocumentName(name)) others.push(name)
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

/** The error for a snapshot that is whole but of another format. */
export const otherFormat = (
  number: number,
  { kind, tool }: { readonly kind: 'unreleased' | 'newer'; readonly tool: string },
): ToolkitError => {
  const [code, why] =
    kind === 'newer'
      ? (['LAKE_NEWER', `made by a later release, needs ${tool} or later`] as const)
      : (['LAKE_UNRELEASED', 'it has a format of a build before the first release'] as const)
  return new ToolkitError(code, `Cannot read snapshot "${snapshotPath(number)}": ${why}`, {
    snapshot: number,
    tool,
  })
}

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

interface CheckedSnapshot {
  readonly bytes: Buffer
  readonly root: SnapshotRoot
}

const readChecked = async (lake: string, number: number): Promise<CheckedSnapshot> => {
  const bytes = await readBytes(lake, number)
  const read = bytesToSnapshot(bytes)
  if (read.kind === 'damaged') throw damaged(lake, number, read.reason)
  if (read.kind !== 'snapshot') throw otherFormat(number, read)
  if (read.root.snapshot !== number) throw damaged(lake, number, `it says it is ${read.root.snapshot}`)
  return { bytes, root: read.root }
}

/** Reads a snapshot that must be there. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const readKnownRoot = async (lake: string, number: number): Promise<SnapshotRoot> =>
  (await readChecked(lake, number)).root

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

/** The newest snapshot, `null` for a lake without one. @throws {ToolkitError} as `newestNumber`, `LAKE_NEWER` */
export const newestRoot = async (lake: string): Promise<SnapshotRoot | null> => {
  const number = await newestNumber(lake)
  return number === 0 ? null : readKnownRoot(lake, number)
}

/** As `newestRoot`, with all that it lists. */
export const newestSnapshot = async (lake: string): Promise<Snapshot | null> => {
  const root = await newestRoot(lake)
  return root && readAllListed(lake, root)
}

/** As `newestRoot`; `null` also where there is no lake yet. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const rootIfAny = async (lake: string): Promise<SnapshotRoot | null> => {
  try {
    return await newestRoot(lake)
  } catch (error) {
    if (error instanceof ToolkitError && error.code === 'LAKE_NOT_FOUND') return null
    throw error
  }
}

export type LakePulls = Awaited<ReturnType<typeof readPulls>>

/** The pulls of the newest snapshot, `null` for a lake without one. @throws {ToolkitError} as `newestRoot` */
export const newestPulls = async (lake: string): Promise<LakePulls> => readPulls(lake, await newestRoot(lake))

/** As `newestPulls`; `null` also where there is no lake yet. */
export const pullsIfAny = async (lake: string): Promise<LakePulls> => readPulls(lake, await rootIfAny(lake))

/** @throws {ToolkitError} `SNAPSHOT_FORGOTTEN` of a snapshot that is gone, or about to go, because of a forget */
const refuseBefore = async (lake: string, number: number, newest: number): Promise<void> => {
  const { forgotten = [] } = await readKnownRoot(lake, newest)
  const receipt = forgotten.find(({ snapshot }) => snapshot > number)
  if (receipt === undefined) return
  const { snapshot, time } = receipt
  throw new ToolkitError(
    'SNAPSHOT_FORGOTTEN',
    `Cannot read snapshot ${number}: snapshot ${snapshot} of ${time} has forgotten companies or persons, and what came before is gone; expected ${snapshot} to ${newest}`,
    { lake, snapshot: number, forgottenBy: snapshot },
  )
}

/** @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_FORGOTTEN` */
const numberOf = async (lake: string, requested: number | undefined): Promise<number> => {
  const listing = await listManifest(lake)
  const [newest, oldest] = [await newestOf(lake, listing), listing.oldest]
  const number = requested ?? newest
  if (number >= 1 && number < newest) await refuseBefore(lake, number, newest)
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
export const readRoot = async (lake: string, number?: number): Promise<SnapshotRoot> =>
  readKnownRoot(lake, await numberOf(lake, number))

/**
 * The newest snapshot, or the one of a number, with all that it lists.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `SNAPSHOT_DAMAGED`, `LAKE_NEWER`
 */
export const readSnapshot = async (lake: string, number?: number): Promise<Snapshot> =>
  readAllListed(lake, await readRoot(lake, number))

/** SHA-256 of a snapshot's file, which stands for all that it lists. @throws {ToolkitError} as `readRoot` */
export const readSnapshotHash = async (lake: string, number: number): Promise<string> =>
  sha256Of((await readChecked(lake, number)).bytes)

/** Creates the file of a snapshot if its number is free. @returns whether it was */
export const createSnapshot = (lake: string, root: SnapshotRoot): Promise<boolean> =>
  storageOf(lake).create(snapshotPath(root.snapshot), rootToText(root))

/** Writes the second record of a commit where it is missing. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
export const ensureRecord = async (lake: string, number: number): Promise<void> => {
  const storage = storageOf(lake)
  if (await storage.stat(recordPath(number))) return
  const { bytes } = await readChecked(lake, number)
  // A name that a power failure takes is written again by whoever commits next, or verifies.
  await storage.create(recordPath(number), recordText(number, bytes), false)
}

const listHolds = async <Name extends ListName>(
  lake: string,
  { lists }: SnapshotRoot,
  name: Name,
  run: string,
): Promise<boolean> => {
  for await (const { entries } of entriesOf(lake, name, lists[name], mayHoldRun(run)))
    if (entries.some((entry) => entry.run === run)) return true
  return false
}

/** Whether a snapshot lists anything of a run, or says that the run has forgotten something. */
export const holdsRun = async (lake: string, root: SnapshotRoot, run: string): Promise<boolean> => {
  if (root.forgotten?.some((receipt) => receipt.run === run)) return true
  for (const name of LIST_NAMES) if (await listHolds(lake, root, name, run)) return true
  return false
}

/**
 * The snapshot that a run's commit made. `base` is the newest snapshot from before the run: only later ones
 * are read, from `newest` down. `null` when the run is not committed.
 *
 * @throws {ToolkitError} `SNAPSHOT_DAMAGED`
 */
export const findCommit = async (
  lake: string,
  run: string,
  base: number,
  newest: SnapshotRoot | null,
): Promise<SnapshotRoot | null> => {
  if (!newest || newest.run === run) return newest
  const { oldest } = await listManifest(lake)
  for (let number = newest.snapshot - 1; number > base && number >= oldest; number -= 1) {
    const root = await readKnownRoot(lake, number)
    if (root.run === run) return root
  }
  // If gc has removed the run's snapshot, the newest one shows what it left.
  if (oldest <= base + 1) return null
  return (await holdsRun(lake, newest, run)) ? newest : null
}

/**
 * The snapshot that was the newest at a moment; where all are later, the oldest. With it and those after it the lake can be read
 * as of every moment since.
 *
 * @throws {ToolkitError} as `readKnownRoot`
 */
export const snapshotAsOf = async (lake: string, moment: Date): Promise<number> => {
  const { oldest } = await listManifest(lake)
  let number = await newestNumber(lake)
  while (number > oldest && Date.parse((await readKnownRoot(lake, number)).time) > moment.getTime())
    number -= 1
  return number
}
