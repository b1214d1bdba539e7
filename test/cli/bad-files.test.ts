import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLines } from './batches.ts'
import { cliHere } from './run-cli.ts'

test('convert --skip-bad-files ends with 6 and names what it left out, for people and for programs', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const [good, bad] = [join(folder, 'good.jsonl'), join(folder, 'bad.jsonl.br')]
  await writeFile(good, (await companyLines(3)).join('\n'))
  await writeFile(bad, '')
  const stopped = await cliHere(['convert', good, bad, '--lake', lake])
  expect([stopped.code, stopped.stderr.includes('error DECODE_TRUNCATED: ')]).toEqual([1, true])
  const resumed = await cliHere(['resume', '--lake', lake, '--skip-bad-files'])
  expect(resumed.code).toBe(6)
  expect(resumed.stdout).toContain('3 lines: 3 records')
  expect(resumed.stdout).toContain(`${bad}: DECODE_TRUNCATED: `)
  expect(resumed.stderr).toContain('warning: 1 bad file skipped')

  const again = await cliHere(['convert', good, bad, '--lake', lake, '--skip-bad-files', '--json'])
  expect(again.code).toBe(6)
  expect(JSON.parse(again.stdout)).toMatchObject({
    snapshot: null,
    excluded: [{ source: bad, code: 'DECODE_TRUNCATED' }],
  })
})
