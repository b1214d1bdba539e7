/** `status`: what a lake holds, and which runs are not finished. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { STATUS_COMMAND } from '../../options/lake-looks.ts'
import { addCommand } from '../add-command.ts'
import { print, printJson, printLines } from '../output/print.ts'

export const addStatus = (program: Command): void => {
  addCommand(program, {
    name: 'status',
    summary: 'show what a lake holds',
    description:
      'Shows partitions, date ranges, counts and sizes of a lake, and the runs that are not finished; with --manifest ' +
      'the manifest of a snapshot, checked.',
    options: STATUS_COMMAND,
    run: runStatus,
    examples: [
      ['status --lake ./lake', 'the newest snapshot'],
      ['status --lake ./lake --snapshot 3 --partitions', 'an older one, with its partitions'],
      [
        "status --lake ./lake --snapshot 1 --manifest | jq '.partitions[].source.name'",
        'the sources of the first one',
      ],
    ],
  })
}

const printManifest = async (lake: string, snapshot: number | undefined): Promise<void> => {
  const { readRoot } = await import('../../manifest/snapshots/snapshots.ts')
  const { documentText } = await import('../../manifest/snapshots/snapshot-text.ts')
  for await (const text of documentText(lake, await readRoot(lake, snapshot))) await print(text)
}

const runStatus = async ({
  lake,
  snapshot,
  partitions,
  manifest,
  json,
}: ValuesOf<typeof STATUS_COMMAND>): Promise<void> => {
  if (manifest) return printManifest(lake, snapshot)
  const { readStatus } = await import('../../jobs/lake-status.ts')
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
