import { spawnSync } from 'node:child_process'
import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { convert as convertAgain } from '../../src/jobs/convert.ts'
import { verify } from '../../src/jobs/verify.ts'
import { listSnapshots } from '../../src/manifest/snapshots/snapshots.ts'
import { SAMPLE_COMPANIES } from '../cli/run-cli.ts'
import { armFaults, disarmFaults, openFailingWrites } from '../support/failing-writes.ts'
import { needs } from '../support/needs.ts'
import { MAIN } from '../support/run-command.ts'
import { SEED } from '../support/seed.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { runCampaign } from './campaign.ts'
import { campaign } from './writes-campaign.ts'

const NEEDED = 'a library that makes writes fail'

test('the library sees every writing call of a convert, those of DuckDB too', async (context) => {
  const faults = openFailingWrites({ traced: true })
  if ('missing' in faults) return needs(context, NEEDED, faults.missing)
  const lake = join(await temporaryFolder(), 'lake')
  await mkdir(lake)
  armFaults(faults.control, lake, { kind: 'EIO', once: true, nth: 0 })
  const { status } = spawnSync(process.execPath, [MAIN, 'convert', SAMPLE_COMPANIES, '--lake', lake], {
    env: { ...process.env, ...faults.env },
  })
  const { counted, failed } = disarmFaults(faults.control)
  const calls = faults.trace().map((line) => line.split(' ').slice(1).join(' ').replace(lake, ''))
  faults.remove()
  expect([status, failed, calls.length]).toEqual([0, 0, counted])
  const seen = (call: RegExp): boolean => calls.some((line) => call.test(line))
  // DuckDB alone writes staged Parquet files.
  for (const call of [
    /^open(64)? .*\/staging\/financials\/.*\.parquet$/,
    /^p?write(64)? .*\/staging\/financials\/.*\.parquet$/,
    /^fsync .*\/staging\/financials\/.*\.parquet$/,
    /^write .*\/journal\.jsonl$/,
    /^fdatasync .*\/journal\.jsonl$/,
    /^rename \/financials\/load=/,
    /^link \/_manifest\/00000001\.json$/,
    /^fsync \/_manifest$/,
    /^mkdir \/_runs$/,
    /^unlink /,
  ])
    expect(seen(call), String(call)).toBe(true)
})

test('a disk that is full behind the name of a snapshot leaves it whole, and the same command finds it', async (context) => {
  const faults = openFailingWrites({ traced: true })
  if ('missing' in faults) return needs(context, NEEDED, faults.missing)
  const folder = await temporaryFolder()
  const convert = (lake: string) =>
    spawnSync(process.execPath, [MAIN, 'convert', SAMPLE_COMPANIES, '--lake', lake], {
      env: { ...process.env, ...faults.env },
      encoding: 'utf8',
    })
  const whole = join(folder, 'whole')
  await mkdir(whole)
  armFaults(faults.control, whole, { kind: 'ENOSPC', once: true, nth: 0 })
  convert(whole)
  const calls = faults.trace().map((line) => line.split(' ').slice(1).join(' ').replace(whole, ''))
  const named = calls.findIndex((call) => /^link .*\/_manifest\/00000001\.json/.test(call))
  const nth = calls.findIndex((call, at) => at > named && call === 'fsync /_manifest') + 1
  expect(named).toBeGreaterThan(0)
  expect(nth).toBeGreaterThan(named)
  const lake = join(folder, 'lake')
  await mkdir(lake)
  armFaults(faults.control, lake, { kind: 'ENOSPC', once: true, nth })
  const { status, stderr } = convert(lake)
  expect([status, stderr]).toEqual([1, expect.stringContaining('DISK_FULL')])
  disarmFaults(faults.control)
  faults.remove()
  expect((await verify({ lake })).problems).toEqual([])
  expect(await listSnapshots(lake)).toEqual([1])
  expect(await convertAgain({ from: SAMPLE_COMPANIES, lake })).toMatchObject({ snapshot: null })
})

test(`writes that fail leave a lake whole, and the same command completes it (seed ${SEED})`, {
  timeout: 600_000,
}, async (context) => {
  const faults = openFailingWrites()
  if ('missing' in faults) return needs(context, NEEDED, faults.missing)
  faults.remove()
  const { wrong, cases } = await runCampaign(campaign, { seed: SEED, cases: 16 })
  expect(wrong).toEqual([])
  expect(cases).toBe(16)
})
