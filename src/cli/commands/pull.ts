/** `pull`: companies or relations of the service into the lake, by cursor. */

import { type Command, Option } from 'commander'
import { LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { PullReport } from '../../jobs/pull/pull.ts'
import { withExamples } from '../help.ts'
import { DETACHING, onEngineOr } from '../on-engine.ts'
import { type EngineFlags, engineOptions } from '../options/engine-options.ts'
import { jsonOption, lakeOption } from '../options/options.ts'
import { projectionOptions } from '../options/projection-options.ts'
import {
  contentArgument,
  type MaxGoneFlag,
  maxGoneOption,
  type RequireOption,
  requireOption,
  requireRecords,
  type SearchOptions,
  searchOf,
  searchOptions,
  settingsFor,
} from '../options/pull-options.ts'
import { modeOption, unknownOptions, workOptions } from '../options/run-options.ts'
import { type ServiceCommandOptions, serviceOptions, withService } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { pullJson, pullLines, warnOfPull, watchPull } from '../output/pull-report.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { type LoadJobFlags, runLoadJob } from '../run-job.ts'

interface PullCommandOptions
  extends LoadJobFlags,
    ServiceCommandOptions,
    SearchOptions,
    RequireOption,
    MaxGoneFlag,
    EngineFlags {}

export const addPull = (program: Command): void => {
  const command = program
    .command('pull')
    .summary('load companies or relations from the service into a lake')
    .description(
      'Pulls what a search finds, page by page, into a lake, all in one commit. A search with more companies ' +
        'than one cursor chain delivers is cut into windows first (see "firmlake plan"). An interrupted run ' +
        'resumes at its last page when the same command is run again.',
    )
    .addArgument(contentArgument())
    .addOption(lakeOption())
    .addOption(modeOption())
  for (const option of searchOptions()) command.addOption(option)
  command.addOption(
    new Option(
      '--since <day>',
      'first day (UTC), or "last": from the day before the last pull of the same search',
    ),
  )
  command.addOption(requireOption()).addOption(maxGoneOption())
  for (const option of serviceOptions('windows pulled side by side')) command.addOption(option)
  for (const option of [...workOptions(), ...unknownOptions(), ...projectionOptions(), ...engineOptions()])
    command.addOption(option)
  command.addOption(jsonOption()).action(runPull)
  withExamples(command, [
    [`pull companies --lake ./lake --search '{"CountryCode":["SE"]}' --currency SEK`, 'all of a country'],
    ['pull companies --lake ./lake --search @search.json --since last', 'what changed since the last time'],
    [
      `pull relations --lake ./lake --search '{"CountryCode":["NO"]}' --since 2026-01-01`,
      `the relations that changed this year; pages of ${LIMITS.pageSize.most}`,
    ],
  ])
}

const runPull = async (content: Content, flags: PullCommandOptions): Promise<void> => {
  const settings = settingsFor(content, await searchOf(flags.search), flags)
  const { lake, json, concurrency, maxGone } = flags
  const { pull } = await import('../../jobs/pull/pull.ts')
  let found = 0
  await runLoadJob<PullReport>(
    flags,
    (options, line) =>
      withService(flags, (from) =>
        onEngineOr(
          flags,
          line,
          () =>
            pull({ ...options, ...settings, from, concurrency, maxGone, onPull: watchPull(line).onEvent }),
          (jobs, on) => jobs.pullOnEngine({ ...options, ...settings, from }, on),
        ),
      ),
    async ({ pull: pulled, ...report }) => {
      found = pulled.entry.received
      if (json) return printJson({ lake, ...report, pull: pullJson(pulled) })
      await printLines([...reportLines(report), '', ...pullLines(pulled)])
      warnOf(report, lake)
      warnOfPull(pulled)
    },
    flags.engine && DETACHING,
  )
  requireRecords(found, content, flags)
}
