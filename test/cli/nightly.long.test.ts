/** A night that was killed. */

import { mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import type { NightPart } from '../../src/nightly/night-parts.ts'
import { companyLine } from '../run/batch-bench.ts'
import { openPullBench } from '../service/pull-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { cli } from './run-cli.ts'

const NO_VARIABLES = { FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_TOKEN: '', FIRMLAKE_CONFIG: '' }

test('a night that was killed goes on where it was when it is started again', async () => {
  let kill: () => void = () => undefined
  const one = await openPullBench({
    // The clock of this machine, which the command has too.
    now: new Date().toISOString(),
    companies: [1, 2, 3].map((id) => ({ id, country: 'SE' })),
    before: ({ content }) => {
      if (content === 'relations') kill()
      return undefined
    },
  })
  const folder = join(dirname(one.lake), 'night')
  await mkdir(join(folder, 'inbox'), { recursive: true, mode: 0o755 })
  const toml = `lake = ${JSON.stringify(one.lake)}
[service]
url = "${one.fake.url}"
token_env = "NIGHT_TOKEN"
max_requests_per_second = 500
[[pull]]
name = "swedish"
content = "companies"
search = { CountryCode = ["SE"] }
[[pull]]
name = "owners"
content = "relations"
search = { CountryCode = ["SE"] }
[[files]]
name = "own"
from = ["inbox/*.jsonl"]
`
  await writeFile(join(folder, 'firmlake.toml'), toml, { mode: 0o644 })
  await writeFile(join(folder, '.env'), `NIGHT_TOKEN=${one.fake.token}\n`, { mode: 0o600 })
  await writeFile(join(folder, 'inbox', 'a.jsonl'), `${companyLine(900)}\n`)
  const killed = await cli(['nightly'], {
    cwd: folder,
    env: NO_VARIABLES,
    onStart: (child) => {
      kill = () => child.kill('SIGKILL')
    },
  })
  expect(killed.code).toBeNull()
  const [run] = await one.runs()
  expect(run).toBeDefined()
  kill = () => undefined
  const { stdout } = await runCommand(['nightly', '--quiet'], { cwd: folder, env: NO_VARIABLES })
  const parts: readonly NightPart[] = JSON.parse(stdout).parts
  expect(parts.map(({ name, state, snapshot }) => [name, state, snapshot])).toEqual([
    ['swedish', 'done', 1],
    ['owners', 'done', 1],
    ['own', 'done', 1],
  ])
  expect((await one.snapshot()).run).toBe(run)
  expect(await one.runs()).toEqual([])
})
