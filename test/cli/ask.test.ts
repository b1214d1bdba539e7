/** What a person at a terminal is asked before. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { companyLine } from '../run/batch-bench.ts'
import { copyLake } from '../support/lakes.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal, needsTerminal } from './at-terminal.ts'

const companiesOf = async (lake: string): Promise<readonly number[]> => {
  const rows = await runCommandJson<{ rows?: readonly { internal_id: number }[] }>([
    ...['query', '--lake', lake, 'SELECT internal_id FROM companies ORDER BY 1'],
  ])
  return (Array.isArray(rows) ? rows : (rows.rows ?? [])).map(({ internal_id }) => internal_id)
}

/** As a person who types at a terminal sees it. */
const typing = async (stdin: string, args: readonly string[]) => {
  const { code, stdout, stderr } = await runCommand(args, { stdin, isAsked: true })
  return { code, said: stdout + stderr }
}

test('forget shows what it would do and asks; only a yes does it', async (context) => {
  needsTerminal(context)
  const lake = await copyLake('three', join(await temporaryFolder(), 'lake'))
  const [first = 0, ...others] = await companiesOf(lake)
  expect(others).toHaveLength(2)
  const args = ['forget', '--lake', lake, '--company', `${first}`]
  // By `script`, which gives a process a terminal, what ends the input and a yes.
  for (const { code, said } of [
    await typing('\n', args),
    await typing('yess\n', args),
    await atTerminal('\u0004', args),
  ]) {
    expect([code, said]).toEqual([1, expect.stringContaining('Would forget 1 company and 0 persons')])
    expect(said).toContain('Forget them? [y/N]')
    expect(said).toContain('Nothing is changed.')
  }
  expect(await companiesOf(lake)).toEqual([first, ...others])
  expect((await atTerminal('y\n', args)).code).toBe(0)
  expect(await companiesOf(lake)).toEqual(others)
  const [second = 0] = others
  const yes = await typing('n\n', ['forget', '--lake', lake, '--company', `${second}`, '--yes'])
  expect([yes.code, yes.said.includes('[y/N]')]).toEqual([0, false])
  expect(await companiesOf(lake)).toEqual(others.slice(1))
})

test('forget asks nobody where nobody sits', async () => {
  const lake = await copyLake('three', join(await temporaryFolder(), 'lake'))
  const [first = 0, ...others] = await companiesOf(lake)
  const { code, stderr } = await runCommand(['forget', '--lake', lake, '--company', `${first}`], {
    stdin: 'n\n',
  })
  expect([code, stderr]).toEqual([0, ''])
  expect(await companiesOf(lake)).toEqual(others)
})

test('gc without --keep asks before it removes', async () => {
  const lake = await copyLake('three', join(await temporaryFolder(), 'lake'))
  expect((await typing('n\n', ['gc', '--lake', lake])).said).toContain('Nothing to remove.')
  const dead = join(lake, 'companies', 'load=20200101T000000000Z-abcdef')
  await mkdir(dead)
  await writeFile(join(dead, 'batch.parquet'), 'x')
  const declined = await typing('n\n', ['gc', '--lake', lake])
  expect([declined.code, declined.said]).toEqual([1, expect.stringContaining('Remove them? [y/N]')])
  expect(await readdir(dead)).toEqual(['batch.parquet'])
  expect((await typing('n\n', ['gc', '--lake', lake, '--keep', '9'])).said).not.toContain('[y/N]')
  expect(await readdir(join(lake, 'companies'))).toHaveLength(1)
})

test('a lake among other files, or below folders that do not exist, is made after a question', async () => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'letter.txt'), 'Dear')
  const companies = join(await temporaryFolder(), 'companies.jsonl')
  await writeFile(companies, companyLine(1))
  const among = await typing('n\n', ['convert', companies, '--lake', folder])
  expect([among.code, among.said]).toEqual([1, expect.stringContaining('1 other file or folder')])
  expect(await readdir(folder)).toEqual(['letter.txt'])
  const far = join(folder, 'no', 'where')
  const below = await typing('n\n', ['convert', companies, '--lake', far])
  expect([below.code, below.said]).toEqual([1, expect.stringContaining('does not exist')])
  expect(await readdir(folder)).toEqual(['letter.txt'])

  expect((await typing('yes\n', ['convert', companies, '--lake', far])).code).toBe(0)
  const known = await typing('n\n', ['convert', companies, '--lake', far])
  expect([known.code, known.said.includes('[y/N]')]).toEqual([0, false])
  const fresh = join(folder, 'lake')
  const plain = await typing('n\n', ['convert', companies, '--lake', fresh])
  expect([plain.code, plain.said.includes('[y/N]')]).toEqual([0, false])
  expect((await runCommand(['convert', companies, '--lake', join(folder, 'x', 'y')])).code).toBe(0)
})
