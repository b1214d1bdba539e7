/** The readers of published tables for a file of tests. */

import { join } from 'node:path'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { openPython, openSpark, type PythonSession, pythonMissing, sparkMissing } from './readers.ts'

export type ReaderKind = 'python' | 'spark'

export interface Readers {
  /** @throws {TypeError} where it is missing: say `needs` before */
  readonly reader: (kind: ReaderKind) => PythonSession
  /** Runs a script that writes Parquet to `input['to']`. @returns what DuckDB reads of it */
  readonly copied: (kind: ReaderKind, script: string, input: object) => Promise<string>
  readonly close: () => Promise<void>
}

export interface ReadersOptions {
  /** Folder that Spark and the copies may write to. */
  readonly folder: string
  readonly sparkSettings: Readonly<Record<string, string>>
}

/** What is missing for a reader; for `needs`. */
export const readerMissing: Readonly<Record<ReaderKind, () => string | undefined>> = {
  python: pythonMissing,
  spark: sparkMissing,
}

/** Opens those that are installed. */
export const openReaders = async ({ folder, sparkSettings }: ReadersOptions): Promise<Readers> => {
  const opened: Readonly<Record<ReaderKind, PythonSession | undefined>> = {
    python: pythonMissing() === undefined ? await openPython() : undefined,
    spark: sparkMissing() === undefined ? await openSpark({ folder, settings: sparkSettings }) : undefined,
  }
  const reader = (kind: ReaderKind): PythonSession => {
    const session = opened[kind]
    if (session === undefined) throw new TypeError(`Cannot read with ${kind}: it is not installed`)
    return session
  }
  let copies = 0
  return {
    reader,
    copied: async (kind, script, input) => {
      copies += 1
      const to = join(folder, `copy-${copies}.parquet`)
      await reader(kind).run(script, { ...input, to })
      // Spark writes a folder with one file.
      return `read_parquet(${literal(kind === 'spark' ? `${to}/*.parquet` : to)})`
    },
    close: async () => {
      for (const session of Object.values(opened)) await session?.close()
    },
  }
}
