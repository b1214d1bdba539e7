/**
 * Command: `node bench/memory.ts [--mb 400,4000]`. Peak memory of our conversion by size of what it reads, and what a
 * megabyte takes: neither should grow.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { OURS } from './contenders.ts'
import { checkRows } from './count-rows.ts'
import { cachedDataset } from './dataset.ts'
import { measureNode } from './measure.ts'

const { values } = parseArgs({
  options: {
    mb: { type: 'string', default: '400,4000' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

for (const megabytes of values.mb.split(',').map(Number)) {
  const { files, decodedBytes, rows } = await cachedDataset(values.out, { megabytes, files: 2, quality: 1 })
  const lake = join(values.out, 'lake-memory')
  await rm(lake, { recursive: true, force: true })
  const { wallSeconds, cpuSeconds, peakMegabytes } = await measureNode(OURS.args(files, lake))
  await checkRows(lake, rows)
  await rm(lake, { recursive: true })
  console.log(
    `${(decodedBytes / 1e6).toFixed(0)} MB decoded: peak ${peakMegabytes.toFixed(0)} MB, wall ${wallSeconds.toFixed(1)} s, ` +
      `CPU ${cpuSeconds.toFixed(1)} s, ${((cpuSeconds * 1e9) / decodedBytes).toFixed(1)} ms a MB`,
  )
}
