/**
 * Fetches a batch file of the service, whole and sound on the disk: downloaded, read once from end to end (Brotli has no checksum of
 * its own), fetched again where damaged.
 */

import { readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { ToolkitError, writeError } from '../../core/errors.ts'
import type { Block } from '../../core/lines.ts'
import { decodeBlocks } from '../../decode/decode-blocks.ts'
import { openSourceFile } from '../../source/local-sources.ts'
import type { ListedBatchFile, Service } from '../../source/service/service.ts'
import { replaceDurably } from '../../support/durable-files.ts'
import { hashFile, sha256Of } from '../../support/hash.ts'
import { isSpace, JSON_BYTES } from '../../support/json-bytes.ts'
import { anyText, finiteNumber, fits, objectOf, oneOf } from '../../support/json-form.ts'

export type BatchService = Pick<Service, 'origin' | 'batchFiles' | 'download'>

export interface DownloadLimits {
  readonly maxLineBytes?: number | undefined
  readonly maxRatio?: number | undefined
}

interface WholeDownload {
  readonly bytes: number
  readonly sha256: string
  readonly etag?: string
}

/** A file that may be loaded; it is noted beside the file, for a resumed run. */
export interface CheckedDownload extends WholeDownload {
  /** `Count` of the listing, where it has one. */
  readonly announced?: number
}

interface FetchRequest {
  readonly service: BatchService
  readonly file: ListedBatchFile
  readonly path: string
  readonly limits: DownloadLimits
  readonly signal: AbortSignal
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** Downloads of one file before we give up. */
const MAX_ATTEMPTS = 3

/** Ids are the service's own texts: none may name another folder or another file. */
export const batchPath = (folder: string, { id }: ListedBatchFile): string =>
  join(folder, `batch-${id.replaceAll(/[^\w-]/g, '_').slice(0, 40)}-${sha256Of(id).slice(0, 8)}.br`)

const recordPath = (path: string): string => `${path}.json`

/** The note about a file: that it has come, then that it is sound. */
type Noted =
  | { readonly kind: 'whole'; readonly download: WholeDownload }
  | { readonly kind: 'checked'; readonly download: CheckedDownload }

const NOTED = objectOf({
  kind: oneOf(['whole', 'checked']),
  download: objectOf({ bytes: finiteNumber, sha256: anyText }),
})
const isNoted = (value: unknown): value is Noted => fits(NOTED, value)

/** The download of an earlier process, possibly checked already, if it is unchanged. */
const notedBefore = async (path: string, signal: AbortSignal): Promise<Noted | undefined> => {
  try {
    const value: unknown = JSON.parse(await readFile(recordPath(path), 'utf8'))
    if (!isNoted(value)) return undefined
    const { bytes, sha256 } = await hashFile(path, { signal })
    return bytes === value.download.bytes && sha256 === value.download.sha256 ? value : undefined
  } catch {
    signal.throwIfAborted()
    // Whatever is wrong with it: it is fetched again.
    return undefined
  }
}

/** Removes a file with all that stands beside it. */
export const removeBatch = async (path: string): Promise<void> => {
  for (const suffix of ['', '.json', '.part', '.part.json']) await rm(`${path}${suffix}`, { force: true })
}

type Sound = Extract<BatchCheck, { kind: 'sound' }>

/** `SizeInBytes` may also be read as the length of what the file decodes to. */
const isLength = (listed: number | undefined, bytes: number, { decodedBytes }: Sound): boolean =>
  listed === undefined || listed === bytes || listed === decodedBytes

/**
 * Gives the file when it is whole: its length, every Brotli stream to its end, and its lines against the listing.
 * The listing is read again where it does not fit: the file may have been replaced since. A count that still does
 * not fit when the same bytes came twice is the service's own mistake: it is recorded, not rejected.
 *
 * @throws {ToolkitError} DOWNLOAD_DAMAGED after three attempts, DECODE_LIMIT, and what a download throws
 */
export const fetchBatch = async (request: FetchRequest): Promise<CheckedDownload> => {
  const { service, path, limits, signal, onBytes } = request
  let before = await notedBefore(path, signal)
  if (before?.kind === 'checked') return before.download
  let file = request.file
  let counted: string | undefined
  for (let attempt = 1; ; attempt += 1) {
    const { sizeBytes } = file
    const options = { signal, ...(sizeBytes !== undefined && { sizeBytes }), ...(onBytes && { onBytes }) }
    const whole = before?.download ?? (await service.download(file.id, path, options))
    if (!before) await noteDownload(path, { kind: 'whole', download: whole })
    before = undefined
    const { bytes, sha256 } = whole
    const check = await checkBatchFile(path, { name: file.name, ...limits, signal })
    const fits = (one: ListedBatchFile, sound: Sound): boolean =>
      isLength(one.sizeBytes, bytes, sound) && (one.count === undefined || one.count === sound.lines)
    if (check.kind === 'sound' && !fits(file, check)) file = await listedNow(service, file, signal)
    const isWhole = check.kind === 'sound' && isLength(file.sizeBytes, bytes, check)
    if (isWhole && (fits(file, check) || counted === sha256 || attempt === MAX_ATTEMPTS)) {
      const { count } = file
      const download = { ...whole, ...(count !== undefined && { announced: count }) }
      await noteDownload(path, { kind: 'checked', download })
      return download
    }
    await removeBatch(path)
    counted = isWhole ? sha256 : undefined
    if (attempt === MAX_ATTEMPTS) {
      const reason =
        check.kind === 'damaged' ? check.reason : `it has ${bytes} bytes, the listing says ${file.sizeBytes}`
      throw new ToolkitError(
        'DOWNLOAD_DAMAGED',
        `Cannot use batch file "${file.id}", which came damaged ${attempt} times: ${reason}`,
        { batch: file.id, tries: attempt },
      )
    }
  }
}

const noteDownload = async (path: string, noted: Noted): Promise<void> => {
  try {
    await replaceDurably(recordPath(path), `${JSON.stringify(noted)}\n`)
  } catch (error) {
    throw writeError(`Cannot write "${recordPath(path)}"`, error)
  }
}

/** The file's entry as the listing has it now; the old one where it is no longer listed. */
const listedNow = async (
  service: BatchService,
  file: ListedBatchFile,
  signal: AbortSignal,
): Promise<ListedBatchFile> => (await service.batchFiles({ signal })).find(({ id }) => id === file.id) ?? file

const { LINE_FEED } = JSON_BYTES

interface CheckBatchFileOptions {
  /** Name for messages. */
  readonly name: string
  readonly maxLineBytes?: number | undefined
  readonly maxRatio?: number | undefined
  readonly signal?: AbortSignal | undefined
}

type BatchCheck =
  | {
      readonly kind: 'sound'
      /** Lines that are not blank. */
      readonly lines: number
      readonly decodedBytes: number
    }
  | { readonly kind: 'damaged'; readonly reason: string }

/** Small: only its lines are read. */
const BLOCK_BYTES = 1024 * 1024

const linesOf = ({ bytes, overlong }: Block): number => {
  let lines = overlong.length
  for (let from = 0; from < bytes.length; ) {
    const end = bytes.indexOf(LINE_FEED, from)
    let at = from
    while (at < end && isSpace(bytes[at] ?? 0)) at += 1
    if (at < end) lines += 1
    from = end + 1
  }
  return lines
}

const DAMAGES: readonly string[] = ['DECODE_DAMAGED', 'DECODE_TRUNCATED', 'DECODE_TRAILING']

/**
 * A name whose extension shows the compression where the first bytes do not: batch files are Brotli, also where
 * their names do not say so.
 */
export const nameForDecoding = (name: string): string =>
  /\.(br|gz|gzip|zst|zstd)$/i.test(name) ? name : `${name}.br`

/** @throws {ToolkitError} DECODE_LIMIT, SOURCE_UNREADABLE */
export const checkBatchFile = async (path: string, options: CheckBatchFileOptions): Promise<BatchCheck> => {
  const { name, maxLineBytes, maxRatio, signal } = options
  let lines = 0
  let decodedBytes = 0
  const blocks = decodeBlocks(() => openSourceFile(path, { signal }), {
    name: nameForDecoding(name),
    origin: 'service',
    blockBytes: BLOCK_BYTES,
    maxLineBytes,
    maxRatio,
    signal,
  })
  try {
    for await (const block of blocks) {
      lines += linesOf(block)
      decodedBytes = block.offset + block.bytes.length
    }
    return { kind: 'sound', lines, decodedBytes }
  } catch (error) {
    if (error instanceof ToolkitError && DAMAGES.includes(error.code))
      return { kind: 'damaged', reason: error.message }
    throw error
  }
}
