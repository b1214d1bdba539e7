/** A folder with batch files and a lake, and the runs of a test on them. Knows nothing of vitest: children use it too. */

import { createHash } from 'node:crypto'
import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { brotliCompress, gzip, zstdCompress } from 'node:zlib'
import type { Snapshot } from '../../src/core/partition.ts'
import { convertFiles } from '../../src/jobs/convert.ts'
import { openRowCounter } from '../../src/jobs/verify.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import { type LakeQuery, openLakeQuery } from '../../src/lake/query/lake-query.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { type Garbage, removeGarbage } from '../../src/manifest/gc/remove-garbage.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { type Verification, verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import type { LoadSummary } from '../../src/run/commit-loaded.ts'
import type { RunOptions as LoadOptions } from '../../src/run/load-into-lake.ts'
import type { ConvertJob, RunPlan } from '../../src/run/run-plan.ts'
import type { RunEvent } from '../../src/run/work/progress.ts'

export const COMPRESSIONS = {
  plain: async (bytes: Buffer) => bytes,
  gzip: promisify<Buffer, Buffer>(gzip),
  zstd: promisify<Buffer, Buffer>(zstdCompress),
  brotli: promisify<Buffer, Buffer>(brotliCompress),
} as const
export type Compression = keyof typeof COMPRESSIONS

/** A company's line. `day` of January 2025 is when its content was updated. */
export const companyLine = (id: number, more: object = {}, day = 1): string =>
  JSON.stringify({
    BasicDetails: { InternalId: id, CompanyName: `Company ${id}`, CountryCode: 'SE' },
    MetaData: { ContentUpdatedAt: `2025-01-${String(day).padStart(2, '0')}T00:00:00` },
    Financials: { ProfitAndLoss: { NetSales: { 2023: id, 2024: id + 0.5 } } },
    ...more,
  })

export const relationsLine = (id: number): string =>
  JSON.stringify({ InternalId: id, Name: `Company ${id}`, Children: [{ InternalId: id + 1, Name: 'Child' }] })

export const companyLines = (count: number, from = 1): string[] =>
  Array.from({ length: count }, (_, at) => companyLine(from + at))

export const textOf = (lines: readonly string[]): Buffer =>
  Buffer.from(lines.map((line) => `${line}\n`).join(''))

export const sha256 = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

/** A run that was brought to its end, and what it told meanwhile. */
export interface Ran {
  readonly summary: LoadSummary
  readonly events: readonly RunEvent[]
}

export type RunOptions = Partial<Omit<ConvertJob, 'inputs' | 'kind'>> &
  Partial<Pick<RunPlan, 'again' | 'limits'>> &
  Partial<LoadOptions>

export interface Bench {
  readonly folder: string
  readonly lake: string
  /** Writes a file below the folder. @returns its bytes */
  readonly write: (
    name: string,
    content: readonly string[] | Buffer,
    compression?: Compression,
  ) => Promise<Buffer>
  readonly run: (inputs: readonly string[], options?: RunOptions) => Promise<Ran>
  readonly snapshot: () => Promise<Snapshot>
  readonly query: (sql: string) => Promise<readonly (readonly unknown[])[]>
  readonly verify: () => Promise<Verification>
  readonly gc: () => Promise<Garbage>
}

/** A plan and options of a run over files below `folder`. */
export const runIn = async (
  folder: string,
  lake: string,
  inputs: readonly string[],
  { onEvent, ...options }: RunOptions = {},
): Promise<Ran> => {
  const events: RunEvent[] = []
  const { content, asOf, again = false, limits = {}, cwd = folder, ...rest } = options
  const summary = await convertFiles(
    { inputs, cwd, again, limits, asOf, ...(content !== undefined && { content }) },
    {
      lake,
      maxQuarantined: { kind: 'count', lines: 0 },
      ...rest,
      onEvent: (event) => {
        events.push(event)
        onEvent?.(event)
      },
    },
  )
  return { summary, events }
}

type Rows = readonly (readonly unknown[])[]

/** The lake that was asked last, as long as its newest snapshot is the same: opening one takes eight times a question. */
let opened: { readonly key: string; readonly query: LakeQuery } | undefined
let last: Promise<unknown> = Promise.resolve()

const askNewest = async (lake: string, sql: string): Promise<Rows> => {
  const snapshot = await readSnapshot(lake)
  const key = [lake, snapshot.snapshot, snapshot.run].join(' ')
  if (opened?.key !== key) {
    opened?.query.close()
    opened = undefined
    opened = { key, query: await openLakeQuery({ lake, snapshot, memoryBytes: 256 * 1024 ** 2 }) }
  }
  const { rows } = await opened.query.run(sql)
  return (await Array.fromAsync(rows)).flat()
}

/** The rows of a query on the newest snapshot, behind those that were asked before it. */
export const queryLake = (lake: string, sql: string): Promise<Rows> => {
  const answer = last.then(() => askNewest(lake, sql))
  last = answer.catch(() => undefined)
  return answer
}

/** All columns but those that say which run, snapshot and partition it was, and when. */
export const COMPARABLE = `COLUMNS(name -> name NOT IN ('partition', 'run', 'snapshot', 'loaded_at', 'as_of', 'version',
  'until', 'until_as_of', 'shown_from', 'shown_until', 'known_since'))`

/**
 * Rows and a sum of their hashes of all that queries on the newest snapshot give, table by table: their order does not
 * count.
 *
 * @throws {TypeError} where there is no row: of nothing with nothing a test shows nothing
 */
export const hashLake = async (lake: string): Promise<Readonly<Record<string, string>>> => {
  const names = [...TABLES.flatMap(({ name }) => [name, `${name}_history`]), 'quarantine']
  const hashOf = (name: string): string =>
    `SELECT ${literal(name)}, count(*), sum(hash(r)::HUGEINT) FROM (SELECT ${COMPARABLE} FROM ${name}) AS r`
  const rows = await queryLake(lake, names.map(hashOf).join('\nUNION ALL '))
  const hashes = Object.fromEntries(rows.map(([name, count, sum]) => [`${name}`, `${count} ${sum}`]))
  if (Object.values(hashes).every((hash) => hash.startsWith('0 ')))
    throw new TypeError(`Lake "${lake}" has no row`)
  return hashes
}

/** One for all verifications of a process. */
let counter: ReturnType<typeof openRowCounter> | undefined

export const verify = async (lake: string): Promise<Verification> => {
  counter ??= openRowCounter()
  return verifyLake({ lake, countRows: (await counter).countRows })
}

export const openBench = (folder: string): Bench => {
  const lake = join(folder, 'lake')
  return {
    folder,
    lake,
    write: async (name, content, compression = 'plain') => {
      const text = Buffer.isBuffer(content) ? content : textOf(content)
      const bytes = await COMPRESSIONS[compression](text)
      await mkdir(dirname(join(folder, name)), { recursive: true })
      await writeFile(join(folder, name), bytes)
      return bytes
    },
    run: (inputs, options) => runIn(folder, lake, inputs, options),
    snapshot: () => readSnapshot(lake),
    query: (sql) => queryLake(lake, sql),
    verify: () => verify(lake),
    gc: () => removeGarbage({ lake, now: new Date() }),
  }
}
