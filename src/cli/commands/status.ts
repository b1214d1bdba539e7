/** `status`: what a lake holds, and which runs are not finished. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { STATUS_COMMAND } from '../../options/lake-looks.ts'
import { addCommand } from '../add-command.ts'
import { printJson, printLines } from '../output/print.ts'

export const addStatus = (program: Command): void => {
  addCommand(program, {
    name: 'status',
    summary: 'show what a lake holds',
    description:
      'Shows partitions, date ranges, counts and sizes of a lake, and the runs that are not finished.',
    options: STATUS_COMMAND,
    run: runStatus,
    examples: [
      ['status --lake ./lake', 'the newest snapshot'],
      ['status --lake ./lake --snapshot 3 --partitions', 'an older one, with its partitions'],
    ],
  })
}

const runStatus = async ({
  lake,
  snapshot,
  partitions,
  json,
}: ValuesOf<typeof STATUS_COMMAND>): Promise<void> => {
  const { readStatus } = await import('../../jobs/status/lake-status.ts')
  const status = await readStatus(lake, { snapshot, partitions })
  if (!json) {
    const { statusLines } = await import('../output/status-lines.ts')
    return printLines(statusLines(status, partitions === true))
  }
  const { summary, made, drift, unfinished, held, discarded } = status
  await printJson({
    lake,
    id: status.id,
    ...(summary ?? { snapshot: null }),
    ...made,
    drift,
    ...(held && { held }),
    ...(discarded && { discarded }),
    unfinished,
    ...(partitions && { partitionList: status.partitions }),
  })
}
