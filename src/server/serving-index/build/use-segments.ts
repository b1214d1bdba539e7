/** Takes segments of an earlier index over: as links to their files, which are hashed first. */

import { copyFile, link } from 'node:fs/promises'
import { join } from 'node:path'
import { systemCode } from '../../../core/errors.ts'
import type { Snapshot } from '../../../core/partition.ts'
import { checkNamedFile, type NamedFile, readFileList } from '../../../manifest/form/file-list.ts'
import { discard, fsyncFile } from '../../../support/durable-files.ts'
import { DOCUMENT_KINDS, documentFile, type SegmentDescription, searchFile } from '../index-form.ts'
import { type EarlierIndex, usableSegments } from './plan-segments.ts'

export interface UsedSegments {
  readonly segments: readonly SegmentDescription[]
  readonly files: readonly NamedFile[]
}

const NONE: UsedSegments = { segments: [], files: [] }

/** What the system says where a file cannot have a second name: no such links here, other disks, too many names. */
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
      // Of the link, because the other name may be gone meanwhile.
      if ((await checkNamedFile(to, file, signal)) !== null) return false
    }
    return files.length === names.length
  }
  const shared = await isWhole().catch((error: unknown) => {
    if (systemCode(error) === 'ENOENT') return false
    throw error
  })
  if (shared) return files
  for (const file of names) await discard(join(to, file))
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
