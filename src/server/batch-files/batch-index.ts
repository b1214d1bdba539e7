/** The content of a folder of batch files: its index, written last. A folder without one is unfinished. */

import { readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { BatchFileEntry } from '../../contract/listings.ts'
import { ToolkitError } from '../../core/errors.ts'
import { BATCHES_FOLDER, batchesPath, inLake, parseMadeName } from '../../lake/files/layout.ts'
import { readFileList } from '../../manifest/form/file-list.ts'
import { sha256Of } from '../../support/hash.ts'
import {
  anyText,
  anything,
  finiteNumber,
  fits,
  list,
  objectOf,
  oneOf,
  parseAs,
  sha256,
  textLike,
} from '../../support/json-form.ts'
import { listFolder } from '../../support/list-files.ts'
import type { FileReaders } from './plan-files.ts'

export interface BatchFile extends BatchFileEntry {
  /** SHA-256 of the compressed file, in hex. */
  readonly sha256: string
  /** Whom it is offered to. */
  readonly readers: FileReaders
}
export interface BatchIndex {
  readonly snapshot: number
  /** Digest of the set of persons who are masked in the files. */
  readonly protected: string
  readonly files: readonly BatchFile[]
}
export const INDEX_FILE = 'index.json'

/** Numbers of the snapshots that have a folder of batch files, the newest first. */
export const batchSnapshots = async (lake: string): Promise<readonly number[]> => {
  const entries = await listFolder(inLake(lake, BATCHES_FOLDER))
  return entries.flatMap(({ name }) => parseMadeName(name) ?? []).sort((a, b) => b - a)
}

const STORED = objectOf({
  snapshot: finiteNumber,
  protected: anyText,
  files: list(
    // The file's name becomes part of a path.
    objectOf({
      BatchFileId: anyText,
      FileName: textLike(/^[\w-]+\.jsonl\.br$/, 'a name'),
      sha256,
      SizeInBytes: finiteNumber,
      readers: oneOf(['all', 'every area', 'fewer areas'] satisfies readonly FileReaders[]),
    }),
  ),
})
const isIndex = (value: unknown): value is BatchIndex => fits(STORED, value)

const decodeIndex = (json: string): BatchIndex | null => {
  const index = parseAs(anything, json)
  return isIndex(index) ? { snapshot: index.snapshot, protected: index.protected, files: index.files } : null
}

/** Absolute path of a batch file. */
export const batchFilePath = (lake: string, snapshot: number, fileName: string): string =>
  join(inLake(lake, batchesPath(snapshot)), fileName)

export const indexPath = (lake: string, snapshot: number): string => batchFilePath(lake, snapshot, INDEX_FILE)

/** Whether an index is what the list in its folder says. */
const isListed = async (lake: string, snapshot: number, text: string): Promise<boolean> => {
  const list = await readFileList(inLake(lake, batchesPath(snapshot)))
  const found = list.kind === 'list' ? list.files.find(({ name }) => name === INDEX_FILE) : undefined
  return found?.sha256 === sha256Of(text)
}

/**
 * The index of a snapshot's batch files, proven by the list in their folder. Whether the files are as it says shows when
 * they are read.
 * @throws {ToolkitError} LAKE_DAMAGED; the system's error when absent
 */
export const readIndex = async (lake: string, snapshot: number): Promise<BatchIndex> => {
  const path = indexPath(lake, snapshot)
  const text = await readFile(path, 'utf8')
  const index = (await isListed(lake, snapshot, text)) ? decodeIndex(text) : null
  if (index) return index
  throw new ToolkitError(
    'LAKE_DAMAGED',
    `Cannot read "${path}": it is damaged, or no index of batch files; make the files again`,
    { path },
  )
}

/** A mark of the index as it is on the disk; `null` where there is none. It changes when the file does. */
export const indexMark = async (lake: string, snapshot: number): Promise<string | null> => {
  const found = await stat(indexPath(lake, snapshot), { bigint: true }).catch(() => null)
  return found && `${snapshot} ${found.mtimeNs} ${found.size} ${found.ino}`
}
