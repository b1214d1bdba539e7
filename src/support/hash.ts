/** SHA-256 of data and of files, and text sealed with its own hash. Callers hash several files side by side themselves. */

import { isUtf8 } from 'node:buffer'
import { createHash } from 'node:crypto'
import { type FileHandle, open, readFile } from 'node:fs/promises'
import { JSON_BYTES } from './json-bytes.ts'

/** The result of one pass over a file. */
export interface FileHash {
  readonly bytes: number
  /** In hex, lower case. */
  readonly sha256: string
  /** Line ends (`\n`), and one more where the last line has none. */
  readonly lines: number
}

/** SHA-256 in hex; text counts as UTF-8. */
export const sha256Of = (data: string | Uint8Array): string => createHash('sha256').update(data).digest('hex')

/** Up to this length a file is read whole and hashed on a thread of its own; below the other one at once, as WebCrypto takes 10 ms to load. */
const [MOST_WHOLE_BYTES, FEW_BYTES] = [16 * 1024 * 1024, 1024 * 1024]

const NEWLINE = 10
const CHUNK_BYTES = 1 << 20

const newlinesIn = (chunk: Buffer): number => {
  let count = 0
  for (let at = chunk.indexOf(NEWLINE); at !== -1; at = chunk.indexOf(NEWLINE, at + 1)) count += 1
  return count
}

interface HashOptions {
  readonly signal?: AbortSignal | undefined
  /** Called with the number of bytes read. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/**
 * Length and hash of a file. Small files are hashed beside the event loop, so that two at once use two cores; of large
 * ones a chunk at a time is in memory.
 *
 * @throws as `hashFile`
 */
export const hashAside = async (
  path: string,
  sizeBytes: number,
  { signal, onBytes }: HashOptions = {},
): Promise<Pick<FileHash, 'bytes' | 'sha256'>> => {
  if (sizeBytes > MOST_WHOLE_BYTES) return hashFile(path, { signal, onBytes })
  const bytes = await readFile(path, { signal })
  const sha256 =
    bytes.length < FEW_BYTES
      ? sha256Of(bytes)
      : Buffer.from(await crypto.subtle.digest('SHA-256', bytes)).toString('hex')
  onBytes?.(bytes.length)
  return { bytes: bytes.length, sha256 }
}

/**
 * Buffers that nobody reads into: fresh ones would bring the garbage collector to work every few files. As many as Node
 * reads files at once; whoever hashes more than these at once must not have their memory for good.
 */
const spare: Buffer[] = []
const MOST_SPARE = 4

/**
 * Reads a file once. Lines are counted only when `countLines` is set, else 0.
 *
 * @throws the system's error when the file cannot be read, the signal's reason when it is aborted
 */
export const hashFile = async (
  path: string | Buffer,
  { countLines = false, signal, onBytes }: HashOptions & { readonly countLines?: boolean } = {},
): Promise<FileHash> => {
  signal?.throwIfAborted()
  const hash = createHash('sha256')
  let bytes = 0
  let lines = 0
  let last = NEWLINE
  const file = await open(path)
  const buffer = spare.pop() ?? Buffer.allocUnsafeSlow(CHUNK_BYTES)
  try {
    for (;;) {
      signal?.throwIfAborted()
      const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES)
      if (bytesRead === 0) break
      const chunk = buffer.subarray(0, bytesRead)
      hash.update(chunk)
      bytes += bytesRead
      onBytes?.(bytesRead)
      if (countLines) lines += newlinesIn(chunk)
      last = chunk.at(-1) ?? last
    }
  } finally {
    await file.close()
    if (spare.length < MOST_SPARE) spare.push(buffer)
  }
  return { bytes, sha256: hash.digest('hex'), lines: countLines && last !== NEWLINE ? lines + 1 : lines }
}

/** SHA-256 in hex of a file that is open, from its beginning to its end; it stays open. */
export const sha256OfOpen = async (file: FileHandle): Promise<string> => {
  const hash = createHash('sha256')
  const buffer = Buffer.allocUnsafeSlow(CHUNK_BYTES)
  for (let at = 0; ; ) {
    const { bytesRead } = await file.read(buffer, 0, CHUNK_BYTES, at)
    if (bytesRead === 0) return hash.digest('hex')
    hash.update(buffer.subarray(0, bytesRead))
    at += bytesRead
  }
}

// A sealed text is a JSON object with its own hash as the last member, so that reading it finds every changed byte.

const SEAL_START = ',"seal":"'
const sealOf = (body: string | Buffer): string => `${SEAL_START}${sha256Of(body)}"}`
const SEAL_LENGTH = sealOf('').length

/** Seals the text of an object that has a member at least. A line end may follow it. */
export const seal = (objectText: string): string => {
  const body = objectText.trimEnd().replace(/\s*\}$/, '')
  return body + sealOf(body)
}

type Unsealed = { readonly kind: 'sealed'; readonly value: object } | { readonly kind: 'damaged' }

const parse = (text: string): { readonly seal?: unknown } | null => {
  try {
    const value: unknown = JSON.parse(text)
    return typeof value === 'object' ? value : null
  } catch {
    return null
  }
}

/** Reads what `seal` made, without the seal. */
export const unseal = (bytes: Buffer): Unsealed => {
  const end = bytes.length - (bytes.at(-1) === JSON_BYTES.LINE_FEED ? 1 : 0)
  const body = bytes.subarray(0, Math.max(end - SEAL_LENGTH, 0))
  // Bytes that are no UTF-8 would be read as another text than the one that stands there.
  const isWhole = isUtf8(bytes) && bytes.toString('latin1', body.length, end) === sealOf(body)
  const sealed = isWhole ? parse(bytes.toString('utf8', 0, end)) : null
  if (sealed === null) return { kind: 'damaged' }
  const { seal: _, ...value } = sealed
  return { kind: 'sealed', value }
}
