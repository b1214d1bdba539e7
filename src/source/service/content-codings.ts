/** How bodies of answers are compressed: at once or chunk by chunk. */

import type { Transform } from 'node:stream'
import { promisify } from 'node:util'
import {
  brotliDecompress,
  createBrotliDecompress,
  createGunzip,
  createInflate,
  gunzip,
  inflate,
} from 'node:zlib'
import { ToolkitError } from '../../core/errors.ts'
import type { AnswerHead } from './answer.ts'

/** What we ask for; a proxy may send others all the same. */
export const ACCEPT_ENCODING = 'br, gzip'

export interface ContentCoding {
  readonly whole: (data: Buffer, options: { readonly maxOutputLength: number }) => Promise<Buffer>
  readonly stream: () => Transform
}

const GZIP: ContentCoding = { whole: promisify(gunzip), stream: () => createGunzip() }
const CODINGS: Readonly<Record<string, ContentCoding>> = {
  br: { whole: promisify(brotliDecompress), stream: () => createBrotliDecompress() },
  gzip: GZIP,
  'x-gzip': GZIP,
  deflate: { whole: promisify(inflate), stream: () => createInflate() },
}

/** The codings to be undone, the last applied first. @throws {ToolkitError} `ANSWER_INVALID` for one that is unknown */
export const codingsOf = ({ headers }: AnswerHead, action: string): ContentCoding[] =>
  String(headers['content-encoding'] ?? '')
    .split(',')
    .map((name) => name.trim().toLowerCase())
    .filter((name) => name !== '' && name !== 'identity')
    .reverse()
    .map((name) => {
      const coding = Object.hasOwn(CODINGS, name) ? CODINGS[name] : undefined
      if (coding) return coding
      throw new ToolkitError('ANSWER_INVALID', `${action}: the answer is compressed by an unknown method`, {
        kind: 'form',
      })
    })

/** The error of a body beyond its limit. */
export const tooLarge = (action: string, maxBytes: number): ToolkitError =>
  new ToolkitError('ANSWER_INVALID', `${action}: the answer is larger than ${maxBytes} bytes`, {
    kind: 'size',
    maxBytes,
  })
