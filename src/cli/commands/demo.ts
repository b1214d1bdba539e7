/**
 * `demo`: the committed sample and its second delivery become a lake, which shows what changed, answers three questions, is served,
 * and pulled into another lake.
 */

import { join } from 'node:path'
import type { Command } from 'commander'
import { DEFAULT_THREADS } from '../../core/memory-shares.ts'
import type { RunReport } from '../../jobs/common/run-report.ts'
import { LAKE } from '../../options/common.ts'
import { type OptionTable, type ValuesOf, withDefault } from '../../options/entry.ts'
import { lakeAddress } from '../../options/value-types.ts'
import { IS_CHECKOUT, PACKAGE_FOLDER } from '../../support/own-package.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { diffSummaryLines } from '../output/diff-lines.ts'
import { printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { printReport, runLoadJob } from '../run-job.ts'

/** Folders of the package, in the order in which they were delivered. */
const DELIVERIES = ['data/sample', 'data/sample-second']

/** Never the lake that the variable names, which may hold real data. */
const DEMO = {
  lake: withDefault(lakeAddress, `folder of the lake; ${LAKE.variable} is ignored here`, './lake', {
    flag: LAKE.flag,
  }),
} as const satisfies OptionTable

export const addDemo = (program: Command): void => {
  addCommand(program, {
    name: 'demo',
    summary: 'convert the sample, ask it three questions, serve it and pull it back',
    description:
      'Converts the sample of invented companies and its second delivery into a lake, shows what the lake holds and what the ' +
      'second delivery changed, and asks it three questions. ' +
      'Then serves the lake on a free port with a fresh token, pulls it over HTTP into a second lake, and ends with ' +
      '1 unless both hold the same records. The second lake is removed; nothing is left running. May be run again.',
    options: DEMO,
    run: runDemo,
    examples: [['demo', 'into ./lake']],
  })
}

const runDemo = async ({ lake }: ValuesOf<typeof DEMO>): Promise<void> => {
  const values = { lake, threads: DEFAULT_THREADS }
  const { convert } = await import('../../jobs/convert/convert.ts')
  for (const delivery of DELIVERIES) {
    await heading(`Converting ${delivery}`)
    await runLoadJob<RunReport>(
      values,
      (options) => convert({ ...options, from: join(PACKAGE_FOLDER, delivery) }),
      (report) => printReport(report, values),
    )
  }

  await heading('What the lake holds')
  const { readStatus } = await import('../../jobs/status/lake-status.ts')
  const { statusLines } = await import('../output/status-lines.ts')
  await printLines(statusLines(await readStatus(lake), false))
  await showChanges(lake)
  await askQuestions(lake)

  await goRound(lake)

  await heading('Where to look next')
  await printLines(nextLines(lake))
}

const heading = (title: string): Promise<void> => printLines(['', `== ${title}`, ''])

/** The counts of `diff`. */
const showChanges = async (lake: string): Promise<void> => {
  await heading('What the second delivery changed')
  const { openDiff } = await import('../../jobs/diff/diff.ts')
  const changes = await openDiff({ lake })
  try {
    await printLines(diffSummaryLines(changes.summary))
  } finally {
    changes.close()
  }
}

const askQuestions = async (lake: string): Promise<void> => {
  const { askLake } = await import('../ask-lake.ts')
  const { printResult } = await import('../output/print-result.ts')
  await askLake({ lake }, async (query) => {
    for (const { title, sql } of QUESTIONS) {
      await heading(title)
      await printLines([sql, ''])
      await printResult(await query.run(sql), 'table')
    }
  })
}

/** @throws {ToolkitError} RECORDS_DIFFER */
const goRound = async (lake: string): Promise<void> => {
  const { checkRoundTrip, roundTrip, roundTripLines } = await import('../demo/round-trip.ts')
  const startedMs = performance.now()
  const line = new ProgressLine()
  const trip = await interruptible(async (signal) => {
    await heading('Served, and pulled into a second lake')
    return roundTrip(lake, signal, (step) => line.show(() => step))
  }, 'the server goes, and the second lake').finally(() => line.clear())
  await printLines(roundTripLines(lake, trip, (performance.now() - startedMs) / 1000))
  checkRoundTrip(trip)
}

const nextLines = (lake: string): string[] => {
  const program = IS_CHECKOUT ? 'npm run -s firmlake --' : 'firmlake'
  const call = (command: string): string => `  ${program} ${command} --lake ${lake}`
  return [
    'Tables, views and macros:',
    call('query'),
    'The changes of the second delivery, one by one:',
    call('diff'),
    'The lake in numbers:',
    call('status --partitions'),
    'The records as they came:',
    call('records --content companies'),
    'Is every byte as written?',
    call('verify'),
    'The same interface for you, at http://127.0.0.1:8080 (docs/serving.md):',
    call('serve'),
    'All commands:',
    `  ${program} --help`,
  ]
}

interface DemoQuestion {
  readonly title: string
  readonly sql: string
}

const YEARS = [2020, 2021, 2022, 2023, 2024] as const

/** Figures of different currencies cannot be ranked, so two questions keep to one. */
const QUESTIONS: readonly DemoQuestion[] = [
  {
    title: 'Sales that the second delivery restated',
    sql: `SELECT company_name, country_code AS country, fiscal_year, old_value, new_value, round(percent, 1) AS percent
FROM restatements
WHERE line_item = 'NetSales' AND new_currency = 'USD'
ORDER BY new_value DESC
LIMIT 5`,
  },
  {
    title: 'Net sales of the ten largest companies by year, in millions of USD',
    sql: `WITH sales AS (
  SELECT internal_id, fiscal_year, value / 1e6 AS millions
  FROM financials
  WHERE category = 'ProfitAndLoss' AND line_item = 'NetSales'
    AND consolidation = 'Consolidated' AND currency = 'USD' AND fiscal_year >= ${YEARS[0]}
)
SELECT c.company_name, c.country_code AS country,
${YEARS.map((year) => `  round(max(millions) FILTER (fiscal_year = ${year}), 1) AS "${year}"`).join(',\n')}
FROM sales JOIN companies c USING (internal_id)
GROUP BY internal_id, c.company_name, c.country_code
ORDER BY max_by(millions, fiscal_year) DESC, internal_id
LIMIT 10`,
  },
  {
    title: 'Share of companies with an EBITDA, by country',
    sql: `WITH with_ebitda AS (
  SELECT DISTINCT internal_id, true AS has_ebitda FROM financials WHERE line_item = 'EBITDA'
)
SELECT coalesce(country_code, '(none)') AS country, count(*) AS companies, count(has_ebitda) AS with_ebitda,
  round(100 * count(has_ebitda) / count(*), 1) AS percent
FROM companies LEFT JOIN with_ebitda USING (internal_id)
GROUP BY country_code
ORDER BY companies DESC, country`,
  },
]
