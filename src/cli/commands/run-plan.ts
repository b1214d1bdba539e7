/** `run plan`: cuts what there is to load into units of work. */

import { type Command, Option } from 'commander'
import { DEFAULT_MAX_DEPTH } from '../../check/drift/check-options.ts'
import type { Content } from '../../contract/objects.ts'
import { DECODE_LIMITS } from '../../core/decode-limits.ts'
import type { PlanRunOptions, RunLoad } from '../../jobs/steps/run-steps.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  contentOption,
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  wholeNumber,
} from '../options/options.ts'
import { type LakeProjectionFlags, projectionOf, projectionOptions } from '../options/projection-options.ts'
import {
  byOption,
  closeGapOption,
  contentArgument,
  currencyOption,
  keepingGap,
  type SearchOptions,
  searchOf,
  searchOption,
  searchOptions,
  settingsFor,
} from '../options/pull-options.ts'
import {
  bytesOption,
  changeCurrencyOption,
  checkMode,
  memoryOption,
  modeOption,
  partitionsOption,
  skipBadFilesOption,
  type UnknownOptions,
  unknownOptions,
} from '../options/run-options.ts'
import {
  type BatchFilter,
  batchFilterOptions,
  type ServiceCommandOptions,
  serviceOptions,
  withService,
} from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'

interface PlanFlags extends LakeOption, JsonOption, UnknownOptions, LakeProjectionFlags {
  readonly mode?: number
  readonly memory: number
  readonly threads?: number
  readonly changeCurrency?: true
  readonly again?: true
  readonly skipBadFiles?: true
  readonly unitBytes?: number
  readonly maxRequestsPerSecond?: number
}

interface ConvertFlags extends PlanFlags {
  readonly content?: Content
  readonly maxLineBytes: number
  readonly maxRatio: number
  readonly maxDepth: number
}

const EACH_MACHINE = 'Every machine that works on the run must find the files under the same paths.'

const addCommon = (command: Command, more: readonly Option[]): void => {
  const common = [
    lakeOption(),
    modeOption(),
    ...more,
    memoryOption(),
    partitionsOption(),
    ...unknownOptions(),
    ...projectionOptions(),
  ]
  for (const option of [...common, jsonOption()]) command.addOption(option)
}

const againOption = (): Option => new Option('--again', 'load files that the lake already holds again')

const addConvert = (group: Command): void => {
  const command = group
    .command('convert')
    .summary('files')
    .description(
      'Plans a run over files: consecutive small ones are one unit, a large one is several ranges of its blocks. ' +
        `Files that the lake already holds are skipped. ${EACH_MACHINE}`,
    )
    .argument('<path...>', 'files, folders, patterns')
  addCommon(command, [
    contentOption('what the files hold (default: detected for each)'),
    againOption(),
    skipBadFilesOption(),
    bytesOption('--unit-bytes <bytes>', 'stored bytes of the files of a unit', 64 * 1024 ** 2, '64MiB'),
    bytesOption('--max-line-bytes <bytes>', 'longest line', DECODE_LIMITS.maxLineBytes, '16MiB'),
    new Option('--max-ratio <n>', 'most decoded bytes for one compressed byte')
      .argParser(wholeNumber('--max-ratio'))
      .default(DECODE_LIMITS.maxRatio),
    new Option('--max-depth <n>', 'deepest nesting of a record')
      .argParser(wholeNumber('--max-depth'))
      .default(DEFAULT_MAX_DEPTH),
  ])
  command.action((from: string[], flags: ConvertFlags) => {
    const { content, maxLineBytes, maxRatio, maxDepth } = flags
    return plan(flags, { load: 'convert', from, content, maxLineBytes, maxRatio, maxDepth })
  })
  withExamples(command, [['run plan convert batches/ --lake s3://bucket/lake --json', 'a folder']])
}

interface PullFlags extends PlanFlags, ServiceCommandOptions, SearchOptions {}

/** The first day. */
const sinceOption = (): Option =>
  new Option(
    '--since <day>',
    'first day (UTC), or "last": from the day before the last pull of the same search',
  )

const ALL_WORKERS = 'windows listed side by side'

