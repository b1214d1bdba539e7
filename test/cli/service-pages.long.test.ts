/** What the pages show of a service is run as it stands there, against the sample behind the real server. */

import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { makeServable, openServer, TOKEN } from '../service/serving.ts'
import { commandsIn, examplesIn, shownIn, squeezed } from '../support/page.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { SAMPLE } from './run-cli.ts'

test('commands that call a service run, and print what the pages show', async () => {
  const folder = await temporaryFolder()
  let url = ''
  /** Runs a command in a folder of a page. @returns its lines */
  const run = async (words: readonly string[], cwd = folder): Promise<string[]> => {
    const env = { FIRMLAKE_URL: url, FIRMLAKE_TOKEN: TOKEN, FIRMLAKE_LAKE: '', FIRMLAKE_CONFIG: '' }
    const { code, stdout, stderr } = await runCommand(words, { cwd, env })
    expect(code, `${words.join(' ')}: ${stderr}`).toBe(0)
    return stdout.split('\n').map(squeezed)
  }
  const deliver = async (path: string): Promise<void> => {
    await run(['convert', path, '--lake', 'served'])
    const server = await openServer(join(folder, 'served'))
    onTestFinished(() => server.close())
    url = server.address
  }
  const newFolder = async (name: string): Promise<string> => {
    await mkdir(join(folder, name))
    return join(folder, name)
  }

  await deliver(SAMPLE)
  const pulls = await newFolder('pull')
  const [companies = [], relations = [], sync = [], plan = [], ...others] = commandsIn('docs/pull.md')
  expect(others).toEqual([])
  for (const words of [companies, relations]) await run(words, pulls)

  await deliver(`${SAMPLE}-second`)
  const printed = [...(await run(sync, pulls)), ...(await run(plan))]
  expect(shownIn('docs/pull.md').length).toBeGreaterThan(5)
  expect(printed).toEqual(expect.arrayContaining(shownIn('docs/pull.md')))

  await makeServable(join(folder, 'served'))
  const batches = commandsIn('docs/batch-files.md').filter(([name, inner]) =>
    /^batches (list|pull)$/.test(`${name} ${inner}`),
  )
  expect(batches).toHaveLength(2)
  const files = await newFolder('batch-files')
  for (const words of batches) await run(words, files)

  const nights = await newFolder('nightly')
  const [settings = ''] = examplesIn('docs/nightly.md', 'toml')
  await writeFile(join(nights, 'firmlake.toml'), settings, { mode: 0o600 })
  const [line = ''] = await run(['nightly', '--json'], nights)
  const parts = ['nordic-companies', 'nordic-relations', 'finnish-files', 'targets', 'gc', 'check']
  expect(JSON.parse(line)).toMatchObject({ outcome: 'done', parts: parts.map((name) => ({ name })) })
})
