/** `batches pull`: batch files of the service into the lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { unnameableReason } from '../../jobs/batch-files/choose-batch-files.ts'
import type { BatchFilesReport } from '../../jobs/batch-files/pull-batch-files.ts'
import type { BatchFilesChoice } from '../../jobs/common/inputs.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { DETACHING, onEngineOr } from '../on-engine.ts'
import { type BatchFilter, batchFilterOptions } from '../options/batch-options.ts'
import { type EngineFlags, engineOptions } from '../options/engine-options.ts'
import { modeOption } from '../options/lake-mode.ts'
import { jsonOption, lakeOption, withExamples } from '../options/options.ts'
import {
  type SkipBadFilesOption,
  skipBadFilesOption,
  unknownOptions,
  workOptions,
} from '../options/run-options.ts'
import { type ServiceCommandOptions, serviceOptions, withService } from '../options/service-options.ts'
import { lakeTakeOptions } from '../options/take-options.ts'
import { formatBytes, formatCounted } from '../output/format.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { type LoadJobFlags, runLoadJob } from '../run-job.ts'

interface PullFlags
  extends LoadJobFlags,
    ServiceCommandOptions,
    BatchFilter,
    SkipBadFilesOption,
    EngineFlags {
  readonly new?: true
  readonly again?: true
}

export const addBatchesPull = (batches: Command): void => {
  const command = batches
    .command('pull')
    .summary('load batch files of the service into a lake')
    .description(
      'Downloads batch files and loads them into a lake, all in one commit. Files that the lake holds already ' +
        'are skipped. An interrupted download resumes when the same command is run again.',
    )
    .argument('[id...]', 'ids of the files, see "firmlake batches list"')
    .addOption(lakeOption())
    .addOption(modeOption())
    .option('--new', 'all files that the lake does not hold')
  for (const option of batchFilterOptions()) command.addOption(option)
  command.option('--again', 'load files that the lake already holds again')
  for (const option of serviceOptions('files downloaded side by side')) command.addOption(option)
  for (const option of [
    ...workOptions(),
    ...unknownOptions(),
    ...lakeTakeOptions(),
    skipBadFilesOption(),
    ...engineOptions(),
  ])
    command.addOption(option)
  command.addOption(jsonOption()).action(runPull)
  withExamples(command, [
    ['batches pull --lake ./lake --new', 'whatever is new'],
    ['batches pull --lake ./lake --new --content companies --country SE,NO', 'some of it'],
    ['batches pull b-17 b-18 --lake ./lake', 'two files by their ids'],
  ])
}

/** @throws {ToolkitError} USAGE */
const chosenBy = (
  ids: readonly string[],
  { new: all, content, country: countries }: PullFlags,
): BatchFilesChoice => {
  const filtered = content !== undefined || countries !== undefined
  if (ids.length > 0 && (all || filtered))
    throw new ToolkitError(
      'USAGE',
      'Cannot pull batch files by id together with --new, --content or --country: give either',
    )
  if (ids.length === 0 && !all && !filtered)
    throw new ToolkitError('USAGE', 'Cannot pull batch files: none is named, give ids or --new')
  return ids.length > 0 ? { ids } : { content, countries }
}

/** A name that reads the same on every terminal: half a character stands as its escape. */
const nameOf = ({ name }: ListedBatchFile): string => JSON.stringify(name).slice(1, -1)

/** As it is printed: files that were not downloaded were skipped. */
const reportOfPull = ({ held, unnameable, ...report }: BatchFilesReport) => {
  const reason = 'the lake already holds it (--again loads it again)'
  const skipped = [
    ...held.map(({ name }) => ({ source: name, reason })),
    ...unnameable.map((file) => ({ source: nameOf(file), reason: unnameableReason(file) })),
    ...report.skipped,
  ]
  return { ...report, skipped }
}

const runPull = async (ids: string[], flags: PullFlags): Promise<void> => {
  const choice = chosenBy(ids, flags)
  const { lake, json, again, skipBadFiles, concurrency } = flags
  const { pullBatchFiles } = await import('../../jobs/batch-files/pull-batch-files.ts')
  const { batchFiles } = await import('../../jobs/common/inputs.ts')
  let origin = ''
  await runLoadJob<BatchFilesReport>(
    flags,
    (options, line) =>
      withService(flags, (service) => {
        origin = service.origin
        let loading = false
        const from = batchFiles(service, choice)
        const here = () =>
          pullBatchFiles({
            ...{ ...options, from, again, skipBadFiles, concurrency },
            onEvent: (event) => {
              loading ||= event.kind === 'source'
              options.onEvent?.(event)
            },
            onBytes: (bytes) => {
              if (!loading) line.show(() => `${formatBytes(bytes)} downloaded`)
            },
          })
        return onEngineOr(flags, line, here, async (on) =>
          (await import('../../jobs/steps/on-engine.ts')).batchFilesOnEngine(
            { ...options, from, again, skipBadFiles },
            on,
          ),
        )
      }),
    async (pulled) => {
      const report = reportOfPull(pulled)
      for (const file of pulled.unnameable)
        note(`warning: batch file "${nameOf(file)}" is skipped: ${unnameableReason(file)}`)
      if (json) return printJson({ lake, service: origin, ...report })
      await printLines(linesOf(report, pulled.held.length))
      if (report.run !== null) warnOf({ ...report, run: report.run }, lake)
    },
    flags.engine && DETACHING,
  )
}

const linesOf = (report: ReturnType<typeof reportOfPull>, held: number): string[] => {
  const { run } = report
  if (run !== null) return reportLines({ ...report, run })
  return [
    held > 0
      ? `Nothing new to load: the lake holds ${formatCounted(held, 'file')} that the service offers.`
      : 'Nothing to load: the service offers no such batch file.',
  ]
}
