/** The batch files that a server offers: those of the newest snapshot that has some, by what a caller may see. */

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { AREAS, type Area } from '../../contract/authorization.ts'
import type { BatchFileEntry, BatchListing } from '../../contract/listings.ts'
import { ToolkitError } from '../../core/errors.ts'
import { sha256OfOpen } from '../../support/hash.ts'
import { areasFor, type Caller } from '../access/caller.ts'
import { hasEveryArea } from '../persons/leaving-record.ts'
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

/** A file with every area, or with fields beyond the contract, has names of persons with a protected identity too. */
const maySee = (caller: Caller, { CountryCode: country, readers }: BatchFile): boolean => {
  const areas = areasFor(caller, country?.toUpperCase() ?? null, EVERY_AREA)
  if (areas === null) return false
  return readers === 'all' || readers === (hasEveryArea(areas) ? 'every area' : 'fewer areas')
}

const entryOf = ({ sha256: _, readers: __, ...entry }: BatchFile): BatchFileEntry => entry

/**
 * The index is read again whenever it is another one: files made while the server runs are offered.
 *
 * @param digest of the persons who are protected in what is served: files that mask others are not offered
 */
export const openBatchStore = (lake: string, digest: () => string): BatchStore => {
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
  const offered = ({ protected: masked, files }: BatchIndex): readonly BatchFile[] =>
    masked === digest() ? files : []
  return {
    listing: async (caller) => {
      const found = await index()
      const files = found === undefined ? [] : offered(found)
      return { BatchFiles: files.filter((file) => maySee(caller, file)).map(entryOf) }
    },
    find: async (caller, id) => {
      const found = await index()
      if (found === undefined) return undefined
      const file = offered(found).find(({ BatchFileId }) => BatchFileId === id)
      if (!file || !maySee(caller, file)) return undefined
      return { file, path: batchFilePath(lake, found.snapshot, file.FileName) }
    },
  }
}

// Proves that batch files are what their index says, before a range of one is sent and while a whole one is.

const CHUNK_BYTES = 1 << 18

const damaged = (path: string, state: string): ToolkitError =>
  new ToolkitError('LAKE_DAMAGED', `Cannot send "${path}": ${state}; make the batch files again`, { path })

/** Changes whenever the file does, unless a disk rots. */
const markOf = async (handle: FileHandle): Promise<string> => {
  const { ino, size, mtimeNs, ctimeNs } = await handle.stat({ bigint: true })
  return `${ino} ${size} ${mtimeNs} ${ctimeNs}`
}

interface Proof {
  readonly mark: string
  readonly isWhole: Promise<boolean>
}

export class ProvenFiles {
  readonly #proofs = new Map<string, Proof>()

  /** Length only: whether the bytes are right shows when they are read. @throws {ToolkitError} LAKE_DAMAGED */
  async assertLength(handle: FileHandle, { file, path }: StoredBatchFile): Promise<void> {
    const { size } = await handle.stat()
    if (size !== file.SizeInBytes) throw damaged(path, `it has ${size} bytes, expected ${file.SizeInBytes}`)
  }

  /**
   * The bytes from `first` to `last`, both included, after the whole file was hashed: once, as long as it stays as it is.
   * @throws {ToolkitError} LAKE_DAMAGED
   */
  async part(handle: FileHandle, stored: StoredBatchFile, first: number, last: number): Promise<Readable> {
    const { file, path } = stored
    const mark = await markOf(handle)
    let proof = this.#proofs.get(path)
    if (proof?.mark !== mark) {
      proof = { mark, isWhole: sha256OfOpen(handle).then((sha256) => sha256 === file.sha256) }
      this.#proofs.set(path, proof)
    }
    try {
      if (!(await proof.isWhole)) throw damaged(path, 'it does not match its SHA-256')
    } catch (error) {
      this.#proofs.delete(path)
      throw error
    }
    return handle.createReadStream({ start: first, end: last, highWaterMark: CHUNK_BYTES })
  }

  /**
   * The bytes of a file. They are hashed while they go, and the last ones are kept back until the hash is right: of a
   * damaged file the stream fails before its end.
   */
  whole(handle: FileHandle, { file, path }: StoredBatchFile): Readable {
    const hash = createHash('sha256')
    let held: Buffer | undefined
    const checked = new Transform({
      highWaterMark: CHUNK_BYTES,
      transform: (chunk: Buffer, _encoding, done) => {
        hash.update(chunk)
        const before = held
        held = chunk
        done(null, before)
      },
      flush: (done) => {
        if (hash.digest('hex') === file.sha256) done(null, held)
        else done(damaged(path, 'it does not match its SHA-256'))
      },
    })
    // The first stream closes the file, also when the connection ends first; errors are those of the second.
    pipeline(
      handle.createReadStream({ start: 0, end: file.SizeInBytes - 1, highWaterMark: CHUNK_BYTES }),
      checked,
      () => undefined,
    )
    return checked
  }
}
