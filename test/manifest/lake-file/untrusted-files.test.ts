/** Database files of a lake that somebody else has made: what they hold is never run. */

import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { beforeEach, expect, test, vi } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { verify } from '../../../src/jobs/verify.ts'
import { removeGarbage } from '../../../src/manifest/gc/remove-garbage.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { changeDatabase, hasTrace, macroInPlace, viewInPlace } from '../../lake/duckdb/spiked-database.ts'
import { copyLake } from '../../support/lakes.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const load = (lake: string, InternalId: number) =>
  convert({ from: fromRecords('crm', [{ BasicDetails: { InternalId } }]), lake, again: true })

/** Changes a database file of a lake, with its record, as one can who may write to the lake. */
const change = async (lake: string, name: string, ...statements: readonly string[]): Promise<void> => {
  const file = join(lake, name)
  const before = sha256Of(await readFile(file))
  await changeDatabase(file, ...statements)
  const record = await readFile(`${file}.sha256`, 'utf8')
  const lines = record
    .split('\n')
    .slice(0, 2)
    .join('\n')
    .replaceAll(before, sha256Of(await readFile(file)))
  await writeFile(`${file}.sha256`, `${lines}\n# ${sha256Of(`${lines}\n`)}\n`)
}

const newLake = async (): Promise<string> => copyLake('three', join(await temporaryFolder(), 'lake'))
/** One of the two files is enough. */
beforeEach(() => {
  vi.stubEnv('FIRMLAKE_DUCKDB', 'false')
})

const traceOf = (lake: string): string => join(dirname(lake), 'trace.json')

const READ = ['ducklake_snapshot_changes', 'ducklake_metadata']
const SPIKES: readonly (readonly [string, string, (trace: string) => readonly string[]])[] = [
  ...READ.map((table): (typeof SPIKES)[number] => [
    `a view in place of ${table}`,
    `view "${table}"`,
    (trace) => viewInPlace({ table, trace }),
  ]),
  ['a macro in place of max()', 'macro "max"', (trace) => [macroInPlace('max', trace)]],
  [
    'a column with an expression',
    'column with an expression "ducklake_table_stats"',
    () => [
      'DROP TABLE ducklake_table_stats',
      'CREATE TABLE ducklake_table_stats (table_id BIGINT, record_count BIGINT DEFAULT 1, next_row_id BIGINT, file_size_bytes BIGINT)',
    ],
  ],
]

test.each(SPIKES)('lake.ducklake with %s is named, not read, and made again', async (_how, what, spike) => {
  const lake = await newLake()
  const trace = traceOf(lake)
  await change(lake, 'lake.ducklake', ...spike(trace))
  expect((await verify({ lake })).problems).toEqual([
    {
      path: 'lake.ducklake',
      problem: 'changed',
      detail: `Cannot read the database file: it holds ${what}, expected tables alone; "firmlake verify --repair" makes it again`,
    },
  ])
  await removeGarbage({ lake, now: new Date() })
  expect((await load(lake, 2)).noViews).toBe(
    '"lake.ducklake" was missing or not what was written: it was made anew, and the statistics of all files were read again',
  )
  expect(hasTrace(trace)).toBe(false)
  expect((await verify({ lake })).problems).toEqual([])
})

test('lake.ducklake that names a file elsewhere as deleted rows does not have it read', async () => {
  const lake = await newLake()
  const path = '../secret.txt'
  await writeFile(join(lake, path), 'secret')
  await change(lake, 'lake.ducklake', `INSERT INTO ducklake_delete_file (path) VALUES ('${path}')`)
  expect((await verify({ lake })).problems).toEqual([
    {
      path: 'lake.ducklake',
      problem: 'changed',
      detail: `it names "${path}" as deleted rows, expected files of "published/ducklake"; "firmlake verify --repair" makes it again`,
    },
  ])
})

test('views and macros of a lake.duckdb of others do not come into the next one', async () => {
  vi.stubEnv('FIRMLAKE_DUCKDB', 'true')
  const lake = await newLake()
  const trace = traceOf(lake)
  await change(
    lake,
    'lake.duckdb',
    macroInPlace('coalesce_all', trace),
    macroInPlace('max', trace),
    `CREATE OR REPLACE VIEW companies AS SELECT 1 AS internal_id`,
  )
  await load(lake, 2)
  expect((await readFile(join(lake, 'lake.duckdb'))).includes('trace.json')).toBe(false)
  expect(hasTrace(trace)).toBe(false)
})
