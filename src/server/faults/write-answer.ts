/** Answers written past the framework, for faults on the bytes of a body. */

import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { WholeAnswer } from './fault-form.ts'

/** Resolves when the bytes have left; also when the other side is gone. */
const written = (raw: ServerResponse, chunk: Buffer): Promise<void> =>
  new Promise((resolve) => {
    if (raw.destroyed) resolve()
    else raw.write(chunk, () => resolve())
  })

export async function* firstBytes(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count
  for await (const chunk of chunks) {
    if (left <= 0) return
    yield chunk.subarray(0, left)
    left -= chunk.length
  }
}

export async function* withFlippedByte(chunks: AsyncIterable<Buffer>, place: number): AsyncGenerator<Buffer> {
  let at = 0
  for await (const chunk of chunks) {
    if (place < at || place >= at + chunk.length) yield chunk
    else {
      const changed = Buffer.from(chunk)
      changed[place - at] = (changed[place - at] ?? 0) ^ 0xff
      yield changed
    }
    at += chunk.length
  }
}

const DROPS_PER_SECOND = 10

export async function* drops(
  chunks: AsyncIterable<Buffer>,
  bytesPerSecond: number,
  signal: AbortSignal,
): AsyncGenerator<Buffer> {
  const size = Math.max(1, Math.round(bytesPerSecond / DROPS_PER_SECOND))
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += size) {
      yield chunk.subarray(at, at + size)
      await wait((size / bytesPerSecond) * 1000, undefined, { signal })
    }
}

/** Writes the head of an answer, announcing so many bytes, and these chunks; does not end it. */
export const writeAnswer = async (
  raw: ServerResponse,
  { status, headers }: WholeAnswer,
  lengthBytes: number | undefined,
  chunks: AsyncIterable<Buffer>,
): Promise<void> => {
  const { 'content-length': _, ...others } = headers
  raw.writeHead(status, { ...others, ...(lengthBytes !== undefined && { 'content-length': lengthBytes }) })
  for await (const chunk of chunks) {
    if (raw.destroyed) return
    await written(raw, chunk)
  }
}

export const half = ({ totalBytes }: WholeAnswer): number => Math.floor(totalBytes / 2)
