/** The memory of V8 in a command that runs for long. */

import { spawnSync } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { MAIN, SAMPLE_COMPANIES } from './run-cli.ts'

const CHURN = new URL('churn-objects.ts', import.meta.url).href

/** Size of the young generation at the end, in MiB. */
const youngAfter = async (args: readonly string[]): Promise<number> => {
  const file = join(await temporaryFolder(), 'young')
  const env = { ...process.env, YOUNG_FILE: file }
  const { status, stderr } = spawnSync(process.execPath, ['--import', CHURN, ...args], {
    env,
    encoding: 'utf8',
  })
  expect(status, stderr).toBe(0)
  return Number(await readFile(file, 'utf8'))
}

test('a command keeps it as it was after the first second, where V8 doubles it again and again', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const own = await youngAfter([MAIN, 'convert', SAMPLE_COMPANIES, '--lake', lake])
  const without = await youngAfter(['--eval', ''])
  expect(own).toBeGreaterThanOrEqual(16)
  expect(own).toBeLessThanOrEqual(32)
  expect(without).toBeGreaterThan(32)
})
