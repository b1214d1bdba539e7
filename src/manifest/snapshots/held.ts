/**
 * The snapshot that is held back: a load is done, and checks fail in it. Its document stands beside the snapshots under another
 * name, so no reader, target or publication sees it; its run stays, so that it is committed once it is released. One is held at
 * a time.
 */

import { type CheckResult, ChecksFailed, failedText, type KeptResult } from '../../core/checks.ts'
import { ToolkitError } from '../../core/errors.ts'
import { HELD_PATH, partPath, runOfPart, runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import { anyText, fits, list, objectOf, optional, yesNo } from '../../support/json-form.ts'
import { CHECK_RESULT, KEPT_RESULT } from '../form/entry-form.ts'
import { LIST_NAMES } from './parts.ts'
import type { SnapshotRoot } from './snapshot-root.ts'
import { bytesToSnapshot, rootToText } from './snapshot-text.ts'
import { findCommit, newestRoot, readRoot } from './snapshots.ts'

export interface HeldSnapshot {
  readonly run: string
  /** ISO 8601, UTC. */
  readonly at: string
  /** The snapshot as it would be. */
  readonly root: SnapshotRoot
  /** The checks that fail in it. */
  readonly checks: readonly CheckResult[]
  /** Results of all checks, for when it is released. @default those that fail */
  readonly results?: readonly KeptResult[] | undefined
  /** Whether it is being discarded: nobody reads it any more. @default false */
  readonly discarding?: boolean | undefined
}

interface HeldDocument extends Omit<HeldSnapshot, 'root'> {
  /** The text of its document. */
  readonly root: string
}

const DOCUMENT = objectOf({
  ...{ run: anyText, at: anyText, root: anyText, checks: list(CHECK_RESULT) },
  ...{ results: optional(list(KEPT_RESULT)), discarding: optional(yesNo) },
})

const damaged = (lake: string): ToolkitError =>
  new ToolkitError(
    'SNAPSHOT_DAMAGED',
    `Cannot read "${HELD_PATH}" of lake "${lake}": it is not what was written; remove it: its load is then an interrupted one, which its command checks again`,
    { lake, path: HELD_PATH },
  )

const textOf = ({ root, ...more }: HeldSnapshot): string => {
  const document: HeldDocument = { ...more, root: rootToText(root) }
  return `${seal(JSON.stringify(document))}\n`
}

/** The document as it stands, also of a run that has ended since. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
const readDocument = async (lake: string): Promise<HeldSnapshot | null> => {
  const bytes = await storageOf(lake).read(HELD_PATH)
  if (bytes === null) return null
  const read = unseal(bytes)
  if (read.kind === 'damaged' || !fits(DOCUMENT, read.value)) throw damaged(lake)
  const { root: text, ...more } = read.value
  const found = bytesToSnapshot(Buffer.from(text))
  if (found.kind !== 'snapshot') throw damaged(lake)
  return { ...more, root: found.root }
}

/**
 * The snapshot that is held back; `null` where there is none, and where a release or a discard was stopped before its last step.
 *
 * @throws {ToolkitError} `SNAPSHOT_DAMAGED`
 */
export const readHeld = async (lake: string): Promise<HeldSnapshot | null> => {
  const held = await readDocument(lake)
  if (held === null || held.discarding) return null
  const { run, root } = held
  if (!(await storageOf(lake).hasFolder(runPath(run)))) return null
  return (await findCommit(lake, run, root.parent ?? 0, await newestRoot(lake))) === null ? held : null
}

/**
 * Holds a snapshot back; one of the same run, which a forget has written again, takes its place.
 *
 * @returns whether no other was held before
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`
 */
export const createHeld = async (lake: string, held: HeldSnapshot): Promise<boolean> => {
  const create = (): Promise<boolean> => storageOf(lake).create(HELD_PATH, textOf(held))
  if (await create()) return true
  const before = await readHeld(lake)
  if (before !== null) {
    if (before.run !== held.run) return false
    await storageOf(lake).replace(HELD_PATH, textOf({ ...held, at: before.at }))
    return true
  }
  // A release or a discard was stopped before its last step.
  await removeHeld(lake)
  return create()
}

export const removeHeld = (lake: string): Promise<void> => storageOf(lake).remove([HELD_PATH])

/** Removes the document of a release or a discard that was stopped before its last step. */
export const removeStaleHeld = async (lake: string): Promise<void> => {
  const document = await readDocument(lake)
  if (document !== null && (await readHeld(lake)) === null) await removeHeld(lake)
}

/** From here on it is not held back any more, and whatever is left of it goes. */
export const beginDiscard = (lake: string, held: HeldSnapshot): Promise<void> =>
  storageOf(lake).replace(HELD_PATH, textOf({ ...held, discarding: true }))

/** The snapshot whose discard was stopped before its last step; `null` where none was. */
export const readDiscarding = async (lake: string): Promise<HeldSnapshot | null> => {
  const document = await readDocument(lake)
  return document?.discarding ? document : null
}

/** Paths of the parts that a snapshot which is held back does not share with another one. */
export const ownParts = ({ run, root }: HeldSnapshot): readonly string[] =>
  [...LIST_NAMES.flatMap((name) => root.lists[name].map(({ ref }) => ref)), ...root.versions]
    .filter(({ name }) => runOfPart(name) === run)
    .map(({ name }) => partPath(name))

/** Ends the hold of a snapshot whose run is committed: its own parts go with its document. */
export const endHeld = async (lake: string, held: HeldSnapshot): Promise<void> => {
  await removeHeld(lake)
  await storageOf(lake).remove(ownParts(held))
}

/** @throws {ToolkitError} `NOTHING_HELD` where none is held, `SNAPSHOT_DAMAGED` */
const readHeldRoot = async (lake: string): Promise<SnapshotRoot> => {
  const held = await readHeld(lake)
  if (held) return held.root
  throw new ToolkitError('NOTHING_HELD', 'Cannot read the snapshot that is held back: none is', { lake })
}

/** A snapshot that a reader chooses. */
export interface ChosenSnapshot {
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** The one that is held back. @default false */
  readonly held?: boolean | undefined
}

/** @throws {ToolkitError} as `readRoot` and `readHeldRoot`; `USAGE` where both are chosen */
export const readChosenRoot = async (
  lake: string,
  { snapshot, held = false }: ChosenSnapshot,
): Promise<SnapshotRoot> => {
  if (!held) return readRoot(lake, snapshot)
  if (snapshot === undefined) return readHeldRoot(lake)
  throw new ToolkitError(
    'USAGE',
    `Cannot read snapshot ${snapshot} and the one that is held back at once: expected one of them`,
  )
}

const WAYS_ON = '"firmlake release" shows it all the same, "firmlake discard" gives it up'

/** The error of a load that is held back. */
export const heldError = (lake: string, { run, root, checks }: HeldSnapshot): ToolkitError => {
  const before = root.parent === null ? '' : ` more than in snapshot ${root.parent}`
  return new ChecksFailed(
    'LOAD_HELD',
    `Snapshot ${root.snapshot} is held back: ${checks.length === 1 ? '1 check fails' : `${checks.length} checks fail`} in it${before}: ${failedText(checks)}; ${WAYS_ON}`,
    { lake, run, snapshot: root.snapshot },
    checks,
  )
}

/** The error of a load that waits for another one. */
export const waitsError = (lake: string, { run, at, root, checks }: HeldSnapshot): ToolkitError =>
  new ChecksFailed(
    'LOAD_HELD',
    `Cannot load into lake "${lake}": snapshot ${root.snapshot} is held back since ${at} (${failedText(checks)}); ${WAYS_ON}`,
    { lake, run, snapshot: root.snapshot },
    checks,
  )

/** Has loads wait as long as a snapshot is held back. @throws {ToolkitError} `LOAD_HELD`, `SNAPSHOT_DAMAGED` */
export const refuseWhileHeld = async (lake: string): Promise<void> => {
  const held = await readHeld(lake)
  if (held) throw waitsError(lake, held)
}
