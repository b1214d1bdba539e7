/** Arrow files in a folder: `<table>/load=<run>/<partition>.arrow`, staged out of sight until commit. */

import type { DeliverySink, Sink } from '../../core/sink.ts'
import type { FileFormat } from '../file-format.ts'
import { fileSink } from '../folder-sink.ts'
import { withLoaded } from '../with-loaded.ts'
import { writeArrowFile, writeArrowStream, writeHashedArrowFile } from './arrow-file.ts'
import type { ArrowKind } from './ipc-writer.ts'

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
  withLoaded(arrowFolder(directory, kind), directory)
