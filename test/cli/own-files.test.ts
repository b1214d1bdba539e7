/** A load reads no file that loads have made. */

import { cp, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine, openBench, queryLake } from '../run/batch-bench.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const named = (id: number, name: string): string =>
  companyLine(id, { BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' } })

const NAMES = 'SELECT company_name FROM companies ORDER BY internal_id'

const project = async () => {
  const bench = openBench(await temporaryFolder())
  const run = async (...args: string[]) => {
    const result = await runCommand(args, { cwd: bench.folder, env: { FIRMLAKE_LAKE: '' } })
    expect([args, result.code, result.stderr]).toEqual([args, 0, expect.any(String)])
    return result
  }
  return { ...bench, run }
}

test('convert of a pattern or folder with the lake below it loads nothing of the lake, and says how many files', async () => {
  const { folder, lake, write, run } = await project()
  await write('in/a.jsonl', [named(1, 'Older')])
  await run('convert', 'in', '--lake', 'lake', '--sink', 'jsonl:out')
  await run('batches', 'make', '--lake', 'lake')
  await write('in/a.jsonl', [named(1, 'Newer')])
  await run('convert', 'in', '--lake', 'lake', '--sink', 'jsonl:out')
  expect(await queryLake(lake, NAMES)).toEqual([['Newer']])
  for (const input of ['**/*.jsonl.br', '.', '**/*.jsonl*'])
    for (let time = 0; time < 2; time++) {
      const { stdout } = await run('convert', input, '--lake', 'lake')
      expect([input, stdout]).toEqual([
        input,
        expect.stringMatching(
          /^ {2}\d+ files?: in a lake, or where a lake delivers to; name a file itself to load it$/m,
        ),
      ])
      expect(await queryLake(lake, NAMES)).toEqual([['Newer']])
    }
  const { stdout } = await run('convert', '.', '--lake', 'lake', '--json')
  expect(JSON.parse(stdout).skipped).toContainEqual({
    source: expect.stringMatching(/^\d+ files$/),
    reason: expect.stringContaining('in a lake'),
  })
  const planned = JSON.parse(
    (await run('convert', '--plan-only', '**/*.br', '--lake', 'lake', '--json')).stdout,
  )
  expect([planned.run, planned.skipped.length]).toEqual([null, 1])
  await mkdir(join(folder, 'files'))
  await run('convert', '.', '--to', 'jsonl:files')
})

test('a file in a lake that is named itself is loaded, with a notice', async () => {
  const { folder, lake, write, run } = await project()
  await write('a.jsonl', [named(1, 'One')])
  await run('convert', 'a.jsonl', '--lake', 'other')
  await cp(join(folder, 'a.jsonl'), join(folder, 'other', 'kept.jsonl'))
  const { stderr } = await run('convert', 'other/kept.jsonl', '--lake', 'lake')
  expect(stderr).toContain(
    'other/kept.jsonl: it is in a lake, or where a lake delivers to; it is loaded since it was named',
  )
  expect(await queryLake(lake, NAMES)).toEqual([['One']])
})
