/** `manifest`: a snapshot as one JSON document. */

import type { Command } from 'commander'
import { withExamples } from '../help.ts'
import {
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
} from '../options/options.ts'
import { print } from '../output/print.ts'

export const addManifest = (program: Command): void => {
  const command = program
    .command('manifest')
    .summary("print a snapshot's manifest")
    .description(
      'Prints the manifest of the newest snapshot, or of another one, with all of its parts: checked, as one JSON document.',
    )
    .addOption(lakeOption())
    .addOption(snapshotOption())
    .addOption(jsonOption('errors as one line of JSON; the manifest is JSON in any case'))
    .action(runManifest)
  withExamples(command, [
    ['manifest --lake ./lake', 'the newest snapshot'],
    ["manifest --lake ./lake --snapshot 1 | jq '.partitions[].source.name'", 'the sources of the first one'],
  ])
}

const runManifest = async ({ lake, snapshot }: LakeOption & SnapshotOption): Promise<void> => {
  const { readRoot } = await import('../../manifest/snapshots/snapshots.ts')
  const { documentText } = await import('../../manifest/snapshots/snapshot-text.ts')
  for await (const text of documentText(lake, await readRoot(lake, snapshot))) await print(text)
}
