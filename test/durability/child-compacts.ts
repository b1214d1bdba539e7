/** A process that compacts a lake and prints each event's kind. Arguments: lake, target size. */

import { writeSync } from 'node:fs'
import { compact } from '../../src/jobs/compact.ts'

const [lake = '', targetBytes = ''] = process.argv.slice(2)

const { kind } = await compact({
  lake,
  targetBytes: Number(targetBytes),
  // Not through a stream: what was printed before a kill must have arrived.
  onEvent: (event) => writeSync(1, `${event.kind}\n`),
})
writeSync(1, `${kind}\n`)
