/** A process that takes over a run and stays: `child-leases.ts <lake> <run>`; prints `mine` or the error's code. */

import { setTimeout as pause } from 'node:timers/promises'
import { ToolkitError } from '../../../src/core/errors.ts'
import { leaseRun } from '../../../src/manifest/runs/run-lease.ts'

const [lake = '', run = ''] = process.argv.slice(2)
try {
  await leaseRun(lake, run, { now: new Date() })
  console.log('mine')
} catch (error) {
  console.log(error instanceof ToolkitError ? error.code : error)
}
await pause(600_000)
