/**
 * Command: `node bench/figures.ts [--companies 10000] [--lake DIR]`. What a sum of one figure a company costs beside the sum of all that
 * was reported: CPU of one line item of one year over `financials`, over the filter alone, over `figures`, in turn.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { convert } from '../src/jobs/convert.ts'
import { openQuery } from '../src/jobs/query.ts'
import { readRows } from '../src/lake/query/read-rows.ts'
import { median } from './measure.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '10000' },
    lake: { type: 'string' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const ROUNDS = 15
const home = join(values.out, 'figures')
const lake = values.lake ?? join(home, 'lake')
if (values.lake === undefined) {
  await rm(home, { recursive: true, force: true })
  const sample = { companies: Number(values.companies), seed: 7, files: 2, small: false, awkward: 0 }
  await writeSample(join(home, 'data'), { ...sample, content: ['companies'] }, 1)
  await convert({ from: [join(home, 'data')], lake })
}

const WHERE = "WHERE line_item = 'NetSales' AND fiscal_year = 2023"
const STATEMENTS = {
  financials: `SELECT sum(value) FROM financials ${WHERE}`,
  'financials, is_preferred': `SELECT sum(value) FROM financials ${WHERE} AND is_preferred`,
  figures: `SELECT sum(value) FROM figures ${WHERE}`,
} as const

const query = await openQuery({ lake, threads: 1 })
const spent = new Map<string, number[]>(Object.keys(STATEMENTS).map((name) => [name, []]))
for (let round = 0; round <= ROUNDS; round += 1)
  for (const [name, sql] of Object.entries(STATEMENTS)) {
    const before = process.cpuUsage()
    await readRows(await query.run(sql))
    const { user, system } = process.cpuUsage(before)
    // The first one makes the views readable.
    if (round > 0) spent.get(name)?.push((user + system) / 1e3)
  }
query.close()
const plain = median(spent.get('financials') ?? [])
for (const [name, all] of spent)
  console.log(`${name}: ${median(all).toFixed(0)} ms of CPU, ${(median(all) / plain).toFixed(2)} ×`)
await rm(home, { recursive: true, force: true })
