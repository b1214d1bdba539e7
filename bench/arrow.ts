/**
 * Command: `node bench/arrow.ts`. Financial rows from a lake's Parquet files to an Arrow file on disk: by ours, and by
 * row objects and apache-arrow's own builders, in turn, in one process.
 */

import { mkdir, open, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { DuckDBInstance } from '@duckdb/node-api'
import { RecordBatchFileWriter, tableFromArrays } from 'apache-arrow'
import { LINE_ITEMS } from '../src/contract/line-items.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { writeArrowFile } from '../src/sink/arrow/arrow-sink.ts'
import { median } from './measure.ts'

const HELP = `Writes financial rows of Parquet files to an Arrow file, by ours and by row objects.

  node bench/arrow.ts [options]

  --rows N    millions of financial rows of ours (10)
  --naive N   millions of rows of the naive way, which holds them all (0.2)
  --runs N    rounds after one to warm up (3)
  --out DIR   folder for the data and the files (in the temporary folder)
`
const { values } = parseArgs({
  options: {
    rows: { type: 'string', default: '10' },
    naive: { type: 'string', default: '0.2' },
    runs: { type: 'string', default: '3' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
    help: { type: 'boolean', default: false },
  },
})

interface Usage {
  readonly wallSeconds: number
  readonly cpuSeconds: number
}

const measured = async (work: () => Promise<unknown>): Promise<Usage> => {
  const [from, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return { wallSeconds: (performance.now() - from) / 1e3, cpuSeconds: (user + system) / 1e6 }
}

/** Rows as the loader writes them: of a company all line items, of each item five years. */
const figures = (from: number, rows: number): string => `
  SELECT company * 7 + 1000 AS internal_id, countries[company % 7 + 1] AS country_code,
    CASE WHEN i % 520 < 400 THEN 'Consolidated' ELSE 'Unconsolidated' END AS consolidation,
    item.category AS category, item.line_item AS line_item, (2019 + i % 5)::SMALLINT AS fiscal_year,
    round(hash(i) % 1_000_000_000 / 7, 2)::DOUBLE AS value, currencies[company % 7 + 1] AS currency,
    CASE WHEN hash(i) % 50 = 0 THEN hash(i) % 1000 / 3 END::DOUBLE AS reported
  FROM (SELECT i, i // 520 AS company, items[(i // 5) % len(items) + 1] AS item, countries, currencies
    FROM range(${from}, ${from + rows}) AS t (i),
      (SELECT [${LINE_ITEMS.map((one) => `{category: ${literal(one.category)}, line_item: ${literal(one.lineItem)}}`).join(', ')}] AS items,
        ['DE', 'FR', 'IT', 'US', 'IL', 'GB', 'SE'] AS countries, ['EUR', 'EUR', 'EUR', 'USD', 'ILS', 'GBP', 'SEK'] AS currencies))`

/** Parquet files of up to 5 million rows, written by the engine as the lake's are; kept for the next time. */
const parquetFiles = async (folder: string, rows: number): Promise<readonly string[]> => {
  await mkdir(folder, { recursive: true })
  const engine = await Engine.open({ memoryBytes: 2e9 })
  const session = await engine.connect()
  const paths: string[] = []
  for (let from = 0; from < rows; from += 5e6) {
    const count = Math.min(5e6, rows - from)
    const path = join(folder, `financials-${from}-${count}.parquet`)
    paths.push(path)
    if (await stat(path).catch(() => undefined)) continue
    await session.copy(figures(from, count), path, { kind: 'parquet', dictionaryLimit: 2000 })
  }
  engine.close()
  return paths
}

const selectOf = (paths: readonly string[]): string =>
  `SELECT * FROM read_parquet([${paths.map(literal).join(', ')}])`

/** What one would write first: all rows as objects, a column of each name, and the package's builders. */
const naive = async (sql: string, path: string): Promise<void> => {
  const connection = await (await DuckDBInstance.create(':memory:', { threads: '2' })).connect()
  const rows = (await connection.runAndReadAll(sql)).getRowObjectsJS()
  const names = Object.keys(rows[0] ?? {})
  const columns = Object.fromEntries(names.map((name) => [name, rows.map((row) => row[name])]))
  const file = await open(path, 'w')
  for await (const part of RecordBatchFileWriter.writeAll(tableFromArrays(columns))) await file.write(part)
  await file.sync()
  await file.close()
  connection.closeSync()
}

const print = (name: string, rows: number, usages: readonly Usage[]): number => {
  const wall = median(usages.map(({ wallSeconds }) => wallSeconds))
  const cpu = median(usages.map(({ cpuSeconds }) => cpuSeconds))
  const rate = rows / wall / 1e6
  console.log(
    `${name.padEnd(6)} ${rows / 1e6} M rows  wall ${wall.toFixed(2)} s  CPU ${cpu.toFixed(2)} s  ` +
      `${rate.toFixed(2)} M rows/s  ${(rows / cpu / 1e6).toFixed(2)} M rows/CPU s`,
  )
  return rows / cpu
}

const main = async (): Promise<void> => {
  const [rows, naiveRows] = [Number(values.rows) * 1e6, Number(values.naive) * 1e6]
  const folder = join(values.out, 'arrow')
  const sql = selectOf(await parquetFiles(folder, rows))
  const naiveSql = selectOf(await parquetFiles(folder, naiveRows))
  const target = join(folder, 'financials.arrow')
  const engine = await Engine.open({ memoryBytes: 1e9, threads: 2 })
  const session = await engine.connect()
  const ours: Usage[] = []
  const others: Usage[] = []
  const options = { kind: 'file', table: 'financials' } as const
  for (let round = 0; round <= Number(values.runs); round++) {
    const one = await measured(() => writeArrowFile(target, session.relation(sql), options))
    const other = await measured(() => naive(naiveSql, target))
    // The first round warms up.
    if (round > 0) {
      ours.push(one)
      others.push(other)
    }
  }
  const [rate, otherRate] = [print('ours', rows, ours), print('naive', naiveRows, others)]
  console.log(`ours / naive, rows a CPU second: ${(rate / otherRate).toFixed(1)}`)
  const walls = ours.map(({ wallSeconds }, at) => {
    const perRow = (others[at]?.wallSeconds ?? 0) / naiveRows
    return (perRow / (wallSeconds / rows)).toFixed(1)
  })
  console.log(`ours / naive, rows a second: ${walls.join(' ')}`)
  engine.close()
  await rm(target, { force: true })
}

if (values.help) {
  console.log(HELP)
} else {
  await main()
}
