/** `batches` and its sub-commands `list`, `make` and `pull`: files of a whole lake. */

import type { Command } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { servingMemory } from '../../core/memory-shares.ts'
import type { BatchFilesReport } from '../../jobs/pull-batch-files.ts'
import { JSON_OUTPUT, LAKE, MEMORY, SNAPSHOT, THREADS } from '../../options/common.ts'
import { askedOf, type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { BATCH_FILTER, PULL_BATCH_FILES } from '../../options/search.ts'
import { atOnce, calling } from '../../options/service.ts'
import { whole } from '../../options/value-types.ts'
import { nothingReason, skippedFiles } from '../../pull/batch-files/choose-batch-files.ts'
import type { MadeBatchFiles } from '../../server/batch-files/make-batch-files.ts'
import type { BatchFilesChoice } from '../../source/inputs.ts'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { formatBytes, formatCount, formatCounted } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { DETACHING, onEngineOr, planOnly } from '../on-engine.ts'
import { serviceOf, withService } from '../options/service-options.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { reportLines, warnOf } from '../output/run-report.ts'
import { textTable } from '../output/text-table.ts'
import { runLoadJob } from '../run-job.ts'

export const addBatches = (program: Command): void => {
  const group = program
    .command('batches')
    .summary('make, list and pull batch files')
    .description('Batch files hold all records of a country: JSON Lines in Brotli.')
  addBatchesMake(group)
  addBatchesList(group)
  addBatchesPull(group)
}

const LIST = {
  ...BATCH_FILTER,
  ...calling(atOnce('requests at once')),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

const addBatchesList = (batches: Command): void => {
  addCommand(batches, {
    name: 'list',
    summary: 'list the batch files of the service',
    description:
      'Lists the batch files that the service offers to the account, oldest first where it dates them.',
    options: LIST,
    run: runList,
    examples: [
      ['batches list', 'all files, of the service at FIRMLAKE_URL'],
      ['batches list --content companies --country SE,NO', 'some of them'],
    ],
  })
}

const tableOf = (files: readonly ListedBatchFile[]): string[] =>
  textTable(
    [
      ...['id', 'name', 'content', 'country'].map((title) => ({ title })),
      ...['size', 'records'].map((title) => ({ title, right: true })),
      { title: 'created' },
    ],
    files.map(({ id, name, content, countryCode, sizeBytes, count, createdAt }) => [
      id,
      name,
      content ?? '–',
      countryCode ?? '–',
      sizeBytes === undefined ? '–' : formatBytes(sizeBytes),
      count === undefined ? '–' : formatCount(count),
      createdAt ?? '–',
    ]),
  )

const NONE_OF_THEM = 'The service lists no such batch file.'
const NONE_AT_ALL =
  'The service lists no batch files. Where it is "firmlake serve", "firmlake batches make" makes them of its lake.'

const runList = async (options: ValuesOf<typeof LIST>): Promise<void> => {
  const { chooseBatchFiles } = await import('../../pull/batch-files/choose-batch-files.ts')
  const { batchSelection } = await import('../../jobs/pull-batch-files.ts')
  const { content, countries } = options
  const service = await serviceOf(options)
  try {
    const onIdless = (name: string): void =>
      note(
        `warning: the listing gives no id for ${name === '' ? 'an entry' : JSON.stringify(name)}, it is left out`,
      )
    const listed = await interruptible((signal) => service.batchFiles({ signal, onIdless }))
    const lake = { snapshot: null, service: service.origin, again: true }
    const { files: nameable, unnameable } = chooseBatchFiles(
      listed,
      batchSelection({ content, countries }),
      lake,
    )
    const files = [...nameable, ...unnameable]
    if (options.json) return await printJson({ service: service.origin, batchFiles: files })
    await printLines(files.length > 0 ? tableOf(files) : [listed.length > 0 ? NONE_OF_THEM : NONE_AT_ALL])
  } finally {
    await service.close()
  }
}

const MAKE = {
  lake: LAKE,
  companiesPerFile: withDefault(whole(), 'most records of a file', '100000'),
  snapshot: option(SNAPSHOT.type, 'of this snapshot', { otherwise: SNAPSHOT.otherwise }),
  memoryBytes: MEMORY,
  threads: THREADS,
  json: JSON_OUTPUT,
} as const satisfies OptionTable

const addBatchesMake = (group: Command): void => {
  addCommand(group, {
    name: 'make',
    summary: 'make the batch files of a snapshot',
    description:
      'Writes all records of a snapshot as batch files by content and country, in the order of their ids. A running ' +
      'server offers them at once. Files of older snapshots are removed. Where the snapshot has its files already, ' +
      'nothing is done.',
    options: MAKE,
    run: (values) => interruptible((signal) => runMake(values, signal)),
    examples: [['batches make --lake ./lake', 'files for download']],
  })
}

const runMake = async (
  { lake, snapshot, companiesPerFile, memoryBytes: memory, threads, json }: ValuesOf<typeof MAKE>,
  signal: AbortSignal,
): Promise<void> => {
  const { makeBatchFiles } = await import('../../server/batch-files/make-batch-files.ts')
  const { currentIndex } = await import('../../server/serving-index/build/current-index.ts')
  const { chooseEmbedder } = await import('../../server/ranking/choose-embedder.ts')
  const { indexProgress } = await import('../serving.ts')
  const progress = indexProgress()
  const embedder = await chooseEmbedder(process.env, signal)
  const memoryBytes = servingMemory(memory)
  const { onProgress, onUnusable } = progress
  const index = await currentIndex({
    lake,
    snapshot,
    memoryBytes,
    threads,
    embedder,
    signal,
    onProgress,
    onUnusable,
  }).finally(progress.clear)
  try {
    const made = await makeBatchFiles({
      lake,
      index,
      companiesPerFile,
      signal,
      onDamaged: (reason) => note(`${reason}. The files are made again`),
      onFile: ({ FileName, Count, SizeInBytes }) =>
        json || note(`  ${FileName}: ${formatCounted(Count, 'record')}, ${formatBytes(SizeInBytes)}`),
    })
    await (json ? printJson({ lake, ...made }) : printLines(madeLines(made)))
    await noteTaken(lake, { snapshot })
  } finally {
    await index.close()
  }
}

const madeLines = ({ snapshot, files, made }: MadeBatchFiles): string[] => {
  const records = files.reduce((sum, { Count }) => sum + Count, 0)
  const bytes = files.reduce((sum, { SizeInBytes }) => sum + SizeInBytes, 0)
  const what = `${formatCounted(files.length, 'batch file')} of snapshot ${snapshot}: ${formatCount(records)} records, ${formatBytes(bytes)}`
  return [made ? `Made ${what}.` : `There already: ${what}.`]
}

type PullValues = ValuesOf<typeof PULL_BATCH_FILES>

const addBatchesPull = (batches: Command): void => {
  addCommand(batches, {
    name: 'pull',
    summary: 'load batch files of the service into a lake',
    description:
      'Downloads batch files and loads them into a lake, all in one commit. Files that the lake holds already ' +
      'are skipped. An interrupted download resumes when the same command is run again.',
    options: PULL_BATCH_FILES,
    run: runPull,
    examples: [
      ['batches pull --lake ./lake --new', 'whatever is new'],
      ['batches pull --lake ./lake --new --content companies --country SE,NO', 'some of it'],
      ['batches pull b-17 b-18 --lake ./lake', 'two files by their ids'],
    ],
  })
}

/** @throws {ToolkitError} USAGE */
const chosenBy = ({ ids = [], new: all, content, countries }: PullValues): BatchFilesChoice => {
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

/** As it is printed: files that were not downloaded were skipped. */
const reportOfPull = ({ held, discarded, unnameable, ...report }: BatchFilesReport) => ({
  ...report,
  skipped: [...skippedFiles({ held, discarded, unnameable }), ...report.skipped],
})

const runPull = async (values: PullValues, command: Command): Promise<void> => {
  const choice = chosenBy(values)
  const asked = askedOf(PULL_BATCH_FILES, values)
  const { lake, json } = values
  const { batchFiles } = await import('../../source/inputs.ts')
  if (values.planOnly)
    return withService(values, (service) =>
      planOnly(command, values, { load: 'batches', from: batchFiles(service, choice) }),
    )
  const { pullBatchFiles } = await import('../../jobs/pull-batch-files.ts')
  let origin = ''
  await runLoadJob<BatchFilesReport>(
    values,
    (job, line) =>
      withService(values, (service) => {
        origin = service.origin
        let loading = false
        const from = batchFiles(service, choice)
        const here = () =>
          pullBatchFiles({
            ...{ ...asked, ...job, from },
            onEvent: (event) => {
              loading ||= event.kind === 'source'
              job.onEvent?.(event)
            },
            onBytes: (bytes) => {
              if (!loading) line.show(() => `${formatBytes(bytes)} downloaded`)
            },
          })
        return onEngineOr(values, line, here, (jobs, on) =>
          jobs.batchFilesOnEngine({ ...asked, ...job, from }, on),
        )
      }),
    async (pulled) => {
      const report = reportOfPull(pulled)
      for (const { source, reason } of skippedFiles({ unnameable: pulled.unnameable }))
        note(`warning: batch file "${source}" is skipped: ${reason}`)
      if (json) return printJson({ lake, service: origin, ...report })
      await printLines(linesOf(report, pulled))
      if (report.run !== null) warnOf({ ...report, run: report.run }, lake)
    },
    values.engine && DETACHING,
  )
}

const linesOf = (report: ReturnType<typeof reportOfPull>, pulled: BatchFilesReport): string[] => {
  const { run } = report
  return run === null ? [`Nothing to load: ${nothingReason(pulled)}.`] : reportLines({ ...report, run })
}
