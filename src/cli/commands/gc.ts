/** `gc`: removes dead runs, unfinished writes and files that no kept snapshot lists. */

import type { Command } from 'commander'
import type { Garbage } from '../../manifest/collect-garbage.ts'
import { DEFAULT_MEMORY_BYTES, queryMemory } from '../../pipeline/run/memory-shares.ts'
import type { PublishProgress } from '../../pipeline/targets/publish.ts'
import { interruptible } from '../interrupt.ts'
import { catalogOf } from '../options/catalog-options.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  wholeNumber,
  withExamples,
} from '../options/options.ts'

import { formatBytes, formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'

interface GcOptions extends LakeOption, JsonOption {
  readonly keep?: number
  readonly dryRun?: boolean
}

export const addGc = (program: Command): void => {
  const command = program
    .command('gc')
    .summary('delete unreferenced files and dead runs')
    .description(
      'Removes runs whose process is gone, unfinished writes, and files that no kept snapshot lists. Never ' +
        'touches a live run or a file of a kept snapshot. With --keep the published tables (docs/operations.md) are ' +
        'first brought in step with the lake.',
    )
    .addOption(lakeOption())
    .option('--keep <n>', 'newest snapshots to keep (default: all)', wholeNumber('--keep'))
    .option('--dry-run', 'change nothing, report what would be removed')
    .addOption(jsonOption())
    .action(runGc)
  withExamples(command, [
    ['gc --lake ./lake --dry-run', 'what would be removed'],
    ['gc --lake ./lake --keep 10', 'remove also all but the ten newest snapshots'],
  ])
}

/**
 * Brings what is published in step with the lake: a table that still shows files of an old snapshot must let go of them
 * before they are removed.
 *
 * @returns the snapshot that all of it shows then at least; `undefined` where nothing is published
 */
const publishFirst = async (lake: string, line: ProgressLine): Promise<number | undefined> => {
  const { publish, publishedFormats } = await import('../../pipeline/targets/publish.ts')
  const memoryBytes = queryMemory(DEFAULT_MEMORY_BYTES)
  const inLake = await publishedFormats(lake)
  const catalog = catalogOf()
  // A catalog in the environment may be intended for other lakes.
  const inCatalog = catalog !== undefined && (await publishedFormats(lake, catalog)).includes('iceberg')
  const onProgress = ({ snapshots, snapshotsTotal, table }: PublishProgress): void =>
    line.show(() => `Publishing  ${snapshots}/${formatCounted(snapshotsTotal, 'snapshot')}  ${table}`)
  try {
    return await interruptible(async (signal) => {
      const request = { lake, memoryBytes, signal, onProgress }
      const summaries = [
        ...(inLake.length > 0 ? [await publish({ ...request, formats: inLake })] : []),
        ...(inCatalog ? [await publish({ ...request, formats: ['iceberg'], catalog })] : []),
      ]
      return summaries.length > 0 ? Math.min(...summaries.map(({ snapshot }) => snapshot)) : undefined
    }, 'nothing is removed')
  } finally {
    line.clear()
  }
}

const runGc = async ({ lake, keep, dryRun = false, json }: GcOptions): Promise<void> => {
  // A run that commits meanwhile is not published: what the tables show has to stay until it is.
  const keepFrom =
    keep !== undefined && !dryRun
      ? await publishFirst(lake, new ProgressLine({ terminalOnly: json === true }))
      : undefined
  const { collectGarbage } = await import('../../manifest/collect-garbage.ts')
  const garbage = await collectGarbage({ lake, keep, keepFrom, dryRun, now: new Date() })
  await (json ? printJson({ lake, dryRun, ...garbage }) : printLines(garbageLines(garbage, dryRun)))
}

const garbageLines = (garbage: Garbage, dryRun: boolean): string[] => {
  const { runs, snapshots, files, leftovers, freedBytes, working } = garbage
  const counts = [
    runs.length > 0 ? [formatCounted(runs.length, 'run')] : [],
    snapshots.length > 0 ? [formatCounted(snapshots.length, 'snapshot')] : [],
    files.length > 0 ? [formatCounted(files.length, 'file')] : [],
    leftovers.length > 0 ? [formatCounted(leftovers.length, 'unfinished write')] : [],
  ].flat()
  const [would, freed] = dryRun ? ['Would remove', 'would be free'] : ['Removed', 'are free again']
  const names = [...runs.map((run) => `run ${run}`), ...(dryRun ? [...files, ...leftovers] : [])]
  return [
    counts.length === 0
      ? 'Nothing to remove.'
      : `${would} ${counts.join(', ')}; ${formatBytes(freedBytes)} ${freed}.`,
    ...names.map((name) => `  ${name}`),
    ...working.map((run) => `Run ${run} is left alone: it is running, or may be.`),
  ]
}
