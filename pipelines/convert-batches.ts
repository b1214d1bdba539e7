/**
 * Batch files into a lake, and with it into Delta tables: `node pipelines/convert-batches.ts LAKE FILE…`. Add `sinks` for
 * more, such as `postgres(url)`; the same call again loads only what is new.
 */

import { convert, runProgram } from '../src/index.ts'

const [lake = './lake', ...from] = process.argv.slice(2)
await runProgram(async ({ signal }) => {
  const { snapshot, partitions, records } = await convert({ from, lake, publish: ['delta'], signal })
  return { snapshot, partitions, records }
})
