/** The loop of the shell over two workers. */

import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { expect, test, vi } from 'vitest'
import { companyLine, companyLines, hashLake, openBench } from '../run/batch-bench.ts'
import { MAIN } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

vi.setConfig({ testTimeout: 240_000 })

const EXAMPLE = fileURLToPath(new URL('../../examples/workers.sh', import.meta.url))

test('the shell loop loads many files by two processes to the rows of one machine', async () => {
  const one = openBench(await temporaryFolder())
  for (let at = 0; at < 29; at += 1)
    await one.write(`in/${String(at).padStart(3, '0')}.jsonl.gz`, companyLines(3, at * 3 + 1), 'gzip')
  await one.write('in/zz.jsonl', [companyLine(1, { Strange: 1 }, 9)])
  const loop = spawn('sh', [EXAMPLE, 'lake', '2', 'in', '--unit-bytes', '1000'], {
    cwd: one.folder,
    env: { ...process.env, FIRMLAKE: `${process.execPath} ${MAIN}`, PAUSE: '0.2' },
    stdio: ['ignore', 'ignore', 'inherit'],
  })
  expect(await once(loop, 'exit')).toEqual([0, null])
  const whole = openBench(await temporaryFolder())
  await whole.run(['in'], { cwd: one.folder })
  expect(await hashLake(one.lake)).toEqual(await hashLake(whole.lake))
  expect((await one.snapshot()).snapshot).toBe(1)
  expect(await one.verify()).toMatchObject({ problems: [], notes: [] })
  // The loop again finds nothing to do.
  const again = spawn('sh', [EXAMPLE, 'lake', '2', 'in', '--unit-bytes', '1000'], {
    cwd: one.folder,
    env: { ...process.env, FIRMLAKE: `${process.execPath} ${MAIN}` },
    stdio: ['ignore', 'pipe', 'inherit'],
  })
  const [printed] = (await once(again.stdout, 'data')) as [Buffer]
  expect(String(printed)).toBe('Nothing to load.\n')
})
