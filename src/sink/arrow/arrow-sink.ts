/** Arrow files in a folder: `<table>/load=<run>/<partition>.arrow`, staged out of sight until commit. */

import type { Sink } from '../../core/sink.ts'
import type { FileFormat } from '../file-format.ts'
import { fileSink } from '../folder-sink.ts'
import { writeArrowFile, writeArrowStream, writeHashedArrowFile } from './arrow-file.ts'
import type { ArrowKind } from './ipc-writer.ts'

export interface ArrowSinkOptions {
  /** Folder for the files; made where it is missing. */
  readonly directory: string
  /** IPC file (`.arrow`), or stream (`.arrows`). @default 'file' */
  readonly kind?: ArrowKind
}

/**
 * Codes, names of codes and line items are dictionary columns. The rows are read twice: first the values of the
 * dictionaries. Their numbers are 16 bits wide and their values sorted.
 */
export const arrowSink = ({ directory, kind = 'file' }: ArrowSinkOptions): Sink =>
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
export const arrow = {
  folder: (directory) => arrowSink({ directory, kind: 'file' }),
  write: (path, rows, { table }) => writeArrowFile(path, rows, { kind: 'file', table }),
} as const satisfies FileFormat

/** The IPC stream. */
export const arrows = {
  folder: (directory) => arrowSink({ directory, kind: 'stream' }),
  write: (path, rows, { table }) => writeArrowFile(path, rows, { kind: 'stream', table }),
  stream: (target, rows, { table, signal }) =>
    writeArrowStream(target, rows, { kind: 'stream', table, signal }),
} as const satisfies FileFormat
