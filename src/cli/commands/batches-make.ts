/** `batches make`: batch files of a snapshot, which `serve` offers. */

import type { Command } from 'commander'
import { servingMemory } from '../../run/memory-shares.ts'
import type { MadeBatchFiles } from '../../server/batch-files/make-batch-files.ts'
import { interruptible } from '../interrupt.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'
import { memoryOption, threadsOption } from '../options/run-options.ts'
import { formatBytes, formatCount, formatCounted } from '../output/format.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { noteTaken } from '../output/taken-note.ts'

interface MakeOptions extends LakeOption, JsonOption, SnapshotOption {
  readonly companiesPerFile: number
  readonly memory: number
  readonly threads: number
}

const COMPANIES_PER_FILE = 100_000

export const addBatchesMake = (group: Command): void => {
  const command = group
    .command('make')
    .summary('make the batch files of a snapshot')
    .description(
      'Writes all records of a snapshot as batch files by content and country, in the order of their ids. A running ' +
        'server offers them at once. Files of older snapshots are removed. Where the snapshot has its files already, ' +
        'nothing is done.',
    )
    .addOption(lakeOption())
    .option(
      '--companies-per-file <n>',
      'most records of a file',
      wholeNumber('--companies-per-file'),
      COMPANIES_PER_FILE,
    )
    .addOption(snapshotOption('of this snapshot (default: the newest)'))
    .addOption(memoryOption())
    .addOption(threadsOption())
    .addOption(jsonOption())
    .action((options: MakeOptions) => interruptible((signal) => runMake(options, signal)))
  withExamples(command, [['batches make --lake ./lake', 'files for download']])
}

const runMake = async (
  { lake, snapshot, companiesPerFile, memory, threads, json }: MakeOptions,
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
    await noteTaken(lake, snapshot)
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
