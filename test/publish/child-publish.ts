/** A process that publishes a lake and prints each table that it comes to. Arguments: lake. */

import { writeSync } from 'node:fs'
import { publishDelta } from './sample-lake.ts'

const [lake = ''] = process.argv.slice(2)

await publishDelta(lake, {
  // Not through a stream: what was printed before a kill must have arrived.
  onProgress: ({ snapshots, table }) => writeSync(1, `${snapshots} ${table}\n`),
})
writeSync(1, 'done\n')
