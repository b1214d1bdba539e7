/**
 * Arrow files in a folder, and Arrow to a file or a writable. The package apache-arrow is loaded only when something
 * is written.
 */

import { createHash } from 'node:crypto'
import { type FileHandle, rename } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Writable } from 'node:stream'
import { writeError } from '../../core/errors.ts'
import type { DeliverySink, Sink, TableRows } from '../../core/sink.ts'
import { EarlySync, fsyncFolder, makeFolder, removeIfThere } from '../../support/durable-files.ts'
import { FILE_FLAGS, openFile } from '../../support/file-modes.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { withDeliveredRuns } from '../delivered-runs.ts'
import type { FileFormat } from '../file-format.ts'
import { fileSink } from '../folder-sink.ts'
import type { ArrowKind, WriteArrowOptions } from './write-arrow.ts'

export interface ArrowFile {
  readonly rows: number
  readonly bytes: number
}

interface HashedArrowFile extends ArrowFile {
  /** In hex, lower case. */
  readonly sha256: string
}

type FileOptions = Omit<WriteArrowOptions, 'onBytes' | 'memory'>

/**
 * Writes all rows to a writable, such as standard output; it is left open. A slow reader is waited for.
 *
 * @returns the number of rows
 * @throws {ToolkitError} `TARGET_REFUSED` for a column whose type is not written; the writable's own errors pass through
 */
export const writeArrowStream = async (
  target: Writable,
  relation: TableRows,
  options: FileOptions,
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
export const writeArrowFile = (path: string, relation: TableRows, options: FileOptions): Promise<ArrowFile> =>
  writeWhole(path, relation, options, () => {})

/** The same, with the file's hash; taken while it is written, for to read it again takes as long as to write it. */
const writeHashedArrowFile = async (
  path: string,
  relation: TableRows,
  options: FileOptions,
): Promise<HashedArrowFile> => {
  const hash = createHash('sha256')
  const file = await writeWhole(path, relation, options, (part) => hash.update(part))
  return { ...file, sha256: hash.digest('hex') }
}

const writeWhole = async (
  path: string,
  relation: TableRows,
  options: FileOptions,
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
    await removeIfThere(temporary)
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

/** How the files are laid out. */
export interface ArrowOptions {
  /** IPC file (`.arrow`), or stream (`.arrows`). @default 'file' */
  readonly kind?: ArrowKind | undefined
}

const arrowFolder = (directory: string, kind: ArrowKind): Sink =>
  fileSink({
    name: kind === 'file' ? 'arrow' : 'arrows',
    directory,
    suffixOf: () => (kind === 'file' ? 'arrow' : 'arrows'),
    stage: async (path, table, rows) => ({
      ...(await writeHashedArrowFile(path, rows, { kind, table })),
      statistics: new Map(),
    }),
  })

/** The IPC file. */
export const arrowFormat = {
  folder: (directory) => arrowFolder(directory, 'file'),
  write: (path, rows, { table }) => writeArrowFile(path, rows, { kind: 'file', table }),
} as const satisfies FileFormat

/** The IPC stream. */
export const arrowsFormat = {
  folder: (directory) => arrowFolder(directory, 'stream'),
  write: (path, rows, { table }) => writeArrowFile(path, rows, { kind: 'stream', table }),
  stream: (target, rows, { table, signal }) =>
    writeArrowStream(target, rows, { kind: 'stream', table, signal }),
} as const satisfies FileFormat

/**
 * Arrow IPC files in a folder as a sink, `<table>/load=<run>/<partition>.arrow` (or `.arrows`): all versions of each
 * record. Codes, names of codes and line items are dictionary columns with 16 bits a row and sorted values; to know
 * these the rows are read twice.
 *
 * @param directory made where it is missing, or `s3://bucket/prefix`
 * @throws {ToolkitError} `TARGET_REFUSED` for a lake or a folder of another format, `DISK_FULL`, `WRITE_FAILED`, of the
 *   work with it
 * @example
 * import { arrow, convert } from 'firmlake'
 *
 * const { delivered } = await convert({ from: ['batches/'], lake: './lake', sinks: [arrow('out/arrow')] })
 * console.log(delivered[0]?.runs.length) // 1
 */
export const arrow = (directory: string, { kind = 'file' }: ArrowOptions = {}): DeliverySink =>
  withDeliveredRuns(arrowFolder(directory, kind), directory)
