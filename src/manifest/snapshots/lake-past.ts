/**
 * The runs that a lake knows, for targets that say what they show: a lake whose place a backup has taken has lost what was
 * committed after the backup.
 */

import type { NamedSnapshot } from '../form/compactions.ts'
import { entriesOf, LIST_NAMES } from './parts.ts'
import type { SnapshotRoot } from './snapshot-root.ts'
import { listManifest, readKnownRoot } from './snapshots.ts'

/** Runs, each with the snapshot that its commit made; `undefined` where nothing says which. */
export type KnownRuns = ReadonlyMap<string, number | undefined>

/** The runs of a lake up to a snapshot, also of those that gc has removed. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const knownRuns = async (lake: string, root: SnapshotRoot): Promise<KnownRuns> => {
  const { forgotten = [], compactions = [], lists } = root
  const runs = new Map<string, number | undefined>()
  for (const list of LIST_NAMES)
    for await (const { entries } of entriesOf(lake, list, lists[list]))
      for (const entry of entries)
        if ('committed' in entry) runs.set(entry.run, entry.committed.snapshot)
        else if (!runs.has(entry.run)) runs.set(entry.run, undefined)
  for (const { run, snapshot } of [...forgotten, ...compactions, root]) runs.set(run, snapshot)
  return runs
}

/** Whether a snapshot that is named by its number and its run is among them. */
export const isOwn = (runs: KnownRuns, { snapshot, run }: NamedSnapshot): boolean =>
  runs.has(run) && (runs.get(run) ?? snapshot) === snapshot

/** The same without a look at all entries, where the lake still has a snapshot of the number. @param root the newest snapshot */
export const isOwnSnapshot = async (
  lake: string,
  root: SnapshotRoot,
  shown: NamedSnapshot,
): Promise<boolean> => {
  if (shown.snapshot > root.snapshot) return false
  const { snapshots } = await listManifest(lake)
  return snapshots.includes(shown.snapshot)
    ? (await readKnownRoot(lake, shown.snapshot)).run === shown.run
    : isOwn(await knownRuns(lake, root), shown)
}
