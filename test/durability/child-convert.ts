/**
 * A process that converts files in small blocks and prints each event's kind. Arguments: lake, block size, files. With
 * `KILL_AT=source:5` it kills itself at the fifth event of that kind.
 */

import { writeSync } from 'node:fs'
import { runIn } from '../run/batch-bench.ts'

const [lake = '', blockBytes = '', ...inputs] = process.argv.slice(2)

const [killKind, killNumber] = (process.env.KILL_AT ?? '').split(':')
let seen = 0

await runIn(process.cwd(), lake, inputs, {
  limits: { blockBytes: Number(blockBytes) },
  maxQuarantined: { kind: 'share', share: 0.5 },
  // Not through a stream: what was printed before a kill must have arrived.
  onEvent: ({ kind }) => {
    writeSync(1, `${kind}\n`)
    if (kind === killKind) seen += 1
    if (seen === Number(killNumber)) process.kill(process.pid, 'SIGKILL')
  },
})
writeSync(1, 'done\n')
