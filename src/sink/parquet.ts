/** Parquet files in a folder, as the engine writes them: for other tools, without the field ids of a lake. */

import { type FileFormat, writtenFile } from './file-format.ts'
import { folderSink } from './folder-sink.ts'

export const parquet = {
  folder: (directory) => folderSink({ name: 'parquet', directory, formatOf: () => ({ kind: 'parquet' }) }),
  write: async (path, rows) => writtenFile(path, (await rows.copyTo(path, { kind: 'parquet' })).rows),
} as const satisfies FileFormat
