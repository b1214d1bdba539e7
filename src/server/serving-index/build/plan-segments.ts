/** Plans the segments of an index: those of an earlier index that still hold, and one of all partitions behind them. */

import { copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../../core/errors.ts'
import type { CommittedPartition, Snapshot } from '../../../core/partition.ts'
import { LISTINGS, tablesOf } from '../../../lake/tables/tables.ts'
import { checkNamedFile, type NamedFile, readFileList } from '../../../manifest/form/file-list.ts'
import { fsyncFile, removeIfThere } from '../../../support/durable-files.ts'
import { sha256Of } from '../../../support/hash.ts'
import {
  DOCUMENT_KINDS,
  documentFile,
  INDEX_CONTRACT,
  INDEX_VERSION,
  type IndexDescription,
  type SegmentDescription,
  searchFile,
} from '../index-form.ts'

const NAME_CHARACTERS = 16

/** The name of the segment of consecutive partitions: of all that decides what stands in it. */
export const segmentName = (
  partitions: readonly CommittedPartition[],
  { name, dimensions }: IndexDescription['embedder'],
): string => {
  const read = partitions.map((partition) => {
    const tables = new Set<string>([...tablesOf(partition.content), LISTINGS].map((table) => table.name))
    return [
      // The figures of a run are scaled as its dictionary said, also once a merge has put that together with others.
      partition.run,
      partition.id,
      ...partition.files.filter(({ table }) => tables.has(table)).map(({ sha256 }) => sha256),
    ]
  })
  const decides = [INDEX_VERSION, INDEX_CONTRACT, name, dimensions, read]
  return sha256Of(JSON.stringify(decides)).slice(0, NAME_CHARACTERS)
}

/** An index that is there, and the folder in which its files stand. */
export interface EarlierIndex {
  readonly folder: string
  readonly description: IndexDescription
}

const recordsOf = ({ records }: Pick<SegmentDescription, 'records'>): number =>
  records.companies + records.relations
const sum = (numbers: readonly number[]): number => numbers.reduce((total, one) => total + one, 0)

/** The first segments of an index that are the same of a snapshot. */
const commonSegments = (
  { segments, embedder }: IndexDescription,
  snapshot: Snapshot,
): readonly SegmentDescription[] => {
  let from = 0
  const common: SegmentDescription[] = []
  for (const segment of segments) {
    const to = from + segment.partitions
    const partitions = snapshot.partitions.slice(from, to)
    if (to > snapshot.partitions.length || segmentName(partitions, embedder) !== segment.name) break
    common.push(segment)
    from = to
  }
  return common
}

/** A merged segment holds at most this share of all records: what a night costs at most beside its own records. */
const MERGED_SHARE = 8
/** The index is made anew when segments hold so many times the records that there are: the others take room and time. */
const MOST_SUPERSEDED = 1.5
/** Every query looks into all of them. */
const MOST_SEGMENTS = 16

/**
 * The segments of earlier indexes to be used. What is loaded night by night is merged as a counter carries, so that of
 * a hundred nights some ten segments are left.
 *
 * @returns the index to take them from and how many of its first ones; `null` where all is to be made
 */
export const usableSegments = (
  earlier: readonly EarlierIndex[],
  snapshot: Snapshot,
): { readonly folder: string; readonly segments: readonly SegmentDescription[] } | null => {
  const found = earlier
    .map(({ folder, description }) => ({
      folder,
      description,
      common: commonSegments(description, snapshot),
    }))
    .sort((a, b) => sum(b.common.map(recordsOf)) - sum(a.common.map(recordsOf)))[0]
  if (found === undefined || found.common.length === 0) return null
  const { folder, description } = found
  const used = [...found.common]
  const behind = snapshot.partitions.slice(sum(used.map(({ partitions }) => partitions)))
  let fresh = sum(behind.map(({ counts }) => counts.records))
  const all = sum(used.map(recordsOf)) + fresh
  if (all > MOST_SUPERSEDED * (recordsOf(description) + fresh)) return null
  for (let last = used.at(-1); last !== undefined && behind.length > 0; last = used.at(-1)) {
    const merged = fresh + recordsOf(last)
    if (recordsOf(last) > fresh || merged * MERGED_SHARE > all) break
    used.pop()
    fresh = merged
  }
  return used.length >= MOST_SEGMENTS || used.length === 0 ? null : { folder, segments: used }
}

// Takes segments of an earlier index over: as links to their files, which are hashed first.

export interface UsedSegments {
  readonly segments: readonly SegmentDescription[]
  readonly files: readonly NamedFile[]
}

const NONE: UsedSegments = { segments: [], files: [] }

/** Error codes of a file that cannot have a second name: no links here, another disk, too many names. */
const NO_LINK = ['EPERM', 'ENOTSUP', 'EOPNOTSUPP', 'ENOSYS', 'EXDEV', 'EMLINK']

const share = async (from: string, to: string): Promise<void> => {
  try {
    await link(from, to)
  } catch (error) {
    if (!NO_LINK.includes(systemCode(error) ?? '')) throw error
    await copyFile(from, to)
    await fsyncFile(to)
  }
}

/** Links the files of a segment. @returns what they are; `null` where one is damaged or gone: nothing is left of it then */
const shareSegment = async (
  { name }: SegmentDescription,
  from: string,
  to: string,
  signal: AbortSignal | undefined,
): Promise<readonly NamedFile[] | null> => {
  const list = await readFileList(from)
  if (list.kind !== 'list') return null
  const names = [...DOCUMENT_KINDS.map((kind) => documentFile(kind, name)), searchFile(name)]
  const files = list.files.filter((file) => names.includes(file.name))
  const isWhole = async (): Promise<boolean> => {
    for (const file of files) {
      await share(join(from, file.name), join(to, file.name))
      // The link is checked, because the other name may be gone meanwhile.
      if ((await checkNamedFile(to, file, signal)) !== null) return false
    }
    return files.length === names.length
  }
  const shared = await isWhole().catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  })
  if (shared) return files
  for (const file of names) await removeIfThere(join(to, file))
  return null
}

/** Takes over what can be used of earlier indexes, up to the first segment that is damaged. */
export const useSegments = async (
  earlier: readonly EarlierIndex[],
  snapshot: Snapshot,
  building: string,
  signal: AbortSignal | undefined,
): Promise<UsedSegments> => {
  const usable = usableSegments(earlier, snapshot)
  if (usable === null) return NONE
  const files: NamedFile[] = []
  const segments: SegmentDescription[] = []
  for (const segment of usable.segments) {
    const shared = await shareSegment(segment, usable.folder, building, signal)
    if (shared === null) break
    files.push(...shared)
    segments.push(segment)
  }
  return { segments, files }
}
