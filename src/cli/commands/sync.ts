/** `sync`: brings the companies of a search in a lake up to date by comparing timestamps. */

import type { Command } from 'commander'
import type { SyncOptions, SyncReport } from '../../jobs/sync/sync.ts'
import { formatBytes, formatCount, formatCounted } from '../../support/format.ts'
import { withExamples } from '../help.ts'
import { DETACHING, onEngineOr } from '../on-engine.ts'
import { type EngineFlags, engineOptions } from '../options/engine-options.ts'
import { jsonOption, lakeOption } from '../options/options.ts'
import { projectionOptions } from '../options/projection-options.ts'
import {
  byOption,
  closeGapOption,
  currencyOption,
  keepingGap,
  type MaxGoneFlag,
  maxGoneOption,
  type RequireOption,
  requireOption,
  requireRecords,
  type SearchOptions,
  searchOf,
  searchOption,
} from '../options/pull-options.ts'
import { modeOption, unknownOptions, workOptions } from '../options/run-options.ts'
import { type ServiceCommandOptions, serviceOptions, withService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import type { ProgressLine } from '../output/progress-line.ts'
import { currencyLines, nothingFound, warnOfPull } from '../output/pull-report.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { type LoadJobFlags, runLoadJob } from '../run-job.ts'

type Synced = SyncReport['sync']

interface SyncCommandOptions
  extends LoadJobFlags,
    ServiceCommandOptions,
    RequireOption,
    MaxGoneFlag,
    EngineFlags,
    Pick<SearchOptions, 'search' | 'currency' | 'by' | 'closeGap'> {}

export const addSync = (program: Command): void => {
  const command = program
    .command('sync')
    .summary('fetch the companies that are new or changed')
    .description(
      'Lists the companies of a search with their timestamps, compares these with the lake, and loads in full ' +
        'only what is new or changed. Companies of the lake that no search has any more are kept and not shown.',
    )
    .addOption(lakeOption())
    .addOption(modeOption())
    .addOption(searchOption())
    .addOption(currencyOption())
    .addOption(byOption())
    .addOption(closeGapOption())
    .addOption(requireOption())
    .addOption(maxGoneOption())
  for (const option of serviceOptions('windows listed or pulled side by side')) command.addOption(option)
  for (const option of [...workOptions(), ...unknownOptions(), ...projectionOptions(), ...engineOptions()])
    command.addOption(option)
  command.addOption(jsonOption()).action(runSync)
  withExamples(command, [
    [`sync --lake ./lake --search '{"CountryCode":["SE"]}' --currency SEK`, 'the companies of a country'],
  ])
}

const runSync = async (flags: SyncCommandOptions): Promise<void> => {
  const { lake, json, currency, by, closeGap, concurrency, maxGone } = flags
  const asked = { search: await searchOf(flags.search), currency, by, ...keepingGap({ closeGap }) }
  const { sync } = await import('../../jobs/sync/sync.ts')
  let found = 0
  await runLoadJob<SyncReport>(
    flags,
    (options, line) =>
      withService(flags, (from) =>
        onEngineOr(
          flags,
          line,
          () => sync({ ...options, ...asked, from, concurrency, maxGone, onSync: syncEvents(line) }),
          (jobs, on) => jobs.syncOnEngine({ ...options, ...asked, from }, on),
        ),
      ),
    async ({ sync: synced, ...report }) => {
      found = synced.findings.listed
      if (json) return printJson({ lake, ...report, sync: syncJson(synced) })
      await printLines([...syncLines(synced), '', ...reportLines(report)])
      warnOf(report, lake)
      warnOfPull(synced)
    },
    flags.engine && DETACHING,
  )
  requireRecords(found, 'companies', flags)
}

const syncEvents = (line: ProgressLine): NonNullable<SyncOptions['onSync']> => {
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

const syncLines = (synced: Synced): string[] => {
  const { findings, fetched, counters } = synced
  const { listed, new: added, changed, unchanged, vanished: gone } = findings
  return [
    ...(listed === 0 ? [nothingFound('companies')] : []),
    `${formatCount(listed)} listed: ${formatCount(added.length)} new, ${formatCount(changed.length)} changed, ` +
      `${formatCount(unchanged)} unchanged; ${formatCount(fetched)} fetched in full`,
    gone === undefined
      ? 'Whether companies left the search is unknown: the lake cannot tell which of its companies match this search'
      : `${formatCount(gone.length)} left the search: in the lake, and no longer found`,
    `${formatCounted(counters.requests, 'request')} (${formatCount(counters.retries)} again), ${formatBytes(counters.bytes)}`,
    ...currencyLines(synced),
  ]
}

const syncJson = ({ entry, plan, findings, fetched, counters, currencyBefore }: Synced): object => ({
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
