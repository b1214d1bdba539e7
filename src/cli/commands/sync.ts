/** `sync`: brings the companies of a search in a lake up to date by comparing timestamps. */

import type { Command } from 'commander'
import type { SyncRunOptions, SyncSummary } from '../../pipeline/sync/sync.ts'
import { modeOption } from '../options/lake-mode.ts'
import { jsonOption, lakeOption, withExamples } from '../options/options.ts'
import {
  byOption,
  closeGapOption,
  currencyOption,
  keepingGap,
  type RequireOption,
  requireOption,
  requireRecords,
  type SearchOptions,
  searchOf,
  searchOption,
} from '../options/pull-options.ts'
import { unknownOptions, workOptions } from '../options/run-options.ts'
import { serviceOptions, serviceUrl } from '../options/service-options.ts'
import { formatBytes, formatCount, formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'
import type { ProgressLine } from '../output/progress-line.ts'
import { currencyLines, nothingFound, warnOfPull } from '../output/pull-report.ts'
import { reportLines, reportOf, warnOf } from '../output/run-report.ts'
import { type PullingOptions, pulling } from '../pulling.ts'

interface SyncCommandOptions
  extends PullingOptions,
    RequireOption,
    Pick<SearchOptions, 'search' | 'currency' | 'by' | 'closeGap'> {}

export const addSync = (program: Command): void => {
  const command = program
    .command('sync')
    .summary('fetch the companies that are new or changed')
    .description(
      'Lists the companies of a search with their timestamps, compares these with the lake, and loads in full ' +
        'only what is new or changed. Companies of the lake that the search no longer has are reported and kept.',
    )
    .addOption(lakeOption())
    .addOption(modeOption())
    .addOption(searchOption())
    .addOption(currencyOption())
    .addOption(byOption())
    .addOption(closeGapOption())
    .addOption(requireOption())
  for (const option of serviceOptions('windows listed or pulled side by side')) command.addOption(option)
  for (const option of [...workOptions(), ...unknownOptions()]) command.addOption(option)
  command.addOption(jsonOption()).action(runSync)
  withExamples(command, [
    [`sync --lake ./lake --search '{"CountryCode":["SE"]}' --currency SEK`, 'the companies of a country'],
  ])
}

const runSync = async (options: SyncCommandOptions): Promise<void> => {
  const { currency, by, closeGap } = options
  const asked = { search: await searchOf(options.search), currency, by, ...keepingGap({ closeGap }) }
  const { sync } = await import('../../pipeline/sync/sync.ts')
  let found = 0
  await pulling(options, async ({ line, work, measured }) => {
    const synced = await work((run) => sync(serviceUrl(options), asked, { ...run, onSync: syncEvents(line) }))
    found = synced.findings.listed
    const report = reportOf(synced.summary, measured())
    if (options.json) return printJson({ lake: options.lake, ...report, sync: syncJson(synced) })
    await printLines([...syncLines(synced), '', ...reportLines(report)])
    warnOf(report, options.lake)
    warnOfPull(synced)
  })
  requireRecords(found, 'companies', options)
}

const syncEvents = (line: ProgressLine): NonNullable<SyncRunOptions['onSync']> => {
  let listed = 0
  return (event) => {
    if (event.kind === 'planned')
      line.log(
        `${formatCounted(event.plan.announced, 'company', 'companies')} to list, in ` +
          formatCounted(event.plan.windows.length, 'window'),
      )
    else if (event.kind === 'listed') {
      listed += event.records
      line.show(() => `${formatCounted(listed, 'company', 'companies')} listed`)
    } else if (event.kind === 'compared') {
      const { new: added, changed } = event.findings
      line.log(`${formatCount(added.length)} new, ${formatCount(changed.length)} changed`)
    }
  }
}

const syncLines = (synced: SyncSummary): string[] => {
  const { findings, fetched, counters } = synced
  const { listed, new: added, changed, unchanged, vanished } = findings
  return [
    ...(listed === 0 ? [nothingFound('companies')] : []),
    `${formatCount(listed)} listed: ${formatCount(added.length)} new, ${formatCount(changed.length)} changed, ` +
      `${formatCount(unchanged)} unchanged; ${formatCount(fetched)} fetched in full`,
    vanished === undefined
      ? 'Whether companies vanished is unknown: the lake cannot tell which of its companies match this search'
      : `${formatCount(vanished.length)} vanished: in the lake, and not found by this search any more`,
    `${formatCounted(counters.requests, 'request')} (${formatCount(counters.retries)} again), ${formatBytes(counters.bytes)}`,
    ...currencyLines(synced),
  ]
}

const syncJson = ({ entry, plan, findings, fetched, counters, currencyBefore }: SyncSummary): object => ({
  ...entry,
  ...(currencyBefore !== undefined && { currencyBefore }),
  gap: entry.gapLeft ?? 0,
  probes: plan.probes + (plan.closing?.probes ?? 0),
  nothingFound: findings.listed === 0,
  listed: findings.listed,
  new: findings.new.length,
  changed: findings.changed.length,
  unchanged: findings.unchanged,
  vanished: findings.vanished ?? null,
  fetched,
  ...counters,
})
