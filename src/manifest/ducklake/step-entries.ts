/** Entries that a snapshot lists and the one before does not, and the other way round: opens the parts in which they differ. */

import type { CheckEntry, CommittedPartition, FileOfRun, PullEntry } from '../../core/partition.ts'
import { differingParts, type Leaf, type ListName, type Lists, readEntries } from '../snapshots/parts.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'

/** Two snapshots; `null`: a lake that has nothing yet. */
export interface Step {
  readonly lake: string
  readonly before: SnapshotRoot | null
  readonly after: SnapshotRoot
}

type KeyOf<Name extends ListName> = (entry: Lists[Name]) => string | number

/** Entries of a list keep their content: what tells one from another. */
const KEYS: { readonly [Name in ListName]: KeyOf<Name> } = {
  partitions: ({ version }: CommittedPartition) => version,
  merged: ({ version }: CommittedPartition) => version,
  files: ({ version }: FileOfRun) => version,
  pulls: (pull: PullEntry) => JSON.stringify(pull),
  checks: (check: CheckEntry) => JSON.stringify(check),
}

/** Entries of one list. */
export interface ListDifference<Name extends ListName> {
  /** Keys of the entries that went. */
  readonly gone: ReadonlySet<string | number>
  /** The entries that came, part by part. */
  readonly added: () => AsyncGenerator<Lists[Name]>
}

async function* entriesOfLeaves<Name extends ListName>(
  lake: string,
  name: Name,
  leaves: readonly Leaf[],
): AsyncGenerator<Lists[Name]> {
  for (const { part } of leaves) yield* await readEntries(lake, name, part)
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const listDifference = async <Name extends ListName>(
  { lake, before, after }: Step,
  name: Name,
): Promise<ListDifference<Name>> => {
  const keyOf = KEYS[name]
  const parts = await differingParts(lake, before?.lists[name] ?? [], after.lists[name])
  const known = new Set<string | number>()
  for await (const entry of entriesOfLeaves(lake, name, parts.before)) known.add(keyOf(entry))
  const gone = new Set(known)
  if (known.size > 0)
    for await (const entry of entriesOfLeaves(lake, name, parts.after)) gone.delete(keyOf(entry))
  return {
    gone,
    added: async function* () {
      for await (const entry of entriesOfLeaves(lake, name, parts.after))
        if (!known.has(keyOf(entry))) yield entry
    },
  }
}
