/** An object store in memory: a second kind of bucket, to see that nothing above the interface knows S3. */

import { readFile } from 'node:fs/promises'
import { Readable } from 'node:stream'
import { ToolkitError } from '../../src/core/errors.ts'
import { checkPath, type ListedObject, type ObjectStore } from '../../src/storage/object-store.ts'
import { sha256Of } from '../../src/support/hash.ts'

interface MemoryObject {
  readonly data: Buffer
  readonly changedMs: number
}

/** The objects of one bucket; several stores may be over it, as several processes are. */
export type MemoryBucket = Map<string, MemoryObject>

const PIECE_BYTES = 64 * 1024

const pieces = function* (data: Buffer): Generator<Buffer> {
  for (let from = 0; from < data.length; from += PIECE_BYTES) yield data.subarray(from, from + PIECE_BYTES)
}

export const memoryStore = (name: string, bucket: MemoryBucket): ObjectStore => {
  const address = { uri: `memory://${name}`, source: 'memory' }
  const set = (path: string, data: Uint8Array): void => {
    checkPath(address, path)
    bucket.set(path, { data: Buffer.from(data), changedMs: Date.now() })
  }
  return {
    address,
    head: async (path) => {
      checkPath(address, path)
      const found = bucket.get(path)
      return found ? { path, bytes: found.data.length, changedMs: found.changedMs } : null
    },
    get: async (path, { range } = {}) => {
      checkPath(address, path)
      const found = bucket.get(path)
      if (found === undefined) return null
      const data = range ? found.data.subarray(range.from, range.to) : found.data
      return { stream: Readable.from(pieces(data), { objectMode: false }), bytes: found.data.length }
    },
    put: async (path, data) => set(path, data),
    putIfAbsent: async (path, data) => {
      if (bucket.has(path)) return false
      set(path, data)
      return true
    },
    putFile: async (from, { path, bytes, sha256 }) => {
      const data = await readFile(from)
      if (data.length !== bytes || sha256Of(data) !== sha256)
        throw new ToolkitError(
          'WRITE_FAILED',
          `Cannot store "${address.uri}/${path}": the staged file changed`,
        )
      set(path, data)
    },
    list: async function* (prefix, { folders = false } = {}): AsyncGenerator<ListedObject> {
      const seen = new Set<string>()
      for (const [path, { data, changedMs }] of [...bucket]) {
        if (!path.startsWith(prefix)) continue
        const end = folders ? path.indexOf('/', prefix.length) : -1
        if (end === -1) yield { path, bytes: data.length, changedMs }
        else if (!seen.has(path.slice(0, end + 1))) {
          seen.add(path.slice(0, end + 1))
          yield { path: path.slice(0, end + 1), bytes: 0, changedMs: 0 }
        }
      }
    },
    delete: async (paths) => {
      for (const path of paths) bucket.delete(path)
    },
  }
}
