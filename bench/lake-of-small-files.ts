/** A lake of many small Parquet files, all real: copies of those of one company, each with an id of its own. */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, rm, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { commitPartitions } from '../src/commit/commit-run.ts'
import { recordVersions } from '../src/commit/list-versions.ts'
import type { FileEntry } from '../src/core/partition.ts'
import { convert } from '../src/jobs/convert.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { inLake, loadPath } from '../src/lake/files/layout.ts'
import { createRun, removeRun } from '../src/manifest/runs/runs.ts'
import { readRoot, readSnapshot } from '../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../src/source/from-records.ts'
import { sha256Of } from '../src/support/hash.ts'
import { TOOL } from '../src/support/own-package.ts'
import { inventedPartition } from './invented-lake.ts'

/** Its eight bytes occur nowhere else in the files, so that they can be replaced. */
const ID_OF_COPY = 0x11223344556677n
const FIRST_ID = 10_000_000n
/** DuckDB keeps the footers of all files that a commit lists in memory. */
const PARTITIONS_OF_COMMIT = 1000

/** The id of a company. @param number from 0 */
export const companyId = (number: number): bigint => FIRST_ID + BigInt(number)

const bytesOf = (id: bigint): Buffer => {
  const bytes = Buffer.alloc(8)
  bytes.writeBigInt64LE(id)
  return bytes
}

/** A file of one company. */
interface Original {
  readonly table: string
  readonly rows: number
  readonly bytes: Buffer
  /** Whether it is of the company, not of its run. */
  readonly isOfCompany: boolean
}

const company = {
  BasicDetails: { InternalId: Number(ID_OF_COPY), CompanyName: 'One Ltd', CountryCode: 'SE' },
  Financials: { ProfitAndLoss: { NetSales: { 2022: 1200, 2023: 1300 }, EBITDA: { 2023: 110 } } },
  EnhancedDetails: { Employees: { 2023: 7 } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'Thousands' },
}

/** The files that a load of one company makes. */
const originals = async (folder: string): Promise<readonly Original[]> => {
  const lake = join(folder, 'original')
  await convert({ from: fromRecords('companies', [company]), lake })
  const { partitions, files } = await readSnapshot(lake)
  const read = async ({ table, path, rows }: FileEntry, isOfCompany: boolean): Promise<Original> => ({
    ...{ table, rows, isOfCompany },
    bytes: await readFile(inLake(lake, path)),
  })
  const found = await Promise.all([
    ...partitions.flatMap((one) => one.files.map((file) => read(file, true))),
    ...files.map((file) => read(file, false)),
  ])
  await rm(lake, { recursive: true })
  return found
}

const withId = (original: Buffer, id: bigint): Buffer => {
  const [bytes, before, after] = [Buffer.from(original), bytesOf(ID_OF_COPY), bytesOf(id)]
  for (let at = bytes.indexOf(before); at >= 0; at = bytes.indexOf(before, at)) after.copy(bytes, at)
  return bytes
}

/** A commit of a lake: so many partitions of one company each, from a number on. */
interface Load {
  /** Number of the first partition. */
  readonly from: number
  readonly partitions: number
  /** Number of the first company. */
  readonly company: number
}

const place = async (lake: string, path: string, bytes: Buffer): Promise<void> => {
  await mkdir(dirname(inLake(lake, path)), { recursive: true })
  await writeFile(inLake(lake, path), bytes)
}

const commit = async (lake: string, files: readonly Original[], load: Load): Promise<void> => {
  const lease = await createRun({ lake, plan: {}, now: new Date(), random: randomBytes })
  const { run } = lease
  const write = async ({ table, rows }: Original, name: string, bytes: Buffer): Promise<FileEntry> => {
    const path = `${loadPath(table, run)}/${name}.parquet`
    await place(lake, path, bytes)
    return { table, path, rows, bytes: bytes.length, sha256: sha256Of(bytes) }
  }
  const partitions = []
  for (let at = 0; at < load.partitions; at += 1) {
    const number = load.from + at
    const own: FileEntry[] = []
    for (const file of files)
      if (file.isOfCompany)
        own.push(await write(file, `${number}-0`, withId(file.bytes, companyId(load.company + at))))
    const one = inventedPartition(run, number, own)
    partitions.push({ ...one, counts: { ...one.counts, lines: 1, records: 1 } })
  }
  const runFiles: FileEntry[] = []
  for (const file of files) if (!file.isOfCompany) runFiles.push(await write(file, 'run', file.bytes))
  const engine = await Engine.open({
    ...{ memoryBytes: 1024 ** 3, threads: 2, spillFolder: inLake(lake, `_runs/${run}/spill`) },
  })
  try {
    const session = await engine.connect()
    await commitPartitions({
      ...{ lease, pipeline: 'convert', tool: TOOL, partitions, runFiles },
      ...{ now: () => new Date(), random: randomBytes },
      rules: [recordVersions({ lake, loader: { withSession: (use) => use(session) } })],
    })
  } finally {
    engine.close()
  }
  await removeRun(lease)
}

/** @throws {Error} where a copy does not say its own id */
const checkCopies = async (lake: string): Promise<void> => {
  const { partitions } = await readSnapshot(lake)
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2, threads: 1 })
  try {
    const session = await engine.connect()
    for (const [at, { files }] of partitions.slice(0, 2).entries())
      for (const { path, rows } of files) {
        const from = `read_parquet(${literal(inLake(lake, path))}) WHERE internal_id = ${companyId(at)}`
        const [row] = await session.rows(`SELECT count(*)::INTEGER AS n FROM ${from}`)
        if (row?.n !== rows) throw new Error(`Cannot use "${path}": expected ${rows} rows of company ${at}`)
      }
  } finally {
    engine.close()
  }
}

/** What a lake has. */
export interface SmallFiles {
  readonly files: number
  readonly companies: number
}

/**
 * Makes a lake of about so many files, a thousand partitions a snapshot. A tenth of the companies come twice.
 *
 * @returns a function that commits one company again
 */
export const makeLakeOfSmallFiles = async (
  lake: string,
  files: number,
): Promise<SmallFiles & { readonly commitOne: () => Promise<void> }> => {
  const own = await originals(dirname(lake))
  const each = own.filter(({ isOfCompany }) => isOfCompany).length
  const partitions = Math.floor(files / (each + 1 / PARTITIONS_OF_COMMIT)) - 1
  const companies = Math.floor(partitions / 1.1)
  const load = async (from: number, to: number, company: number): Promise<void> => {
    for (let at = from; at < to; at += PARTITIONS_OF_COMMIT)
      await commit(lake, own, {
        ...{ from: at, partitions: Math.min(PARTITIONS_OF_COMMIT, to - at) },
        company: company + at - from,
      })
  }
  await load(0, companies, 0)
  await load(companies, partitions, 0)
  await checkCopies(lake)
  const { totals } = await readRoot(lake)
  return {
    ...{ files: totals.tables.reduce((sum, table) => sum + table.files, 0), companies },
    commitOne: () => commit(lake, own, { from: partitions, partitions: 1, company: companies - 1 }),
  }
}
