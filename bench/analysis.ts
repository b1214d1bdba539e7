/**
 * Command: `node bench/analysis.ts [--companies 100000] [--lake DIR] [--out DIR]`. What questions of the analysis layer
 * cost on `lake.duckdb` of a compacted lake, in an open connection with 1 GiB: wall time, CPU, rows and figures read; and
 * what an export of the whole takes of memory, in a process of its own. `--lake` measures a lake that is there.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { compact } from '../src/jobs/compact.ts'
import { convert } from '../src/jobs/convert.ts'
import { Engine } from '../src/lake/duckdb/engine.ts'
import { measureNode, median } from './measure.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '100000' },
    lake: { type: 'string' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const MAIN = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
const MEMORY_BYTES = 1024 ** 3
const ATTEMPTS = 5
const ITEMS = [
  ...['NetSales', 'GrossProfit', 'EBITDA', 'EBIT', 'PreTaxProfit', 'NetProfit'],
  ...['TotalAssets', 'TotalEquity', 'CashEquivalents', 'EquityRatio'],
]

const home = join(values.out, 'analysis')
const lake = values.lake ?? join(home, 'lake')
if (values.lake === undefined) {
  await rm(home, { recursive: true, force: true })
  const sample = { companies: Number(values.companies), seed: 7, files: 4, small: false, awkward: 0 }
  await writeSample(join(home, 'data'), { ...sample, content: ['companies', 'relations'] }, 1)
  await convert({ from: [join(home, 'data')], lake })
  await compact({ lake })
}

const engine = await Engine.open({ memoryBytes: MEMORY_BYTES, threads: 2 })
const session = await engine.connect()
await session.run(`ATTACH '${join(lake, 'lake.duckdb')}' AS lake (READ_ONLY); USE lake`)

const one = async (sql: string): Promise<string> =>
  String(Object.values((await session.rows(sql))[0] ?? {})[0])
const country = await one('SELECT country_code FROM companies GROUP BY 1 ORDER BY count(*) DESC LIMIT 1')
const company = await one(
  `SELECT median(internal_id)::BIGINT FROM companies WHERE country_code = '${country}'`,
)
const owned = await one(
  "SELECT company_id FROM ownerships WHERE direction = 'parent' AND kind = 'Direct' GROUP BY 1 ORDER BY count(*) DESC, 1 LIMIT 1",
)
const names = ITEMS.map((item) => `'${item}'`).join(', ')

const QUESTIONS: readonly (readonly [name: string, sql: string])[] = [
  [
    `latest_figures of ten items, ${country}`,
    `SELECT count(*), sum(value) FROM latest_figures WHERE country_code = '${country}' AND line_item IN (${names})`,
  ],
  [
    `financials_wide, ten columns, ${country}`,
    `SELECT count(*), ${ITEMS.map((item) => `sum(${item})`).join(', ')} FROM financials_wide WHERE country_code = '${country}'`,
  ],
  ['latest_figures of a company', `FROM latest_figures WHERE internal_id = ${company}`],
  [
    'financials_wide of a company',
    `SELECT ${ITEMS.join(', ')} FROM financials_wide WHERE internal_id = ${company}`,
  ],
  ['ownership_chain, depth 10', `FROM ownership_chain(${owned}, 10)`],
  ['ultimate_owners', `FROM ultimate_owners(${owned})`],
  ['group_of', `FROM group_of(${owned})`],
  ['peers', `FROM peers(${company}, 10)`],
]

for (const table of ['companies', 'financials', 'ownerships'])
  console.log(`${table}: ${await one(`SELECT count(*) FROM ${table}`)} rows`)
for (const [name, sql] of QUESTIONS) {
  const walls: number[] = []
  const cpus: number[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const [started, before] = [performance.now(), process.cpuUsage()]
    await session.rows(sql)
    const { user, system } = process.cpuUsage(before)
    walls.push(performance.now() - started)
    cpus.push((user + system) / 1e3)
  }
  console.log(`${name}: ${median(walls).toFixed(0)} ms, ${median(cpus).toFixed(0)} ms of CPU`)
}
console.log(`peak memory: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
engine.close()

for (const view of ['latest_figures', 'financials_wide']) {
  const to = join(values.out, `${view}.parquet`)
  const command = [
    'export',
    '--lake',
    lake,
    '--to',
    to,
    '--overwrite',
    '--sql',
    `FROM ${view}`,
    '--memory',
    '1GiB',
  ]
  const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode([MAIN, ...command])
  const figures = [
    `${wallSeconds.toFixed(1)} s`,
    `${cpuSeconds.toFixed(1)} s of CPU`,
    `peak ${peakMegabytes.toFixed(0)} MB`,
  ]
  console.log(`export of ${view}: ${figures.join(', ')}`)
  await rm(to, { force: true })
}
await rm(home, { recursive: true, force: true })
