/** Reads documents by their places out of one open file, and proves each by its checksum. */

import { closeSync, openSync, readSync } from 'node:fs'
import { setImmediate } from 'node:timers/promises'
import { crc32 } from 'node:zlib'
import type { DocumentPlace } from './index-form.ts'

/** Bytes between two documents that are rather read along than skipped: a call costs as much as copying them. */
const GAP_BYTES = 16 * 1024
/** Most bytes read at once; other requests have their turn between two reads. */
const READ_BYTES = 4 * 1024 * 1024

/** Documents that are read together. */
interface Stretch {
  readonly from: number
  to: number
  readonly members: number[]
}

const stretchesOf = (places: readonly DocumentPlace[]): Stretch[] => {
  const order = places.map((_, index) => index).sort((a, b) => atOf(places, a) - atOf(places, b))
  const stretches: Stretch[] = []
  for (const index of order) {
    const place = places[index]
    if (place === undefined) continue
    const end = place.at + place.bytes
    const last = stretches.at(-1)
    if (last && place.at - last.to <= GAP_BYTES && end - last.from <= READ_BYTES) {
      last.to = Math.max(last.to, end)
      last.members.push(index)
    } else stretches.push({ from: place.at, to: end, members: [index] })
  }
  return stretches
}
const atOf = (places: readonly DocumentPlace[], index: number): number => places[index]?.at ?? 0

/** Other bytes than those that were written. */
export class DamagedDocument extends Error {}

/** @param from where the bytes stand in the file */
const documentOf = (bytes: Buffer, place: DocumentPlace, from: number): Buffer => {
  const document = bytes.subarray(place.at - from, place.at - from + place.bytes)
  if (crc32(document) === place.crc32) return document
  throw new DamagedDocument(`the document at byte ${place.at} does not match its checksum`)
}

/**
 * An open file of documents. Reads are synchronous: out of the page cache one takes microseconds, while an
 * asynchronous one waits for a thread of Node's pool, of which running queries may hold all.
 */
export class DocumentFile {
  readonly #file: number
  #open = true

  constructor(path: string) {
    this.#file = openSync(path, 'r')
  }

  /** The documents in the order of the places. @throws {DamagedDocument} where one is not what it was */
  async read(places: readonly DocumentPlace[]): Promise<readonly Buffer[]> {
    const documents = new Array<Buffer>(places.length)
    let sinceTurn = 0
    for (const { from, to, members } of stretchesOf(places)) {
      if (sinceTurn >= READ_BYTES) {
        await setImmediate()
        sinceTurn = 0
      }
      const bytes = this.#readBytes(from, to - from)
      for (const index of members) {
        const place = places[index]
        if (place) documents[index] = documentOf(bytes, place, from)
      }
      sinceTurn += bytes.length
    }
    return documents
  }

  close(): void {
    if (this.#open) closeSync(this.#file)
    this.#open = false
  }

  #readBytes(from: number, length: number): Buffer {
    const bytes = Buffer.allocUnsafe(length)
    for (let done = 0; done < length; ) {
      const read = readSync(this.#file, bytes, done, length - done, from + done)
      if (read === 0)
        throw new DamagedDocument(`it ends at byte ${from + done}, expected ${length - done} bytes more`)
      done += read
    }
    return bytes
  }
}
