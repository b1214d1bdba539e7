/** Arrow to a file or a writable of Node. What knows apache-arrow is loaded only when something is written. */

import { createHash } from 'node:crypto'
import { type FileHandle, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { writeError } from '../../core/errors.ts'
import type { TableRows } from '../../core/sink.ts'
import { discard, EarlySync, fsyncFolder, makeFolder } from '../../support/durable-files.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { temporaryName } from '../../support/process-identity.ts'
import type { WriteArrowOptions } from './write-arrow.ts'

export interface ArrowFile {
  readonly rows: number
  readonly bytes: number
}

export interface HashedArrowFile extends ArrowFile {
  /** In hex, lower case. */
  readonly sha256: string
}

export type ArrowOptions = Omit<WriteArrowOptions, 'onBytes' | 'memory'>

/**
 * Writes all rows to a writable, such as standard output; it is left open. A slow reader is waited for.
 *
 * @returns the number of rows
 * @throws {ToolkitError} `TARGET_REFUSED` for a column whose type is not written; the writable's own errors pass through
 */
export const writeArrowStream = async (
  target: Writable,
  relation: TableRows,
  options: ArrowOptions,
): Promise<number> => {
  const { writeArrow } = await import('./write-arrow.ts')
  return writeArrow(relation, target, options)
}

/**
 * Writes all rows to a file, in place of an older one: it is whole and on the disk when the promise is fulfilled, and
 * before that the older one stands.
 *
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`, and as `writeArrowStream`
 */
export const writeArrowFile = (
  path: string,
  relation: TableRows,
  options: ArrowOptions,
): Promise<ArrowFile> => writeWhole(path, relation, options, () => {})

/** The same, with the file's hash; taken while it is written, for to read it again takes as long as to write it. */
export const writeHashedArrowFile = async (
  path: string,
  relation: TableRows,
  options: ArrowOptions,
): Promise<HashedArrowFile> => {
  const hash = createHash('sha256')
  const file = await writeWhole(path, relation, options, (part) => hash.update(part))
  return { ...file, sha256: hash.digest('hex') }
}

const writeWhole = async (
  path: string,
  relation: TableRows,
  options: ArrowOptions,
  onPart: (part: Uint8Array) => void,
): Promise<ArrowFile> => {
  const temporary = join(dirname(path), temporaryName())
  const failed = (error: unknown): never => {
    throw writeError(`Cannot write "${path}"`, error)
  }
  const handle = await openNew(temporary).catch(failed)
  const early = new EarlySync(handle)
  let bytes = 0
  const onBytes = (part: Uint8Array): void => {
    bytes += part.byteLength
    early.wrote(part.byteLength)
    onPart(part)
  }
  try {
    const rows = await writeRows(handle, relation, { ...options, onBytes }, failed)
    await early.settle().catch(failed)
    await finish(handle, temporary, path).catch(failed)
    return { rows, bytes }
  } catch (error) {
    await early.settle().catch(() => undefined)
    await handle.close()
    await discard(temporary)
    throw error
  }
}

const openNew = async (path: string): Promise<FileHandle> => {
  await makeFolder(dirname(path))
  return openFile(path, FILE_FLAGS.new)
}

const finish = async (handle: FileHandle, temporary: string, path: string): Promise<void> => {
  await handle.sync()
  await handle.close()
  await rename(temporary, path)
  await fsyncFolder(dirname(path))
}

/** @param failed throws what an error of the file is; those of the rows are the engine's and pass through */
const writeRows = async (
  handle: FileHandle,
  relation: TableRows,
  options: WriteArrowOptions,
  failed: (error: unknown) => never,
): Promise<number> => {
  const { writeArrow } = await import('./write-arrow.ts')
  const stream = handle.createWriteStream({ autoClose: false })
  let failure: Error | undefined
  stream.on('error', (error) => {
    failure ??= error
  })
  try {
    return await writeArrow(relation, stream, { ...options, memory: 'in-turn' })
  } catch (error) {
    stream.destroy()
    if (failure !== undefined) failed(failure)
    throw error
  }
}
