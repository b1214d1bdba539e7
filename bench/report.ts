/**
 * Command: `node bench/report.ts [--companies 10000,100000] [--memory 1GiB]`. What a report takes as a whole process, CPU and
 * peak memory, of a lake of generated companies of which a second load brought a tenth again.
 */

import { readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { brotliDecompressSync } from 'node:zlib'
import { ALL_CONTENT, writeSample } from '../data/sample.ts'
import { convert } from '../src/jobs/convert/convert.ts'
import { query } from '../src/jobs/query/query.ts'
import { measureNode } from './measure.ts'

const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
const FILES = 10
const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '10000,100000' },
    memory: { type: 'string', default: '1GiB' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

/** The companies of a file with other net sales. */
const restated = async (file: string): Promise<string> =>
  brotliDecompressSync(await readFile(file))
    .toString('utf8')
    .replace(/("NetSales":\{"\d{4}":)/g, '$11')

for (const companies of values.companies.split(',').map(Number)) {
  const home = join(values.out, `report-${companies}`)
  const [batches, lake, again] = ['batches', 'lake', 'again.jsonl'].map((name) => join(home, name)) as [
    string,
    string,
    string,
  ]
  await rm(home, { recursive: true, force: true })
  const options = { companies, seed: 11, files: FILES, small: false, awkward: 0, sound: true }
  await writeSample(batches, { ...options, content: ALL_CONTENT }, 1)
  await convert({ from: [batches], lake })
  await writeFile(again, await restated(join(batches, 'companies-0001.jsonl.br')))
  await convert({ from: [again], lake, content: 'companies' })
  await rm(batches, { recursive: true })
  const [loads] = await query({
    lake,
    sql: 'SELECT sum(companies) AS all_of, sum(restated) AS restated FROM load_changes',
  })
  const { cpuSeconds, peakMegabytes, wallSeconds } = await measureNode([
    ...[MAIN, 'report', '--lake', lake, '--to', join(home, 'report.html'), '--memory', values.memory],
  ])
  console.log(
    `${companies} companies, ${JSON.stringify(loads)}, within ${values.memory}: CPU ${cpuSeconds.toFixed(1)} s, wall ${wallSeconds.toFixed(1)} s, peak ${peakMegabytes.toFixed(0)} MB`,
  )
  await rm(home, { recursive: true })
}
