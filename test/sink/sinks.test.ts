/** The suite of sinks, for each sink of the project and for a third one that knows only the interface. */

import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Sink } from '../../src/core/sink.ts'
import type { Row, Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { inLake } from '../../src/lake/files/layout.ts'
import { jsonLines } from '../../src/sink/json-lines.ts'
import { parquetLake } from '../../src/sink/parquet-lake.ts'
import { belowAFile, describeSink, type Target } from './describe-sink.ts'
import { columnList } from './sink-rows.ts'

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

/** A sink that keeps files below a folder, in a folder for each table. */
const fileTarget =
  (makeSink: (directory: string) => Sink, read: (paths: readonly string[]) => string) =>
  (directory: string, session: Session): Target => ({
    sink: () => makeSink(directory),
    rows: async (table) => {
      const paths = await filesBelow(join(directory, table))
      return paths.length === 0 ? [] : session.rows(read(paths))
    },
    files: {
      place: ({ path }) => inLake(directory, path),
      all: async () => (await filesBelow(directory)).sort(),
      unwritable: async () => makeSink(await belowAFile(directory)),
    },
  })

const listOf = (paths: readonly string[]): string => `[${paths.map(literal).join(', ')}]`

describeSink('parquetLake', {
  keepsFiles: true,
  make: fileTarget(
    (lake) => parquetLake({ lake }),
    (paths) => `SELECT * FROM read_parquet(${listOf(paths)}, hive_partitioning = false)`,
  ),
})

describeSink('jsonLines', {
  keepsFiles: true,
  make: fileTarget(
    jsonLines,
    (paths) =>
      `SELECT * FROM read_ndjson(${listOf(paths)}, columns = ${columnList()}, auto_detect = false, records = true,
        hive_partitioning = false)`,
  ),
})

/** All that a third sink needs: rows chunk by chunk, kept by run, partition and table until commit. */
const memorySink = (staged: Map<string, Map<string, Row[]>>, shown: Map<string, readonly Row[]>): Sink => {
  return {
    name: 'memory',
    async open(run) {
      const own = staged.get(run) ?? new Map<string, Row[]>()
      staged.set(run, own)
      return {
        async write(partition, table, relation) {
          const rows: Row[] = []
          for await (const chunk of relation.rows()) rows.push(...chunk)
          own.set(`${table}/${run}/${partition}`, rows)
          return { table, rows: rows.length, files: [], statistics: new Map() }
        },
        async commit() {
          for (const [name, rows] of own) shown.set(name, rows)
        },
        async abort() {
          own.clear()
        },
      }
    },
  }
}

describeSink('a sink in memory', {
  keepsFiles: false,
  make: () => {
    const staged = new Map<string, Map<string, Row[]>>()
    const shown = new Map<string, readonly Row[]>()
    return {
      sink: () => memorySink(staged, shown),
      rows: async (table) => [...shown].flatMap(([name, rows]) => (name.startsWith(`${table}/`) ? rows : [])),
    }
  },
})
