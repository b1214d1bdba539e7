/** Bodies that are held whole: collected, decompressed, then read. */

import { systemCode, ToolkitError } from '../../core/errors.ts'
import { type AnswerHead, type Receiver, Retry } from './answer.ts'
import { type ContentCoding, codingsOf, tooLarge } from './content-codings.ts'
import { holdsToken, repeatsToken } from './own-token.ts'

const decompressed = async (
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
  /** Of the attempts of this request: whether the bytes may be read. */
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
        body = await decompressed(body, coding, action, maxBytes)
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
