/** Batch files to disk: resumed by range, compared with length, ETag and digest. */

import { OPERATIONS } from '../../contract/requests.ts'
import { ToolkitError, writeError } from '../../core/errors.ts'
import { type AnswerHead, type AnswerHeaders, type Receiver, Retry } from './answer.ts'
import type { ServiceConnection } from './connection.ts'
import { openPartFile, type PartFile, type PartVersion } from './part-file.ts'
import { holdsToken } from './token.ts'

export interface DownloadOptions {
  readonly signal?: AbortSignal
  /** Called with the bytes in hand so far, those of earlier runs included, after each chunk written. */
  readonly onBytes?: (bytes: number) => void
  /** Length by the listing in bytes; compared only where the answer itself has none. */
  readonly sizeBytes?: number
}

/** A file that is whole and on the disk. */
export interface Download {
  readonly bytes: number
  /** Lower-case hexadecimal. */
  readonly sha256: string
  readonly etag?: string
}

/** Downloads that do not match their own length or digest before we give up. */
const MAX_DAMAGED = 3

const text = (headers: AnswerHeaders, name: string): string | undefined => {
  const value = headers[name]
  return typeof value === 'string' ? value.trim() : undefined
}

/** A weak ETag says that files mean the same, not that their bytes are the same. */
const strongEtag = (headers: AnswerHeaders, token: string): string | undefined => {
  const etag = text(headers, 'etag')
  return etag !== undefined && /^"[^"]*"$/.test(etag) && !holdsToken(etag, token) ? etag : undefined
}

/** `Repr-Digest: sha-256=:…:` (RFC 9530) in hex. */
const digestOf = (headers: AnswerHeaders): string | undefined => {
  const match = /(?:^|,)\s*sha-256=:([A-Za-z0-9+/=]+):/.exec(text(headers, 'repr-digest') ?? '')
  return match?.[1] === undefined ? undefined : Buffer.from(match[1], 'base64').toString('hex')
}

const versionOf = (headers: AnswerHeaders, sizeBytes: number | undefined, token: string): PartVersion => {
  const etag = strongEtag(headers, token)
  const sha256 = digestOf(headers)
  return {
    ...(etag !== undefined && { etag }),
    ...(sizeBytes !== undefined && { sizeBytes }),
    ...(sha256 !== undefined && { sha256 }),
  }
}

/** `bytes 100-199/1234`, `bytes 100-199/*`, `bytes *` + `/1234`. */
const rangeOf = (headers: AnswerHeaders): { readonly from?: number; readonly size?: number } => {
  const match = /^bytes (?:(\d+)-\d+|\*)\/(?:(\d+)|\*)$/i.exec(text(headers, 'content-range') ?? '')
  return {
    ...(match?.[1] !== undefined && { from: Number(match[1]) }),
    ...(match?.[2] !== undefined && { size: Number(match[2]) }),
  }
}

const lengthOf = (headers: AnswerHeaders): number | undefined => {
  const length = text(headers, 'content-length')
  return length !== undefined && /^\d+$/.test(length) ? Number(length) : undefined
}

/** Why the whole file is damaged; undefined where nothing is known to be wrong. */
const damageOf = (part: PartFile): string | undefined => {
  const { sizeBytes, sha256 } = part.version
  if (sizeBytes !== undefined && sizeBytes !== part.bytes) {
    return `it has ${part.bytes} bytes, expected ${sizeBytes}`
  }
  return sha256 !== undefined && sha256 !== part.sha256() ? 'its SHA-256 is not the announced one' : undefined
}

/** Makes the part ready for what an answer brings. @throws {Retry} where the answer does not go with the part */
const prepare = async (
  part: PartFile,
  { status, headers }: AnswerHead,
  listedBytes: number | undefined,
  token: string,
): Promise<'more' | 'complete'> => {
  if (status === 200) {
    // Also the answer to a range where the file has changed (`If-Range`), or where ranges are unknown.
    await part.restart(versionOf(headers, lengthOf(headers) ?? listedBytes, token))
    return 'more'
  }
  const { from, size } = rangeOf(headers)
  const etag = strongEtag(headers, token)
  const isSame = part.version.etag !== undefined && (etag === undefined || etag === part.version.etag)
  const isSameSize =
    size === undefined || part.version.sizeBytes === undefined || size === part.version.sizeBytes
  if (isSame && isSameSize) {
    if (status === 206 && part.bytes > 0 && from === part.bytes) return 'more'
    if (status === 416 && size !== undefined && size === part.bytes) return 'complete'
  }
  await part.restart({})
  throw new Retry(`the service answered ${status} with another range than asked for`)
}

