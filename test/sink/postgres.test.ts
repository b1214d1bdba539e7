/** The suite of sinks on PostgreSQL. */

import { readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { beforeEach } from 'vitest'
import type { FileEntry } from '../../src/core/partition.ts'
import type { Row, Session } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { postgres } from '../../src/sink/postgres/postgres.ts'
import { withClient } from '../support/postgres-server.ts'
import { usePostgres } from '../support/use-postgres.ts'
import { belowAFile, describeSink, type Target } from './describe-sink.ts'
import { OWNER, withOwner } from './lake-rows.ts'
import { columnList } from './sink-rows.ts'

const server = usePostgres()
let url = ''
beforeEach(async () => {
  url ||= server().url(await server().newDatabase())
})

const filesBelow = async (folder: string): Promise<string[]> => {
  const entries = await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])
  return entries.filter((entry) => entry.isFile()).map((entry) => join(entry.parentPath, entry.name))
}

let schemas = 0

/** A table as one JSON object a row. */
const jsonRows = (schema: string, table: string): Promise<readonly string[]> =>
  withClient(url, async (client) => {
    await client.query("SET TimeZone = 'UTC'")
    const there = await client.query<{ t: string | null }>('SELECT to_regclass($1)::text AS t', [
      `${schema}.${table}`,
    ])
    if (there.rows[0]?.t === null) return []
    const { rows } = await client.query<{ j: string }>(
      `SELECT row_to_json(t)::text AS j FROM "${schema}"."${table}" AS t`,
    )
    return rows.map(({ j }) => j)
  })

const target = (directory: string, session: Session): Target => {
  schemas += 1
  const schema = `suite_${schemas}`
  const staging = join(directory, 'staging')
  const runOf = ({ path }: FileEntry): string => /load=([^/]+)/.exec(path)?.[1] ?? ''
  return {
    sink: () => withOwner(postgres(url, { schema, staging })),
    rows: async (table): Promise<readonly Row[]> => {
      const rows = await jsonRows(schema, table)
      const path = `${directory}-read.jsonl`
      // U+0000 was replaced, and no other text of the suite has the character in its place.
      const text = rows
        .map((row) => `${row}\n`)
        .join('')
        .replaceAll('\ufffd', '\\u0000')
        .replaceAll(`{"${OWNER}":`, '{"id":')
      await writeFile(path, text)
      return session.rows(
        `SELECT * FROM read_ndjson(${literal(path)}, columns = ${columnList()}, auto_detect = false, records = true)`,
      )
    },
    files: {
      place: (file) => join(staging, runOf(file), file.table, file.path.split('/').at(-1) ?? ''),
      all: async () => (await filesBelow(staging)).sort(),
      unwritable: async () => withOwner(postgres(url, { schema, staging: await belowAFile(directory) })),
    },
  }
}

describeSink('postgres', { keepsFiles: true, stages: true, make: target })
