/** `manifest`: a snapshot's JSON text as it stands. */

import type { Command } from 'commander'
import {
  jsonOption,
  type LakeOption,
  lakeOption,
  type SnapshotOption,
  snapshotOption,
  withExamples,
} from '../options/options.ts'
import { print } from '../output/print.ts'

export const addManifest = (program: Command): void => {
  const command = program
    .command('manifest')
    .summary("print a snapshot's manifest as it stands")
    .description(
      'Prints the manifest of the newest snapshot, or of another one: checked JSON, as it stands on disk.',
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
  const { readSnapshotText } = await import('../../manifest/snapshots.ts')
  await print(await readSnapshotText(lake, snapshot))
}
