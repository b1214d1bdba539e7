/** A process that has published the files of a run and stops short of the snapshot: `child-holds.ts <lake> <source>`. */

import { setTimeout as pause } from 'node:timers/promises'
import { publishFiles } from '../../src/manifest/publish.ts'
import { requestOf, stageRun } from './small-lake.ts'

const [lake = '', source = ''] = process.argv.slice(2)
const staged = await stageRun(lake, [source])
const { partitions, runFiles, moves } = requestOf(staged)
await publishFiles(lake, [...partitions.flatMap(({ files }) => files), ...runFiles], moves)
console.log(staged.claim.run)
await pause(600_000)
