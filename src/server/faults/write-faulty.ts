/** Faults on the bytes of an answer's body: the answer is written past the framework, wrong as the fault says. */

import type { ServerResponse } from 'node:http'
import { setTimeout as wait } from 'node:timers/promises'
import type { FaultOf, RuleOf } from './fault-kinds.ts'

/** An answer as it would be. */
export interface WholeAnswer {
  readonly status: number
  readonly headers: Readonly<Record<string, number | string | string[] | undefined>>
  readonly totalBytes: number
  readonly chunks: AsyncIterable<Buffer>
}

/** What else the fault needs: how slow, and until when. */
interface Circumstances {
  readonly rule: RuleOf<'body'>
  readonly signal: AbortSignal
}

/** Resolves when the bytes have left; also when the other side is gone. */
const written = (raw: ServerResponse, chunk: Buffer): Promise<void> =>
  new Promise((resolve) => {
    if (raw.destroyed) resolve()
    else raw.write(chunk, () => resolve())
  })

async function* firstBytes(chunks: AsyncIterable<Buffer>, count: number): AsyncGenerator<Buffer> {
  let left = count
  for await (const chunk of chunks) {
    if (left <= 0) return
    yield chunk.subarray(0, left)
    left -= chunk.length
  }
}

async function* withFlippedByte(chunks: AsyncIterable<Buffer>, place: number): AsyncGenerator<Buffer> {
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

const DRIP_BYTES_PER_SECOND = 1000
const DRIPS_PER_SECOND = 10

async function* drops(
  chunks: AsyncIterable<Buffer>,
  { rule, signal }: Circumstances,
): AsyncGenerator<Buffer> {
  const perSecond = rule.bytesPerSecond ?? DRIP_BYTES_PER_SECOND
  const size = Math.max(1, Math.round(perSecond / DRIPS_PER_SECOND))
  for await (const chunk of chunks)
    for (let at = 0; at < chunk.length; at += size) {
      yield chunk.subarray(at, at + size)
      await wait((size / perSecond) * 1000, undefined, { signal })
    }
}

type Writer = (raw: ServerResponse, answer: WholeAnswer, circumstances: Circumstances) => Promise<void>

const send = async (
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

const half = ({ totalBytes }: WholeAnswer): number => Math.floor(totalBytes / 2)

const WRITERS: Readonly<Record<FaultOf<'body'>, Writer>> = {
  resetInBody: async (raw, answer) => {
    const { socket } = raw
    await send(raw, answer, answer.totalBytes, firstBytes(answer.chunks, half(answer)))
    socket?.resetAndDestroy()
  },
  truncated: async (raw, answer) => {
    const { socket } = raw
    await send(raw, answer, answer.totalBytes, firstBytes(answer.chunks, half(answer)))
    socket?.end()
  },
  truncatedUnannounced: async (raw, answer) => {
    await send(raw, answer, undefined, firstBytes(answer.chunks, half(answer)))
    raw.end()
  },
  halfDocument: async (raw, answer) => {
    await send(raw, answer, half(answer), firstBytes(answer.chunks, half(answer)))
    raw.end()
  },
  damaged: async (raw, answer) => {
    await send(raw, answer, answer.totalBytes, withFlippedByte(answer.chunks, half(answer)))
    raw.end()
  },
  drip: async (raw, answer, circumstances) => {
    await send(raw, answer, answer.totalBytes, drops(answer.chunks, circumstances))
    raw.end()
  },
}

/** Writes an answer with its fault. Never fails: what goes wrong ends the connection. */
export const writeFaulty = async (
  raw: ServerResponse,
  answer: WholeAnswer,
  circumstances: Circumstances,
): Promise<void> => {
  try {
    await WRITERS[circumstances.rule.fault](raw, answer, circumstances)
  } catch {
    raw.destroy()
  }
}
