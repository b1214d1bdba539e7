/**
 * Command: `node bench/compact.ts [--companies 250000,1000000] [--nights 100] [--target-mb 8]`. A lake after nights of
 * 1 % changes, before and after `compact`: time of three questions, sizes of files, peak memory by size of the lake.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import type { Snapshot } from '../src/core/partition.ts'
import { openLakeQuery } from '../src/lake/query/lake-query.ts'
import { readSnapshot } from '../src/manifest/snapshots/snapshots.ts'
import { measureNode, median } from './measure.ts'
import { countryOf, FIGURES, makeNightlyLake } from './nightly-lake.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '10000,40000' },
    nights: { type: 'string', default: '20' },
    share: { type: 'string', default: '0.01' },
    'target-mb': { type: 'string', default: '1' },
    memory: { type: 'string', default: '1GiB' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

const MAIN = join(import.meta.dirname, '..', 'src', 'cli', 'main.ts')
const ATTEMPTS = 5
const COMPANY = 4711

const QUESTIONS: readonly (readonly [name: string, sql: string])[] = [
  [
    'all figures of one company',
    `SELECT count(*), sum(value) FROM financials WHERE internal_id = ${COMPANY}`,
  ],
  [
    'the same, with its country',
    `SELECT count(*), sum(value) FROM financials WHERE country_code = '${countryOf(COMPANY)}' AND internal_id = ${COMPANY}`,
  ],
  [
    'net sales of a country by year',
    `SELECT fiscal_year, sum(value) FROM financials WHERE country_code = 'SE' AND line_item = 'NetSales' GROUP BY 1 ORDER BY 1`,
  ],
  ['companies by country', 'SELECT country_code, count(*) FROM companies GROUP BY 1 ORDER BY 1'],
]

interface Asked {
  readonly openSeconds: number
  /** By question: median time, and the rows as text. */
  readonly answers: readonly { readonly name: string; readonly seconds: number; readonly rows: string }[]
}

const ask = async (lake: string): Promise<Asked> => {
  const opens: number[] = []
  const seconds = QUESTIONS.map((): number[] => [])
  const rows = QUESTIONS.map(() => '')
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const openedMs = performance.now()
    const query = await openLakeQuery({
      lake,
      snapshot: await readSnapshot(lake),
      memoryBytes: 864 * 1024 ** 2,
    })
    opens.push((performance.now() - openedMs) / 1e3)
    for (const [at, [, sql]] of QUESTIONS.entries()) {
      const startMs = performance.now()
      const found: unknown[] = []
      for await (const chunk of (await query.run(sql)).rows) found.push(...chunk)
      seconds[at]?.push((performance.now() - startMs) / 1e3)
      rows[at] = JSON.stringify(found, (_, value) =>
        // Sums of doubles depend on the order of the rows.
        typeof value === 'number' && !Number.isInteger(value) ? Number(value.toPrecision(9)) : value,
      )
    }
    query.close()
  }
  return {
    openSeconds: median(opens),
    answers: QUESTIONS.map(([name], at) => ({
      name,
      seconds: median(seconds[at] ?? []),
      rows: rows[at] ?? '',
    })),
  }
}

const sizeText = ({ partitions }: Snapshot, targetBytes: number): string =>
  [
    ...Map.groupBy(
      partitions.flatMap(({ files }) => files),
      ({ table }) => table,
    ),
  ]
    .map(([table, files]) => {
      const near = files.filter(({ bytes }) => Math.abs(bytes / targetBytes - 1) <= 0.1)
      const sum = files.reduce((all, { bytes }) => all + bytes, 0)
      return `${table}: ${files.length} files, ${(sum / 1e6).toFixed(1)} MB, ${near.length} within 10 % of the target`
    })
    .join('; ')

for (const companies of values.companies.split(',').map(Number)) {
  const nights = Number(values.nights)
  const targetBytes = Number(values['target-mb']) * 1024 ** 2
  const folder = join(values.out, `compact-${companies}`)
  const startMs = performance.now()
  const lake = await makeNightlyLake(folder, { companies, nights, share: Number(values.share) })
  console.log(
    `${companies} companies of ${FIGURES} figures, ${nights} nights of ${Number(values.share) * 100} %: ` +
      `made in ${((performance.now() - startMs) / 1e3).toFixed(0)} s`,
  )
  console.log(`  before: ${sizeText(await readSnapshot(lake), targetBytes)}`)
  const before = await ask(lake)
  const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode([
    ...[
      MAIN,
      'compact',
      '--lake',
      lake,
      '--target-bytes',
      String(targetBytes),
      '--memory',
      values.memory,
      '--json',
    ],
  ])
  console.log(
    `  compact: ${wallSeconds.toFixed(1)} s on the wall, ${cpuSeconds.toFixed(1)} s of CPU, ` +
      `peak ${peakMegabytes.toFixed(0)} MB of ${values.memory}`,
  )
  console.log(`  after: ${sizeText(await readSnapshot(lake), targetBytes)}`)
  const after = await ask(lake)
  console.log(
    `  opening: ${(before.openSeconds * 1e3).toFixed(0)} ms before, ${(after.openSeconds * 1e3).toFixed(0)} ms after`,
  )
  for (const [at, { name, seconds, rows }] of before.answers.entries()) {
    const then = after.answers[at]
    if (then?.rows !== rows)
      throw new Error(`Cannot trust the lake: "${name}" has another answer after compact`)
    console.log(
      `  ${name}: ${(seconds * 1e3).toFixed(0)} ms before, ${(then.seconds * 1e3).toFixed(0)} ms after`,
    )
  }
  await rm(folder, { recursive: true })
}
