/** A process that converts one file and prints its peak memory in bytes. Arguments: folder, lake, file. */

import { runIn } from '../run/batch-bench.ts'

const [folder = '', lake = '', file = ''] = process.argv.slice(2)

const { summary } = await runIn(folder, lake, [file], { maxQuarantined: { kind: 'count', lines: 1 } })
const quarantined = summary.partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0)
console.log(JSON.stringify({ peakBytes: process.resourceUsage().maxRSS * 1024, quarantined }))
