/**
 * Bodies of answers: decompressed, checked to be text, and read, either held whole or chunk by chunk while they come.
 */

import { isUtf8 } from 'node:buffer'
import { once } from 'node:events'
import { PassThrough, type Transform } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { promisify } from 'node:util'
import { createGunzip, createInflate, gunzip, inflate } from 'node:zlib'
import { brotliDecoders, mayDecodeBrotli } from '../../core/brotli.ts'
import { systemCode, ToolkitError } from '../../core/errors.ts'
import { sha256Of } from '../../support/hash.ts'
import { settled } from '../../support/side-by-side.ts'
import { type AnswerHead, type Receiver, Retry } from './answer.ts'
import { holdsToken, repeatsToken } from './token.ts'

/** The codings that we ask for; a proxy may send others all the same. */
export const acceptEncoding = (): string => (mayDecodeBrotli('service') ? 'br, gzip' : 'gzip')

interface ContentCoding {
  readonly whole: (data: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>
  readonly stream: () => Transform
}

const GZIP: ContentCoding = { whole: promisify(gunzip), stream: () => createGunzip() }
const CODINGS: Readonly<Record<string, (action: string) => ContentCoding>> = {
  br: (action) => brotliDecoders(action, 'service'),
  gzip: () => GZIP,
  'x-gzip': () => GZIP,
  deflate: () => ({ whole: promisify(inflate), stream: () => createInflate() }),
}

/**
 * The codings to be undone, the last applied first.
 *
 * @throws {ToolkitError} ANSWER_INVALID for one that is unknown; NODE_VULNERABLE
 */
const codingsOf = ({ headers }: AnswerHead, action: string): ContentCoding[] =>
  String(headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()
    .map((name) => {
      const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined
      if (coding) return coding(action)
      throw new ToolkitError('ANSWER_INVALID', `${action}: the answer is compressed by an unknown method`, {
        kind: 'form',
      })
    })

/** The error of a body beyond its limit. */
const tooLarge = (action: string, maxBytes: number): ToolkitError =>
  new ToolkitError('ANSWER_INVALID', `${action}: the answer is larger than ${maxBytes} bytes`, {
    kind: 'size',
    maxBytes,
  })

/** @throws {Retry} where a body is no UTF-8 */
export const checkText = (body: Buffer): void => {
  if (!isUtf8(body)) throw new Retry('the answer is no UTF-8')
}

/**
 * Checks the bodies of records that all attempts of one request bring: as {@link checkText}, unless the same bytes came
 * before. Then they are not damage but what the service has, and loading quarantines the record.
 */
export const recordsCheck = (): ((body: Buffer) => void) => {
  let odd: string | undefined
  return (body) => {
    if (isUtf8(body)) return
    const sha256 = sha256Of(body)
    if (sha256 !== odd) {
      odd = sha256
      checkText(body)
    }
  }
}

const decompressWhole = async (
  body: Buffer,
  { whole }: ContentCoding,
  action: string,
  maxBytes: number,
): Promise<Buffer> => {
  try {
    return await whole(body, { maxOutputLength: maxBytes })
  } catch (error) {
    if (systemCode(error) === 'ERR_BUFFER_TOO_LARGE') throw tooLarge(action, maxBytes)
    throw new Retry('the answer cannot be decompressed', { cause: error })
  }
}

/** Whether a reader says that the body is not whole. */
const isHalf = (error: unknown): error is ToolkitError =>
  error instanceof ToolkitError && error.code === 'ANSWER_INVALID' && error.context.kind === 'half'

interface BodyOptions {
  readonly action: string
  readonly maxBytes: number
  /** The one that the request was sent with: an answer that holds it is refused. */
  readonly token: string
  /** Checks whether the bytes may be read; shared by the attempts of a request. */
  readonly check: (body: Buffer) => void
}

/**
 * Holds a body and reads it when it is whole.
 *
 * @param read an ANSWER_INVALID with `context.kind` `'half'` becomes a {@link Retry}
 */
export const wholeBody = (
  head: AnswerHead,
  { action, maxBytes, token, check }: BodyOptions,
  read: (body: Buffer) => void | Promise<void>,
): Receiver => {
  const chunks: Buffer[] = []
  let sizeBytes = 0
  return {
    write: (chunk) => {
      sizeBytes += chunk.length
      if (sizeBytes > maxBytes) throw tooLarge(action, maxBytes)
      chunks.push(chunk)
      return undefined
    },
    end: async () => {
      const [first] = chunks
      let body = first && chunks.length === 1 ? first : Buffer.concat(chunks, sizeBytes)
      chunks.length = 0
      for (const coding of codingsOf(head, action)) {
        body = await decompressWhole(body, coding, action, maxBytes)
      }
      if (holdsToken(body, token)) throw repeatsToken(action)
      check(body)
      try {
        await read(body)
      } catch (error) {
        throw isHalf(error) ? new Retry(error.message, { cause: error }) : error
      }
    },
  }
}

/** Parses a small body. @throws {ToolkitError} ANSWER_INVALID `'half'` where it is no whole JSON document */
export const parseWhole = (body: Buffer): unknown => {
  try {
    return JSON.parse(body.toString('utf8').replace(/^\uFEFF/, ''))
  } catch (error) {
    throw new ToolkitError('ANSWER_INVALID', 'the answer is no whole JSON document', { kind: 'half' }, error)
  }
}

type Chunks = AsyncIterable<Buffer>

interface StreamOptions {
  readonly action: string
  /** Limit of the body, as it comes and decompressed. */
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
  // The source's failure is the decoder's too, which is read below.
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
  // The reader of the stream fails with it.
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
