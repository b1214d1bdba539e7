/** `copy`: a consistent, verified copy of a lake in another folder or bucket. */

import type { Command } from 'commander'
import type { CopySummary } from '../../jobs/copy.ts'
import type { CopyProgress } from '../../jobs/copy-files.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { COPY } from '../../options/read-jobs.ts'
import { formatBytes, formatCount, formatCounted, formatRate } from '../../support/format.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { noteTaken } from '../output/lake-notes.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { warnOfNoViews } from '../output/run-report.ts'

export const addCopy = (program: Command): void => {
  addCommand(program, {
    name: 'copy',
    summary: 'copy a lake to another folder or bucket, or bring a copy up to date',
    description:
      'Copies snapshots of a lake, with all files that they list and the loaded rates. Every file is compared with its ' +
      'hash, and the copy shows a snapshot when all of it is there. Given again it copies what is new; one that was ' +
      'killed resumes. Serving indexes, batch files and published tables are not copied: they are made again from the copy.',
    options: COPY,
    run: runCopy,
    examples: [
      ['copy ./lake s3://backups/lake', 'the newest snapshot; each night: what is new since'],
      ['copy ./lake /mnt/disk/lake --snapshots all', 'with the whole history that gc has left'],
      ['verify --lake /mnt/disk/lake', 'prove the copy'],
    ],
  })
}

const runCopy = async (values: ValuesOf<typeof COPY>): Promise<void> => {
  const { lake, to, json } = values
  const line = new ProgressLine({ terminalOnly: json === true })
  const startMs = performance.now()
  const onProgress = (progress: CopyProgress): void =>
    line.show(() => stateText(progress, (performance.now() - startMs) / 1000), {
      amount: { done: progress.bytes, total: progress.bytesTotal },
    })
  const { copy } = await import('../../jobs/copy.ts')
  const summary = await interruptible(
    (signal) => copy({ ...askedOf(COPY, values), onProgress, signal }),
    'what is copied stays for the next copy',
  ).finally(() => line.clear())
  if (json) await printJson({ lake, to, ...summary })
  else await printLines([summaryLine(to, summary), ...forgottenLine(summary)])
  if (summary.leftHeld !== undefined)
    note(`Snapshot ${summary.leftHeld} is held back in "${lake}", the copy has nothing of it`)
  warnOfNoViews(summary.noViews)
  await noteTaken(to)
}

const stateText = ({ files, filesTotal, bytes }: CopyProgress, seconds: number): string =>
  `Copying  ${formatBytes(bytes)}  ${formatRate(bytes, seconds)}  ${formatCount(files)}/${formatCounted(filesTotal, 'file')}`

const forgottenLine = ({ forgotten = [] }: CopySummary): readonly string[] =>
  forgotten.length === 0
    ? []
    : [
        `Its ${formatCounted(forgotten.length, 'snapshot')} from before the forget ${forgotten.length === 1 ? 'is' : 'are'} removed.`,
      ]

const summaryLine = (
  to: string,
  { kind, oldest, newest, snapshots, files, bytes, filesThere }: CopySummary,
): string => {
  const has = oldest === newest ? `snapshot ${newest}` : `snapshots ${oldest} to ${newest}`
  if (kind === 'nothing') return `Nothing to do: "${to}" has ${has} already.`
  const there = filesThere > 0 ? `; ${formatCounted(filesThere, 'file')} stood there already` : ''
  return (
    `"${to}" has ${has}: copied ${formatCounted(snapshots.length, 'snapshot')}, ` +
    `${formatCounted(files, 'file')}, ${formatBytes(bytes)}${there}.`
  )
}
