/** JSON Lines files in a folder: `<table>/load=<run>/<partition>.jsonl`, staged out of sight until commit. */

import type { Sink } from '../core/sink.ts'
import { folderSink } from './folder-sink.ts'

export interface JsonLinesOptions {
  /** Folder for the files; made where it is missing. */
  readonly directory: string
}

/** One object a line, with the columns' names; numbers and lists as JSON, instants as text in UTC. */
export const jsonLines = ({ directory }: JsonLinesOptions): Sink =>
  folderSink({ name: 'json-lines', directory, formatOf: () => ({ kind: 'json-lines' }) })
