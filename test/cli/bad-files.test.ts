import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { companyLines } from './batches.ts'

test('convert of one file that holds no records leaves no unfinished run', async () => {
  const folder = await temporaryFolder()
  const [lake, file] = [join(folder, 'lake'), join(folder, 'README.md')]
  await writeFile(file, '# Words\n')
  const { code, stderr } = await runCommand(['convert', file, '--lake', lake])
  expect([code, stderr]).toEqual([1, expect.stringContaining('error CONTENT_UNKNOWN: ')])
  expect(JSON.parse((await runCommand(['status', '--lake', lake, '--json'])).stdout)).toMatchObject({
    unfinished: [],
  })
})

test('a .json file beside batch files is named and not quarantined, also where the content is given', async () => {
  const folder = await temporaryFolder()
  const [lake, control] = [join(folder, 'lake'), join(folder, 'in', 'control.json')]
  await mkdir(join(folder, 'in'))
  const [first = '', ...others] = await companyLines(4)
  await writeFile(join(folder, 'in', 'b.jsonl'), others.join('\n'))
  await writeFile(join(folder, 'in', 'a.json'), `[${first}]`)
  await writeFile(control, '{\n "records": 3\n}\n')
  const args = ['convert', join(folder, 'in'), '--lake', lake, '--content', 'companies', '--json']
  expect(JSON.parse((await runCommand(args)).stdout)).toMatchObject({
    ...{ records: 4, quarantined: 0 },
    skipped: [{ source: control, reason: 'not a companies or relations file' }],
  })
})

test('convert --skip-bad-files ends with 6 and names what it left out, for people and for programs', async () => {
  const folder = await temporaryFolder()
  const lake = join(folder, 'lake')
  const [good, bad] = [join(folder, 'good.jsonl'), join(folder, 'bad.jsonl.br')]
  await writeFile(good, (await companyLines(3)).join('\n'))
  await writeFile(bad, '')
  const stopped = await runCommand(['convert', good, bad, '--lake', lake])
  expect([stopped.code, stopped.stderr.includes('error DECODE_TRUNCATED: ')]).toEqual([1, true])
  const resumed = await runCommand(['resume', '--lake', lake, '--skip-bad-files'])
  expect(resumed.code).toBe(6)
  expect(resumed.stdout).toContain('3 lines: 3 records')
  expect(resumed.stdout).toContain(`${bad}: DECODE_TRUNCATED: `)
  expect(resumed.stderr).toContain('warning: 1 bad file skipped')

  const again = await runCommand(['convert', good, bad, '--lake', lake, '--skip-bad-files', '--json'])
  expect(again.code).toBe(6)
  expect(JSON.parse(again.stdout)).toMatchObject({
    snapshot: null,
    excluded: [{ source: bad, code: 'DECODE_TRUNCATED' }],
  })
})
