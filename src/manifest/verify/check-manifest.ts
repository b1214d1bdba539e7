/** Checks the snapshots of a lake, their parts and the records of their commits, every byte of them. */

import { ToolkitError } from '../../core/errors.ts'
import type { SnapshotHead } from '../../core/partition.ts'
import { oldestPath, recordPath, runPath, snapshotName, snapshotPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { arithmeticProblems, type Findings, type Problem } from '../form/problems.ts'
import { versionProblem } from '../form/version-numbers.ts'
import type { ListedEntries } from '../snapshots/listed-entries.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'
import { bytesToSnapshot, oldestText, recordText } from '../snapshots/snapshot-text.ts'
import { type ManifestListing, otherFormat, readRoot } from '../snapshots/snapshots.ts'
import { PartChecker } from './part-checker.ts'

type FileRead =
  | { readonly kind: 'bytes'; readonly bytes: Buffer }
  | { readonly kind: 'missing' | 'unreadable' }

const readOrNot = async (lake: string, path: string): Promise<FileRead> => {
  try {
    const bytes = await storageOf(lake).read(path)
    return bytes ? { kind: 'bytes', bytes } : { kind: 'missing' }
  } catch (error) {
    // A bucket that does not answer is no damage.
    if (error instanceof ToolkitError) throw error
    return { kind: 'unreadable' }
  }
}

/** A small file whose whole text is known. */
const textProblem = (path: string, bytes: Buffer, expected: string, detail: string): Problem | null => {
  if (bytes.toString('latin1') === expected) return null
  const cut = bytes.length < expected.length
  return {
    path,
    problem: cut ? 'cut' : 'changed',
    detail: cut ? `${bytes.length} bytes, expected ${expected.length}` : detail,
  }
}

const chainProblem = (snapshot: SnapshotHead, number: number): string | null => {
  if (snapshot.snapshot !== number) return `its number is ${snapshot.snapshot}`
  const parent = number === 1 ? null : number - 1
  return snapshot.parent === parent ? null : `its parent is ${snapshot.parent}, expected ${parent}`
}

const checkSnapshot = async (
  lake: string,
  number: number,
  findings: Findings,
): Promise<{ readonly bytes: Buffer; readonly root: SnapshotRoot } | null> => {
  const path = snapshotPath(number)
  const read = await readOrNot(lake, path)
  if (read.kind !== 'bytes') {
    findings.add(path, read.kind, `snapshot ${number} is ${read.kind}`)
    return null
  }
  const result = bytesToSnapshot(read.bytes)
  if (result.kind === 'damaged') {
    findings.add(path, result.cut ? 'cut' : 'changed', `snapshot ${number}: ${result.reason}`)
    return null
  }
  if (result.kind !== 'snapshot') throw otherFormat(number, result)
  const detail = chainProblem(result.root, number)
  if (detail !== null) findings.add(path, 'listing', detail)
  return { bytes: read.bytes, root: result.root }
}

const checkRecord = async (
  lake: string,
  number: number,
  newest: boolean,
  found: { readonly bytes: Buffer; readonly root: SnapshotRoot } | null,
  findings: Findings,
): Promise<void> => {
  const path = recordPath(number)
  let read = await readOrNot(lake, path)
  if (read.kind === 'missing') {
    // A commit writes it after the snapshot and before its run's folder is removed.
    if (newest && found && (await storageOf(lake).hasFolder(runPath(found.root.run)))) {
      findings.notes.push(`the commit of snapshot ${number} by run "${found.root.run}" is not finished`)
      return
    }
    read = await readOrNot(lake, path)
  }
  if (read.kind !== 'bytes') {
    findings.add(path, read.kind, `the record of commit ${number} is ${read.kind}`)
    return
  }
  const text = read.bytes.toString('latin1')
  const said = /^[0-9a-f]{64} /.test(text) ? text.slice(0, 64) : ''
  const expected = found ? recordText(number, found.bytes) : `${said}  ${snapshotName(number)}\n`
  const detail = `it does not fit "${snapshotPath(number)}": one of the two was changed`
  const problem = textProblem(path, read.bytes, expected, found ? detail : 'it is not a line of sha256sum')
  if (problem) findings.problems.push(problem)
}

const checkOldest = async (lake: string, listing: ManifestListing, findings: Findings): Promise<void> => {
  const { oldest, snapshots, records } = listing
  const first = Math.min(snapshots[0] ?? 1, records[0] ?? 1)
  if (oldest === 1 && first > 1)
    findings.add(
      oldestPath(first),
      'missing',
      `snapshots below ${first} and their records are missing, and no such file says that gc removed them`,
    )
  if (oldest === 1) return
  const path = oldestPath(oldest)
  const read = await readOrNot(lake, path)
  if (read.kind !== 'bytes') findings.add(path, read.kind, `it is ${read.kind}`)
  const problem =
    read.kind === 'bytes' && textProblem(path, read.bytes, oldestText(oldest), 'its text is not ours')
  if (problem) findings.problems.push(problem)
}

/** @param known partitions that were reported: several parts list them, in several snapshots */
const checkCounts = (
  { list, entries }: ListedEntries,
  snapshot: number,
  known: Set<string>,
  findings: Findings,
): void => {
  if (list !== 'partitions' && list !== 'merged') return
  // Merges put the newest partitions together, and later older ones.
  const inOrder = list === 'merged' ? entries.toSorted((a, b) => a.version - b.version) : entries
  const detail = versionProblem(inOrder)
  if (detail !== null) findings.add(snapshotPath(snapshot), 'listing', detail)
  for (const partition of entries) {
    const found = arithmeticProblems(partition)
    const name = `${list} ${partition.run} ${partition.id}`
    if (found.length === 0 || known.has(name)) continue
    known.add(name)
    for (const detail of found)
      findings.add(snapshotPath(snapshot), 'counts', `partition "${partition.id}": ${detail}`)
  }
}

/** The manifest as it was checked. */
export interface CheckedManifest {
  readonly snapshots: number
  /** Numbers of the snapshots that can be read, oldest first. */
  readonly roots: readonly number[]
  /** Names of all parts that they list. */
  readonly parts: ReadonlySet<string>
  /** Names of those that are damaged, and were reported. */
  readonly damaged: ReadonlySet<string>
}

/**
 * Checks all snapshots, or one, and hands what they list to `use`: once for each part, oldest first.
 *
 * @throws {ToolkitError} `SNAPSHOT_NOT_FOUND` when there never was the requested one, `LAKE_NEWER`
 */
export const checkManifest = async (
  lake: string,
  listing: ManifestListing,
  only: number | undefined,
  use: (listed: ListedEntries, snapshot: number) => void,
  findings: Findings,
): Promise<CheckedManifest> => {
  const newest = Math.max(listing.snapshots.at(-1) ?? 0, listing.records.at(-1) ?? 0)
  if (only !== undefined && (only < listing.oldest || only > newest)) {
    await readRoot(lake, only)
    throw new ToolkitError(
      'SNAPSHOT_NOT_FOUND',
      `Cannot verify snapshot ${only}: committed after verify began`,
      { lake },
    )
  }
  if (only === undefined) await checkOldest(lake, listing, findings)
  const known = new Set<string>()
  const roots: number[] = []
  const parts = new PartChecker(lake, findings, (listed, snapshot) => {
    checkCounts(listed, snapshot, known, findings)
    use(listed, snapshot)
  })
  const [first, last] = only === undefined ? [listing.oldest, newest] : [only, only]
  for (let number = first; number <= last; number += 1) {
    const found = await checkSnapshot(lake, number, findings)
    await checkRecord(lake, number, number === newest, found, findings)
    if (!found) continue
    await parts.check(found.root)
    roots.push(number)
  }
  return { snapshots: last - first + 1, roots, parts: parts.listed, damaged: parts.damaged }
}
