/**
 * Command: `node bench/postgres.ts [--rows 2000000] [--rounds 3]`. Figures through the PostgreSQL sink, into an empty
 * schema and then over rows that are there, against `psql \copy` of the same CSV file. Starts a server of its own.
 */

import { spawnSync } from 'node:child_process'
import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { postgres } from '../src/sink/postgres/postgres.ts'
import { postgresMissing, startPostgres, withClient } from '../test/support/postgres-server.ts'

const { values } = parseArgs({
  options: { rows: { type: 'string', default: '2000000' }, rounds: { type: 'string', default: '3' } },
})
const [rows, rounds] = [Number(values.rows), Number(values.rounds)]
const FIGURES_A_COMPANY = 580

const figures = `SELECT (i // ${FIGURES_A_COMPANY})::BIGINT AS internal_id, 'SE' AS country_code,
  'Consolidated' AS consolidation, 'ProfitAndLoss' AS category, 'LineItem' || (i % ${FIGURES_A_COMPANY} // 10) AS line_item,
  (2010 + i % 10)::SMALLINT AS fiscal_year, (i * 1234.5)::DOUBLE AS value, 'SEK' AS currency, NULL::DOUBLE AS reported
  FROM range(${rows}) AS r (i)`
const companies = `SELECT i::BIGINT AS internal_id, 'Company ' || i AS name FROM range(${Math.ceil(rows / FIGURES_A_COMPANY)}) AS r (i)`

const seconds = async (work: () => Promise<unknown>): Promise<number> => {
  const started = performance.now()
  await work()
  return (performance.now() - started) / 1e3
}

const missing = postgresMissing()
if (missing !== undefined) throw new Error(`The benchmark needs a PostgreSQL server: ${missing}`)
const server = startPostgres({ durable: true })
const folder = await mkdtemp(join(tmpdir(), 'firmlake-bench-'))
const engine = await Engine.open({ memoryBytes: 1024 ** 3 })

/** psql into a table with the same columns; the key is made behind the rows, as the sink does. */
const plainCopy = async (url: string, file: string): Promise<number> => {
  const columns = `internal_id bigint, country_code text, consolidation text, category text, line_item text,
    fiscal_year smallint, value double precision, currency text, reported double precision`
  await withClient(url, (client) =>
    client.query(`DROP TABLE IF EXISTS plain; CREATE TABLE plain (${columns})`),
  )
  return seconds(async () => {
    const statements = [
      `\\copy plain FROM '${file}' (FORMAT csv)`,
      'ALTER TABLE plain ADD PRIMARY KEY (internal_id, consolidation, category, line_item, fiscal_year)',
    ]
    const args = [url, '-q', '-v', 'ON_ERROR_STOP=1', ...statements.flatMap((one) => ['-c', one])]
    const { status, stderr } = spawnSync(join(server.programs, 'psql'), args, { encoding: 'utf8' })
    if (status !== 0) throw new Error(`psql failed: ${stderr}`)
  })
}

const rate = (took: number): string => `${Math.round(rows / took / 1e3).toLocaleString('en')} thousand rows/s`

try {
  const session = await engine.connect()
  for (let round = 1; round <= rounds; round += 1) {
    const url = server.url(await server.newDatabase())
    const sink = postgres(url, { staging: join(folder, 'staging') })
    const stage = async (run: string) => {
      const opened = await sink.open(run)
      const main = await opened.write('p-0', 'companies', session.relation(companies))
      const long = await opened.write('p-0', 'financials', session.relation(figures))
      return () => opened.commit([...main.files, ...long.files])
    }
    let commit = async (): Promise<void> => undefined
    const staged = await seconds(async () => {
      commit = await stage('run-1')
    })
    const plain = await plainCopy(url, join(folder, 'staging/run-1/financials/p-0.csv'))
    const first = await seconds(() => commit())
    commit = await stage('run-2')
    const again = await seconds(() => commit())
    console.log(
      `round ${round}: staged ${rate(staged)}; psql ${rate(plain)}; first load ${rate(first)}, ` +
        `${(first / plain).toFixed(2)} × psql's time; all rows replaced ${rate(again)}, ${(again / plain).toFixed(2)} ×`,
    )
  }
} finally {
  engine.close()
  server.remove()
  await rm(folder, { recursive: true, force: true })
}
