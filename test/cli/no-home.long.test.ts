/** Commands of a user without `HOME` that the system does not know, as in a container with any user id. */

import { execFile } from 'node:child_process'
import { chmod, chown } from 'node:fs/promises'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE_COMPANIES } from './run-cli.ts'

const UNKNOWN = 54_321

test('convert writes its catalogs and query answers where there is no home', async (context) => {
  if (process.getuid?.() !== 0) context.skip('only root works as another user')
  const folder = await temporaryFolder()
  await chown(folder, UNKNOWN, UNKNOWN)
  await chmod(folder, 0o700)
  const run = async (...args: string[]) => {
    const options = { cwd: folder, uid: UNKNOWN, gid: UNKNOWN, env: { TMPDIR: folder } }
    return promisify(execFile)(process.execPath, [MAIN, ...args], options)
  }
  await run('--version').catch(() => context.skip('this checkout cannot be read by others'))
  expect((await run('convert', SAMPLE_COMPANIES, '--lake', 'lake')).stderr).not.toContain('Cannot write')
  const { stdout } = await run(
    'query',
    '--lake',
    'lake',
    'SELECT count(*) > 0 AS found FROM companies',
    '--json',
  )
  expect(JSON.parse(stdout)).toEqual([{ found: true }])
  const ask = run('status', '--lake', 's3://bucket/lake').catch((error: { stderr: string }) => error)
  expect((await ask).stderr).toContain('no region is configured')
})
