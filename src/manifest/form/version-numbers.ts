/**
 * The numbers of versions of records: each partition, and each file of a run, gets the next one when
 * it is committed. Some are left free before those of each commit: a compaction that began before it takes them, so that
 * its rows count as older.
 */

import type { CommittedPartition, FileOfRun } from '../../core/partition.ts'

export interface WithVersions {
  /** The number that the next commit gives first. All below it are given, or left free for good. */
  readonly nextVersion: number
}

/** A compaction commits at most a partition of each content, one of listings, and a dictionary. */
const LEFT_FREE = 4

interface Unnumbered {
  readonly partitions: readonly Omit<CommittedPartition, 'version'>[]
  readonly files: readonly Omit<FileOfRun, 'version'>[]
}

interface Numbered extends WithVersions {
  readonly partitions: readonly CommittedPartition[]
  readonly files: readonly FileOfRun[]
}

const numberedFrom = (first: number, { partitions, files }: Unnumbered): Omit<Numbered, 'nextVersion'> => ({
  partitions: partitions.map((one, at) => ({ ...one, version: first + at })),
  files: files.map((one, at) => ({ ...one, version: first + partitions.length + at })),
})

/** Numbers what a load commits. @param newest the snapshot that it commits on */
export const numberLoaded = (newest: WithVersions | null, added: Unnumbered): Numbered => {
  const first = newest?.nextVersion ?? 1
  const count = added.partitions.length + added.files.length
  return { ...numberedFrom(first, added), nextVersion: count === 0 ? first : first + count + LEFT_FREE }
}

/**
 * Numbers what a compaction commits.
 *
 * @param later what was committed since it began
 * @throws {RangeError} when there are more than numbers left free
 */
export const numberCompacted = (
  { nextVersion }: WithVersions,
  added: Unnumbered,
  later: Pick<Numbered, 'partitions' | 'files'>,
): Numbered => {
  const count = added.partitions.length + added.files.length
  if (count > LEFT_FREE) throw new RangeError(`Cannot number ${count} parts of a compaction`)
  const firstLater = [...later.partitions, ...later.files].reduce(
    (least, { version }) => Math.min(least, version),
    nextVersion,
  )
  return { ...numberedFrom(firstLater - LEFT_FREE, added), nextVersion: nextVersion + LEFT_FREE }
}

/** Why the numbers of consecutive entries do not rise; `null` where they do. */
export const versionProblem = (entries: readonly { readonly version: number }[]): string | null => {
  let before = 0
  for (const { version } of entries) {
    if (version <= before) return `version ${version} stands behind version ${before}`
    before = version
  }
  return null
}
