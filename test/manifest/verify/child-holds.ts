/** A process that has put the files of a run into place and stops short of the snapshot: `child-holds.ts <lake> <source>`. */

import { setTimeout as pause } from 'node:timers/promises'
import { placeStaged, stageRun } from '../small-lake.ts'

const [lake = '', source = ''] = process.argv.slice(2)
const staged = await stageRun(lake, [source])
await placeStaged(staged)
console.log(staged.lease.run)
await pause(600_000)
