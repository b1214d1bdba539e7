/** `sync`: brings the companies of a search in a lake up to date by comparing timestamps. */

import type { Command } from 'commander'
import type { SyncReport } from '../../jobs/sync.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import type { SyncOptions } from '../../options/interfaces.ts'
import { SYNC } from '../../options/search.ts'
import { formatBytes, formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { DETACHING, onEngineOr, planOnly } from '../on-engine.ts'
import { readingSearch, requireRecords } from '../options/pull-options.ts'
import { withService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import type { ProgressLine } from '../output/progress-line.ts'
import { currencyLines, nothingFound, warnOfPull } from '../output/pull-report.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { runLoadJob } from '../run-job.ts'

type Synced = SyncReport['sync']

export const addSync = (program: Command): void => {
  addCommand(program, {
    name: 'sync',
    summary: 'fetch the companies that are new or changed',
    description:
      'Lists the companies of a search with their timestamps, compares these with the lake, and loads in full ' +
      'only what is new or changed. Companies of the lake that no search has any more are kept and not shown.',
    options: SYNC,
    run: runSync,
    examples: [
      [`sync --lake ./lake --search '{"CountryCode":["SE"]}' --currency SEK`, 'the companies of a country'],
    ],
  })
}

const runSync = async (given: ValuesOf<typeof SYNC>, command: Command): Promise<void> => {
  const values = await readingSearch(given)
  const asked = askedOf(SYNC, values)
  const { lake, json } = values
  if (values.planOnly)
    return withService(values, (from) => planOnly(command, values, { load: 'sync', ...asked, from }))
  const { sync } = await import('../../jobs/sync.ts')
  let found = 0
  await runLoadJob<SyncReport>(
    values,
    (job, line) =>
      withService(values, (from) =>
        onEngineOr(
          values,
          line,
          () => sync({ ...asked, ...job, from, onSync: syncEvents(line) }),
          (jobs, on) => jobs.syncOnEngine({ ...asked, ...job, from }, on),
        ),
      ),
    async ({ sync: synced, ...report }) => {
      found = synced.findings.listed
      if (json) return printJson({ lake, ...report, sync: syncJson(synced) })
      await printLines([...syncLines(synced), '', ...reportLines(report)])
      warnOf(report, lake)
      warnOfPull(synced)
    },
    values.engine && DETACHING,
  )
  requireRecords(found, 'companies', values)
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
