/** Snapshots of what a test lists. Knows nothing of vitest. */

import { randomBytes } from 'node:crypto'
import { extendList, PartWriter } from '../../src/commit/extend-list.ts'
import type {
  CommitFacts,
  CommittedPartition,
  FileEntry,
  PartitionEntry,
  Snapshot,
  SnapshotHead,
} from '../../src/core/partition.ts'
import { snapshotPath } from '../../src/lake/files/layout.ts'
import { totalsOf } from '../../src/manifest/form/totals.ts'
import { headOf, type SnapshotRoot } from '../../src/manifest/snapshots/snapshot-root.ts'
import { rootToText } from '../../src/manifest/snapshots/snapshot-text.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { newRunId } from '../../src/support/run-ids.ts'

export interface ToList
  extends SnapshotHead,
    Pick<Snapshot, 'pulls' | 'merged'>,
    Partial<Pick<Snapshot, 'versions'>> {
  readonly partitions: readonly (PartitionEntry & Partial<CommitFacts>)[]
  readonly files: readonly (FileEntry & { readonly run: string } & Partial<CommitFacts>)[]
}

/** Entries as the commit of a snapshot makes them, unless they are committed. */
export const committedBy = <Entry extends object>(
  { snapshot, time }: Pick<SnapshotHead, 'snapshot' | 'time'>,
  entries: readonly Entry[],
  first = 1,
): readonly (Entry & CommitFacts)[] =>
  entries.map((entry, at) => ({ committed: { snapshot, time }, version: first + at, ...entry }))

/** Partitions as the commit of a snapshot makes them; as of its time, unless they say otherwise. */
export const partitionsBy = <Entry extends PartitionEntry>(
  head: Pick<SnapshotHead, 'snapshot' | 'time'>,
  entries: readonly Entry[],
): readonly (Entry & CommittedPartition)[] =>
  committedBy(head, entries).map((entry) => ({ ...entry, asOf: entry.asOf ?? head.time }))

/** Writes the parts of a snapshot. */
export const rootOf = async (lake: string, listed: ToList): Promise<SnapshotRoot> => {
  const { pulls = [], merged = [] } = listed
  const partitions = partitionsBy(listed, listed.partitions)
  const files = committedBy(listed, listed.files, partitions.length + 1)
  const versions = [...partitions, ...files].map(({ version }) => version)
  const run = newRunId(new Date(), randomBytes)
  const writer = new PartWriter({ lake, run }, randomBytes)
  return {
    ...headOf(listed),
    totals: totalsOf({ partitions, files, pulls, merged }),
    versions: listed.versions ?? [],
    nextVersion: Math.max(0, ...versions) + 5,
    lists: {
      partitions: await extendList(writer, 'partitions', [], partitions),
      files: await extendList(writer, 'files', [], files),
      pulls: await extendList(writer, 'pulls', [], pulls),
      merged: await extendList(writer, 'merged', [], merged),
      checks: [],
    },
  }
}

/** Creates the file of a snapshot if its number is free. @returns whether it was */
export const createSnapshot = async (lake: string, listed: ToList): Promise<boolean> =>
  storageOf(lake).create(snapshotPath(listed.snapshot), rootToText(await rootOf(lake, listed)))
