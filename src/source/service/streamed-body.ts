/** Bodies that are read while they come: decompressed and checked chunk by chunk, never held whole. */

import { once } from 'node:events'
import { PassThrough } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { ToolkitError } from '../../core/errors.ts'
import { settled } from '../../support/side-by-side.ts'
import { type AnswerHead, type Receiver, Retry } from './answer.ts'
import { type ContentCoding, codingsOf, tooLarge } from './content-codings.ts'
import { holdsToken, repeatsToken } from './own-token.ts'

type Chunks = AsyncIterable<Buffer>

interface StreamOptions {
  readonly action: string
  /** Of the body, as it comes and decompressed. */
  readonly maxBytes: number
  /** The one that the request was sent with: an answer that holds it is refused. */
  readonly token: string
}

const isReported = (error: unknown): boolean => error instanceof ToolkitError || error instanceof Retry

async function* limited(chunks: Chunks, { action, maxBytes }: StreamOptions): AsyncGenerator<Buffer> {
  let bytes = 0
  for await (const chunk of chunks) {
    bytes += chunk.length
    if (bytes > maxBytes) throw tooLarge(action, maxBytes)
    yield chunk
  }
}

async function* decompressed(chunks: Chunks, { stream }: ContentCoding): AsyncGenerator<Buffer> {
  const decoder = stream()
  // Its failure is the decoder's too, which is read below.
  const fed = settled(pipeline(chunks, decoder))
  try {
    yield* decoder
  } catch (error) {
    throw isReported(error) ? error : new Retry('the answer cannot be decompressed', { cause: error })
  } finally {
    decoder.destroy()
    await fed
  }
}

/** Refuses bytes that are no UTF-8, and a token, also where it stands across chunks. */
async function* checkedText(chunks: Chunks, { action, token }: StreamOptions): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder('utf-8', { fatal: true })
  const decode = (chunk?: Buffer): void => {
    try {
      decoder.decode(chunk, { stream: chunk !== undefined })
    } catch (error) {
      throw new Retry('the answer is no UTF-8', { cause: error })
    }
  }
  let last = Buffer.alloc(0)
  for await (const chunk of chunks) {
    const both = Buffer.concat([last, chunk])
    if (holdsToken(both, token)) throw repeatsToken(action)
    last = both.subarray(Math.max(0, both.length - token.length))
    decode(chunk)
    yield chunk
  }
  decode()
}

/**
 * Hands a body on while it comes.
 *
 * @param read its {@link Retry} and ToolkitError are handed on; of a body that breaks off its end is never reported
 */
export const streamedBody = (
  head: AnswerHead,
  options: StreamOptions,
  read: (chunks: Chunks) => Promise<void>,
): Receiver => {
  const input = new PassThrough()
  // Whoever reads it fails with it.
  input.on('error', () => undefined)
  let chunks: Chunks = limited(input, options)
  for (const coding of codingsOf(head, options.action))
    chunks = limited(decompressed(chunks, coding), options)
  const done = settled(read(checkedText(chunks, options)))
  return {
    write: (chunk) => {
      if (!input.destroyed && input.write(chunk)) return undefined
      // Whatever comes first: room, or the end of the reading, which then has failed.
      return Promise.race([once(input, 'drain').then(() => undefined), done.then((result) => result())])
    },
    end: async () => {
      input.end()
      ;(await done)()
    },
    brokenOff: () => void input.destroy(new Retry('the answer broke off')),
  }
}
