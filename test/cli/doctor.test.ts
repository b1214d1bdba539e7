/** `doctor` as a command: what of firmlake.toml it looks at, its exit code, its lines. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { installLine } from '../../src/core/optional-parts.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { withoutPart } from '../support/without-part.ts'
import { cli } from './run-cli.ts'

test('doctor ends with 1 where the configuration needs what is missing, and says the line that mends it', async () => {
  const cwd = await temporaryFolder()
  const settings = ['[service]', 'url = "http://127.0.0.1:9"', 'token_env = "OUR_TOKEN"']
  await writeFile(join(cwd, 'firmlake.toml'), settings.join('\n'))
  const bare = await cli(['doctor'], { cwd })
  expect(bare.code).toBe(1)
  expect(bare.stdout).toContain(
    'MISSING service    TOKEN_MISSING: Cannot call the service: the variable "OUR_TOKEN"',
  )

  const env = { OUR_TOKEN: 'secret-4711', ...withoutPart('postgres') }
  const well = await cli(['doctor'], { cwd, env })
  expect(well).toMatchObject({ code: 0, stderr: '' })
  expect(well.stdout).toContain('ok      service    "http://127.0.0.1:9", with a token')
  expect(well.stdout).toContain(`--      postgres   PostgreSQL is not installed`)

  await writeFile(
    join(cwd, 'firmlake.toml'),
    [...settings, '[targets]', 'sinks = ["postgres://db/firms"]'].join('\n'),
  )
  const needed = await cli(['doctor', '--online', '--limit', '2s', '--json'], { cwd, env })
  expect(needed.code).toBe(1)
  expect(needed.stdout).not.toContain('secret-4711')
  const { findings } = JSON.parse(needed.stdout)
  expect(findings).toContainEqual(
    expect.objectContaining({ about: 'postgres', state: 'missing', mend: installLine('postgres') }),
  )
  expect(findings).toContainEqual(
    expect.objectContaining({
      about: 'service',
      state: 'missing',
      says: expect.stringContaining('ECONNREFUSED'),
    }),
  )
})