const checkCoding = (action: string, headers: AnswerHeaders): void => {
  const coding = (text(headers, 'content-encoding') ?? 'identity').toLowerCase()
  // `br` is the file's own compression, declared to the transfer too: the bytes stay as they are.
  if (coding === 'identity' || coding === 'br') return
  throw new ToolkitError(
    'ANSWER_INVALID',
    `${action}: unexpected Content-Encoding, expected the file as it is stored`,
    {
      kind: 'form',
    },
  )
}

/** Takes the answers of all attempts into one part; it is whole when `end` fulfils. */
const partReceivers = (
  part: PartFile,
  action: string,
  token: string,
  { onBytes, sizeBytes }: DownloadOptions,
) => {
  let furthest = part.bytes
  let damaged = 0
  const writing = <T>(work: Promise<T>): Promise<T> =>
    work.catch((error: unknown) => {
      throw error instanceof Retry ? error : writeError(action, error)
    })
  const check = async (): Promise<void> => {
    const damage = damageOf(part)
    if (damage === undefined) return
    // Too few bytes of a body without a length: the rest can still be fetched.
    const isShort = part.version.etag !== undefined && part.bytes < (part.version.sizeBytes ?? 0)
    if (isShort) throw new Retry(damage)
    damaged += 1
    // Also where we give up: the next run must not resume from there.
    await writing(part.restart({}))
    furthest = 0
    if (damaged >= MAX_DAMAGED)
      throw new ToolkitError('DOWNLOAD_DAMAGED', `${action}: ${damage}`, { tries: damaged })
    throw new Retry(damage)
  }
  return async (head: AnswerHead): Promise<Receiver> => {
    checkCoding(action, head.headers)
    const state = await writing(prepare(part, head, sizeBytes, token))
    const before = furthest
    return {
      write: (chunk) => {
        if (state === 'complete') return undefined
        return writing(part.write(chunk)).then(() => {
          furthest = Math.max(furthest, part.bytes)
          onBytes?.(part.bytes)
        })
      },
      end: check,
      // Bytes that were there before, fetched again, are no progress.
      gained: () => furthest > before,
    }
  }
}

/** Keeps `.` and `..` from being read as steps of the path. */
const pathOf = (id: string): string =>
  OPERATIONS.batchFile.path.replace('{batchFileId}', () => encodeURIComponent(id).replaceAll('.', '%2E'))

/**
 * Downloads a batch file.
 *
 * @throws {ToolkitError} as a page, and DOWNLOAD_DAMAGED, DISK_FULL, WRITE_FAILED
 */
export const download = async (
  connection: ServiceConnection,
  id: string,
  path: string,
  options: DownloadOptions,
): Promise<Download> => {
  const { signal } = options
  const action = `Cannot download batch file "${id}"`
  const part = await openPartFile(path, `${connection.base}${pathOf(id)}`, signal).catch((error: unknown) => {
    signal?.throwIfAborted()
    throw writeError(action, error)
  })
  try {
    await connection.send(
      // Asked for as it is: a second compression on the way would hide the file's own.
      { method: 'GET', path: pathOf(id), headers: { accept: '*/*', 'accept-encoding': 'identity' } },
      {
        action,
        signal,
        statuses: [200, 206, 416],
        headers: () => {
          const { etag } = part.version
          const resumes = part.bytes > 0 && etag !== undefined
          return resumes ? { range: `bytes=${part.bytes}-`, 'if-range': etag } : {}
        },
        receive: partReceivers(part, action, connection.token, options),
      },
    )
    const { etag } = part.version
    const result = { bytes: part.bytes, sha256: part.sha256(), ...(etag !== undefined && { etag }) }
    await part.finish().catch((error: unknown) => {
      throw writeError(action, error)
    })
    return result
  } finally {
    await part.close()
  }
}
