/** `gc`: removes dead runs, unfinished writes and files that no kept snapshot lists. */

import type { Command } from 'commander'
import type { Garbage } from '../../manifest/gc/remove-garbage.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { GC } from '../../options/gc.ts'
import { formatBytes, formatCounted } from '../../support/format.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import type { PublishProgress } from '../../targets/publish.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { isAsked } from '../options/options.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { amountOfThings } from '../output/time-left.ts'

export const addGc = (program: Command): void => {
  addCommand(program, {
    name: 'gc',
    summary: 'delete unreferenced files and dead runs',
    description:
      'Removes runs whose process is gone, unfinished writes, and files that no kept snapshot lists. Never ' +
      'touches a live run or a file of a kept snapshot. With --keep or --keep-days the published tables (docs/published-tables.md) are ' +
      'first brought in step with the lake.',
    options: GC,
    run: runGc,
    examples: [
      ['gc --lake ./lake --dry-run', 'what would be removed'],
      ['gc --lake ./lake --keep 10', 'remove also all but the ten newest snapshots'],
      ['gc --lake ./lake --keep-days 30', 'remove also what the lake of the last 30 days does not need'],
    ],
  })
}

const runGc = async (options: ValuesOf<typeof GC>): Promise<void> => {
  const { lake, keep, keepDays, dryRun = false, json } = options
  const asked = askedOf(GC, options)
  // Who says what is kept has thought of what is not.
  const asks = keep === undefined && keepDays === undefined && !dryRun && isAsked(options)
  if (asks && !(await agreesToRemove(lake))) return
  const { gc } = await import('../../jobs/gc.ts')
  const line = new ProgressLine({ terminalOnly: json === true })
  const onPublish = ({ snapshots, snapshotsTotal, table }: PublishProgress): void =>
    line.show(() => `Publishing  ${snapshots}/${formatCounted(snapshotsTotal, 'snapshot')}  ${table}`, {
      amount: amountOfThings(snapshots, snapshotsTotal),
    })
  const catalog = catalogFromEnvironment()
  let removing = false
  const onRemove = (): void => {
    removing = true
  }
  const garbage = await interruptible(
    (signal) => gc({ ...asked, catalog, signal, onPublish, onRemove }),
    () => (removing ? 'what is being removed is removed' : 'nothing is removed'),
  ).finally(() => line.clear())
  await (json ? printJson({ lake, dryRun, ...garbage }) : printLines(garbageLines(garbage, dryRun)))
}

/** Shows what would be removed, and asks. @returns whether to go on */
const agreesToRemove = async (lake: string): Promise<boolean> => {
  const { gc } = await import('../../jobs/gc.ts')
  const { agrees } = await import('../output/ask.ts')
  const garbage = await interruptible((signal) => gc({ lake, dryRun: true, signal }), 'nothing is removed')
  const { runs, snapshots, files, leftovers } = garbage
  if ([runs, snapshots, files, leftovers].every(({ length }) => length === 0)) return true
  await printLines(garbageLines(garbage, true))
  return agrees('Remove them?')
}

const garbageLines = (garbage: Garbage, dryRun: boolean): string[] => {
  const { runs, snapshots, files, leftovers, freedBytes, working, held } = garbage
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
    ...working.map(
      (run) => `Run ${run} is left alone: it is ${run === held ? 'held back' : 'running, or may be'}.`,
    ),
  ]
}
