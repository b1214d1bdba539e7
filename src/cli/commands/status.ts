/** `status`: what a lake holds, and which runs are not finished. */

import type { Command } from 'commander'
import { withExamples } from '../help.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
} from '../options/options.ts'
import { printJson, printLines } from '../output/print.ts'

interface StatusOptions extends LakeOption, JsonOption, SnapshotOption {
  readonly partitions?: true
}

export const addStatus = (program: Command): void => {
  const command = program
    .command('status')
    .summary('show what a lake holds')
    .description(
      'Shows partitions, date ranges, counts and sizes of a lake, and the runs that are not finished.',
    )
    .addOption(lakeOption())
    .addOption(snapshotOption())
    .option('--partitions', 'each partition too')
    .addOption(jsonOption())
    .action(runStatus)
  withExamples(command, [
    ['status --lake ./lake', 'the newest snapshot'],
    ['status --lake ./lake --snapshot 3 --partitions', 'an older one, with its partitions'],
  ])
}

const runStatus = async ({ lake, snapshot, partitions, json }: StatusOptions): Promise<void> => {
  const { readStatus } = await import('../../jobs/status/lake-status.ts')
  const status = await readStatus(lake, { snapshot, partitions })
  if (!json) {
    const { statusLines } = await import('../output/status-lines.ts')
    return printLines(statusLines(status, partitions === true))
  }
  const { summary, made, drift, unfinished } = status
  await printJson({
    lake,
    id: status.id,
    ...(summary ?? { snapshot: null }),
    ...made,
    drift,
    unfinished,
    ...(partitions && { partitionList: status.partitions }),
  })
}
