/**
 * Command: `node bench/check.ts [--companies 10000,100000] [--memory 1GiB]`. What the rules of `check` find in generated
 * companies without faults, rule by rule, and what a check takes: CPU and peak memory as a whole process.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { ALL_CONTENT, writeSample } from '../data/sample.ts'
import { check } from '../src/jobs/check.ts'
import { convert } from '../src/jobs/convert.ts'
import { measureNode } from './measure.ts'

const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '10000,100000' },
    memory: { type: 'string', default: '1GiB' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

for (const companies of values.companies.split(',').map(Number)) {
  const home = join(values.out, `check-${companies}`)
  const [batches, lake] = [join(home, 'batches'), join(home, 'lake')]
  const options = { companies, seed: 11, files: 4, small: false, awkward: 0, sound: true }
  await rm(home, { recursive: true, force: true })
  await writeSample(batches, { ...options, content: ALL_CONTENT }, 1)
  await convert({ from: [batches], lake })
  await rm(batches, { recursive: true })

  const { failed, checks, findings } = await check({ lake })
  const found = checks.map(({ name, status, value }) => `${name} ${status} ${value}`)
  const mixed = findings.filter(({ severity }) => severity !== 'note').length
  console.log(`${companies} companies: ${found.join(', ')}; ${failed} failed, ${mixed} findings above a note`)
  const { cpuSeconds, peakMegabytes, wallSeconds } = await measureNode([
    ...[MAIN, 'check', '--lake', lake, '--memory', values.memory],
  ])
  console.log(
    `  within ${values.memory}: CPU ${cpuSeconds.toFixed(1)} s, wall ${wallSeconds.toFixed(1)} s, peak ${peakMegabytes.toFixed(0)} MB`,
  )
  await rm(home, { recursive: true })
}
