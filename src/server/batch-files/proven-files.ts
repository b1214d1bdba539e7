/** Proves that batch files are what their index says, before a range of one is sent and while a whole one is. */

import { createHash } from 'node:crypto'
import type { FileHandle } from 'node:fs/promises'
import { pipeline, type Readable, Transform } from 'node:stream'
import { ToolkitError } from '../../core/errors.ts'
import { sha256OfOpen } from '../../support/hash.ts'
import type { StoredBatchFile } from './batch-store.ts'

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
   * All bytes of a file. They are hashed while they go, and the last ones are kept back until the hash is right: of a
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
