/** A process that converts files in small blocks and prints each event's kind. Arguments: lake, block size, files. */

import { writeSync } from 'node:fs'
import { runIn } from '../pipeline/batch-bench.ts'

const [lake = '', blockBytes = '', ...inputs] = process.argv.slice(2)

await runIn(process.cwd(), lake, inputs, {
  limits: { blockBytes: Number(blockBytes) },
  limit: { kind: 'share', share: 0.5 },
  // Not through a stream: what was printed before a kill must have arrived.
  onEvent: ({ kind }) => writeSync(1, `${kind}\n`),
})
writeSync(1, 'done\n')