const addPull = (group: Command): void => {
  const command = group
    .command('pull')
    .summary('what a search finds at the service')
    .description(
      'Plans a pull: a window is a unit; windows that still grow are a phase of their own. ' +
        '--max-requests-per-second is of all workers together, and each takes its share.',
    )
    .addArgument(contentArgument())
  addCommon(command, [
    ...searchOptions(),
    sinceOption(),
    ...serviceOptions(ALL_WORKERS),
    changeCurrencyOption(),
  ])
  command.action(async (content: Content, flags: PullFlags) => {
    const settings = settingsFor(content, await searchOf(flags.search), flags)
    await withService(flags, (from) => plan(flags, { load: 'pull', from, ...settings }))
  })
  withExamples(command, [
    [
      `run plan pull companies --lake s3://bucket/lake --search '{"CountryCode":["SE"]}' --max-requests-per-second 20`,
      'all of a country, by workers that share 20 requests a second',
    ],
  ])
}

const addSync = (group: Command): void => {
  const command = group
    .command('sync')
    .summary('the companies of a search that are new or changed')
    .description(
      'Plans a sync: lists the companies of the search and compares them with the lake, now and on this machine; what ' +
        'is new or changed is fetched by the workers.',
    )
  addCommon(command, [
    ...[searchOption(), currencyOption(), byOption(), closeGapOption()],
    ...serviceOptions(ALL_WORKERS),
    changeCurrencyOption(),
  ])
  command.action(async (flags: PullFlags) => {
    const { currency, by, closeGap } = flags
    const asked = { search: await searchOf(flags.search), currency, by, ...keepingGap({ closeGap }) }
    await withService(flags, (from) => plan(flags, { load: 'sync', from, ...asked }))
  })
  withExamples(command, [[`run plan sync --lake ./lake --search '{"CountryCode":["SE"]}'`, 'a country']])
}

const addBatches = (group: Command): void => {
  const command = group
    .command('batches')
    .summary('batch files of the service')
    .description(
      'Plans a pull of batch files: a file is a unit. Without ids all that the lake does not hold.',
    )
    .argument('[id...]', 'ids of the files, see "firmlake batches list"')
  addCommon(command, [
    ...batchFilterOptions(),
    againOption(),
    skipBadFilesOption(),
    ...serviceOptions('files downloaded side by side'),
  ])
  command.action(async (ids: string[], flags: PlanFlags & ServiceCommandOptions & BatchFilter) => {
    const { content, country: countries } = flags
    const { batchFiles } = await import('../../jobs/common/inputs.ts')
    const choice = ids.length > 0 ? { ids, content, countries } : { content, countries }
    await withService(flags, (service) => plan(flags, { load: 'batches', from: batchFiles(service, choice) }))
  })
  withExamples(command, [
    ['run plan batches --lake ./lake --country SE,NO', 'whatever is new of two countries'],
  ])
}

export const addRunPlan = (group: Command): void => {
  const command = group
    .command('plan')
    .summary('cut what there is to load into units')
    .description(
      'Cuts what there is to load into units of work and stores them in the lake. Loads nothing. The same plan again ' +
        'gives the run that is there, as long as it is not finished.',
    )
  addConvert(command)
  addPull(command)
  addSync(command)
  addBatches(command)
}

const plan = async (flags: PlanFlags, load: RunLoad): Promise<void> => {
  await checkMode(flags)
  const { lake, json, mode, memory: memoryBytes, threads, again, skipBadFiles, unitBytes } = flags
  const { changeCurrency, maxRequestsPerSecond, maxUnknownPerRecord, maxUnknownNames } = flags
  const common = { lake, mode, memoryBytes, threads, again, skipBadFiles, unitBytes, changeCurrency }
  const { planRun } = await import('../../jobs/steps/run-steps.ts')
  const planned = await interruptible((signal) => {
    const options: PlanRunOptions = {
      ...load,
      ...{ ...common, maxRequestsPerSecond, maxUnknownPerRecord, maxUnknownNames, signal },
      ...{ take: projectionOf(flags), changeTaken: flags.changeTaken },
    }
    return planRun(options)
  }, 'no run is begun')
  if (json) return printJson({ lake, ...planned })
  const { run, units, phases, existing, skipped } = planned
  const counts = phases.map(({ count }) => formatCount(count)).join(' + ')
  await printLines([
    ...(run === null
      ? ['Nothing to load: no run was begun.']
      : [
          `${existing ? 'The run is there already' : 'Planned run'}: ${run}`,
          `${formatCounted(units, 'unit')}${phases.length > 1 ? ` in ${formatCounted(phases.length, 'phase')} (${counts})` : ''}`,
        ]),
    ...(skipped.length > 0
      ? ['', 'Skipped:', ...skipped.map((one) => `  ${one.source}: ${one.reason}`)]
      : []),
  ])
}
