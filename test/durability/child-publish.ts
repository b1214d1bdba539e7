/** A process that publishes a lake and prints each table that it comes to. Arguments: lake, format, rows (all versions by default). */

import { writeSync } from 'node:fs'
import { publishIceberg } from '../publish/iceberg/iceberg-lake.ts'
import { publishDelta } from '../publish/sample-lake.ts'

const [lake = '', format, rows] = process.argv.slice(2)

const publish = format === 'delta' ? publishDelta : publishIceberg
await publish(lake, {
  ...(rows === 'current' && { rows: [rows] }),
  // Not through a stream: what was printed before a kill must have arrived.
  onProgress: ({ snapshots, table }) => writeSync(1, `${snapshots} ${table}\n`),
})
writeSync(1, 'done\n')
