/** `manifest`: a snapshot as one JSON document. */

import type { Command } from 'commander'
import type { ValuesOf } from '../../options/entry.ts'
import { MANIFEST_COMMAND } from '../../options/lake-looks.ts'
import { addCommand } from '../add-command.ts'
import { print } from '../output/print.ts'

export const addManifest = (program: Command): void => {
  addCommand(program, {
    name: 'manifest',
    summary: "print a snapshot's manifest",
    description:
      'Prints the manifest of the newest snapshot, or of another one, with all of its parts: checked, as one JSON document.',
    options: MANIFEST_COMMAND,
    run: runManifest,
    examples: [
      ['manifest --lake ./lake', 'the newest snapshot'],
      [
        "manifest --lake ./lake --snapshot 1 | jq '.partitions[].source.name'",
        'the sources of the first one',
      ],
    ],
  })
}

const runManifest = async ({ lake, snapshot }: ValuesOf<typeof MANIFEST_COMMAND>): Promise<void> => {
  const { readRoot } = await import('../../manifest/snapshots/snapshots.ts')
  const { documentText } = await import('../../manifest/snapshots/snapshot-text.ts')
  for await (const text of documentText(lake, await readRoot(lake, snapshot))) await print(text)
}
