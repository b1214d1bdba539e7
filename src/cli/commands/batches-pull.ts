/** `batches pull`: batch files of the service into the lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import type { BatchSelection } from '../../pipeline/batch-files/choose-batch-files.ts'
import type { BatchPull } from '../../pipeline/batch-files/pull-batch-files.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { exitCodeOfReports } from '../exit-codes.ts'
import { type BatchFilter, batchFilterOptions, selectionOf } from '../options/batch-options.ts'
import { modeOption } from '../options/lake-mode.ts'
import { jsonOption, lakeOption, withExamples } from '../options/options.ts'
import {
  type SkipBadFilesOption,
  skipBadFilesOption,
  unknownOptions,
  workOptions,
} from '../options/run-options.ts'
import { serviceOptions, serviceUrl } from '../options/service-options.ts'
import { formatBytes, formatCounted } from '../output/format.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { type RunReport, reportLines, reportOf, warnOf } from '../output/run-report.ts'
import { type PullingOptions, pulling } from '../pulling.ts'

interface PullOptions extends PullingOptions, BatchFilter, SkipBadFilesOption {
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
  for (const option of [...workOptions(), ...unknownOptions(), skipBadFilesOption()])
    command.addOption(option)
  command.addOption(jsonOption()).action(runPull)
  withExamples(command, [
    ['batches pull --lake ./lake --new', 'whatever is new'],
    ['batches pull --lake ./lake --new --content companies --country SE,NO', 'some of it'],
    ['batches pull b-17 b-18 --lake ./lake', 'two files by their ids'],
  ])
}

/** @throws {ToolkitError} USAGE */
const chosenBy = (ids: readonly string[], options: PullOptions): BatchSelection => {
  const filtered = options.content !== undefined || options.country !== undefined
  if (ids.length > 0 && (options.new || filtered))
    throw new ToolkitError(
      'USAGE',
      'Cannot pull batch files by id together with --new, --content or --country: give either',
    )
  if (ids.length === 0 && !options.new && !filtered)
    throw new ToolkitError('USAGE', 'Cannot pull batch files: none is named, give ids or --new')
  return selectionOf(ids, options)
}

const UNNAMEABLE = 'its id in the listing holds half a character, and no address can name it'
/** A name that reads the same on every terminal: half a character stands as its escape. */
const nameOf = ({ name }: ListedBatchFile): string => JSON.stringify(name).slice(1, -1)

/** A run's report; of a pull without a run, as there was nothing to load, one without a run. */
const reportOfPull = (
  { summary, held, unnameable }: BatchPull,
  measured: Parameters<typeof reportOf>[1],
): Omit<RunReport, 'run'> & { readonly run: string | null } => {
  const nothing = { run: '', snapshot: undefined, partitions: [], skipped: [], leftOut: [] }
  const report = reportOf(summary ?? nothing, measured)
  const reason = 'the lake already holds it (--again loads it again)'
  const skipped = [
    ...held.map(({ name }) => ({ source: name, reason })),
    ...unnameable.map((file) => ({ source: nameOf(file), reason: UNNAMEABLE })),
    ...report.skipped,
  ]
  return { ...report, run: summary?.run ?? null, skipped }
}

const runPull = async (ids: string[], options: PullOptions): Promise<void> => {
  const selection = chosenBy(ids, options)
  const { pullBatches } = await import('../../pipeline/batch-files/pull-batch-files.ts')
  await pulling(options, async ({ line, watch, service, work, measured }) => {
    let loading = false
    const pulled = await work((run) =>
      pullBatches(serviceUrl(options), selection, options.again ?? false, {
        ...run,
        skipBadFiles: options.skipBadFiles,
        onEvent: (event) => {
          loading ||= event.kind === 'source'
          watch.onEvent(event)
        },
        onBytes: (bytes) => {
          if (!loading) line.show(() => `${formatBytes(bytes)} downloaded`)
        },
      }),
    )
    const report = reportOfPull(pulled, measured())
    for (const file of pulled.unnameable)
      note(`warning: batch file "${nameOf(file)}" is skipped: ${UNNAMEABLE}`)
    process.exitCode = exitCodeOfReports([report])
    if (options.json) return printJson({ lake: options.lake, service: service.origin, ...report })
    await printLines(linesOf(report, pulled.held.length))
    if (report.run !== null) warnOf({ ...report, run: report.run }, options.lake)
  })
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
