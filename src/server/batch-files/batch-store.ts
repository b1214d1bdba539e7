/** The batch files that a server offers: those of the newest snapshot that has some, by what a caller may see. */

import { AREAS, type Area } from '../../contract/authorization.ts'
import { BATCH_CONTENT, type BatchFileEntry, type BatchListing } from '../../contract/listings.ts'
import { areasFor, type Caller } from '../access/caller.ts'
import {
  type BatchFile,
  type BatchIndex,
  batchFilePath,
  batchSnapshots,
  indexMark,
  readIndex,
} from './batch-index.ts'

/** A file to send. */
export interface StoredBatchFile {
  readonly file: BatchFile
  readonly path: string
}

export interface BatchStore {
  listing(caller: Caller): Promise<BatchListing>
  /** `undefined` where there is no such file, or none for this caller. */
  find(caller: Caller, id: string): Promise<StoredBatchFile | undefined>
}

const EVERY_AREA: ReadonlySet<Area> = new Set(AREAS)

/** A relations file holds every area, and names of persons with a protected identity. */
const maySee = (caller: Caller, file: BatchFile): boolean => {
  const areas = areasFor(caller, file.CountryCode ?? null, EVERY_AREA)
  if (areas === null) return false
  return file.Content === BATCH_CONTENT.companies || AREAS.every((area) => areas.has(area))
}

const entryOf = ({ sha256: _, ...entry }: BatchFile): BatchFileEntry => entry

/** The index is read again whenever it is another one: files made while the server runs are offered. */
/**
 * @param digest of the persons who are protected in what is served: files of relations that mask others are not offered
 */
export const openBatchStore = (lake: string, digest: () => Promise<string>): BatchStore => {
  let known: { readonly mark: string; readonly index: BatchIndex } | undefined
  const index = async (): Promise<BatchIndex | undefined> => {
    for (const snapshot of await batchSnapshots(lake)) {
      const mark = await indexMark(lake, snapshot)
      if (mark === null) continue
      if (known?.mark !== mark) known = { mark, index: await readIndex(lake, snapshot) }
      return known.index
    }
    return undefined
  }
  const offered = async (found: BatchIndex): Promise<readonly BatchFile[]> =>
    found.protected === (await digest())
      ? found.files
      : found.files.filter(({ Content }) => Content === BATCH_CONTENT.companies)
  return {
    listing: async (caller) => {
      const found = await index()
      const files = found === undefined ? [] : await offered(found)
      return { BatchFiles: files.filter((file) => maySee(caller, file)).map(entryOf) }
    },
    find: async (caller, id) => {
      const found = await index()
      if (found === undefined) return undefined
      const file = (await offered(found)).find(({ BatchFileId }) => BatchFileId === id)
      if (!file || !maySee(caller, file)) return undefined
      return { file, path: batchFilePath(lake, found.snapshot, file.FileName) }
    },
  }
}
