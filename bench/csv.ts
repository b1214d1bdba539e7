/** How fast CSV is written: DuckDB's own writer beside records of RFC 4180, to a file and as a stream. */

import { mkdtemp, rm, stat } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Writable } from 'node:stream'
import type { TableRows } from '../src/core/sink.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { literal } from '../src/lake/duckdb/sql.ts'
import { CSV_FORMAT, csvFormat, csvRelation } from '../src/sink/csv.ts'

const ROWS = Number(process.argv[2] ?? 5_000_000)

/** Rows as those of `financials`. */
const FIGURES = `SELECT i // 500 AS internal_id, 'SE' AS country_code,
  CASE WHEN i // 250 % 2 = 0 THEN 'Consolidated' ELSE 'Unconsolidated' END AS consolidation,
  'Category' || (i // 50 % 5) AS category, 'LineItemNumber' || (i // 10 % 25) AS line_item,
  (2010 + i % 10)::SMALLINT AS fiscal_year, random() * 1e6 AS value, 'SEK' AS currency, NULL::DOUBLE AS reported
FROM range(${ROWS}) AS t (i)`

const folder = await mkdtemp(join(tmpdir(), 'firmlake-csv-'))
const engine = await Engine.open({ memoryBytes: 512 * 1024 ** 2 })
try {
  const session = await engine.connect()
  const source = join(folder, 'figures.parquet')
  await session.copy(FIGURES, source, { kind: 'parquet' })
  const rows: TableRows = session.relation(`SELECT * FROM read_parquet(${literal(source)})`)
  const out = join(folder, 'out.csv')
  const measure = async (name: string, work: () => Promise<unknown>): Promise<void> => {
    const [startMs, cpu] = [performance.now(), process.cpuUsage()]
    await work()
    const seconds = (performance.now() - startMs) / 1000
    const { user, system } = process.cpuUsage(cpu)
    const rate = (ROWS / seconds / 1e6).toFixed(2)
    console.log(
      `${name.padEnd(32)} ${seconds.toFixed(1)} s  ${rate} M rows/s  ${((user + system) / 1e6).toFixed(1)} CPU s`,
    )
  }
  await measure("DuckDB's own CSV (LF)", () => rows.copyTo(out, { kind: 'csv', nullText: '', header: true }))
  await measure('RFC 4180, neutralised', async () => (await csvRelation(rows)).copyTo(out, CSV_FORMAT))
  console.log(`${((await stat(out)).size / 1e6).toFixed(0)} MB`)
  await measure('RFC 4180, as it is', async () =>
    (await csvRelation(rows, { neutralise: false })).copyTo(out, CSV_FORMAT),
  )
  const nowhere = new Writable({ write: (_chunk, _encoding, done) => done() })
  await measure('RFC 4180, to a stream', () =>
    csvFormat.stream(nowhere, rows, { onProgress: () => undefined }),
  )
  console.log(`peak ${(process.resourceUsage().maxRSS / 1e3).toFixed(0)} MB`)
} finally {
  engine.close()
  await rm(folder, { recursive: true, force: true })
}
