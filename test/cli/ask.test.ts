/** What a person at a terminal is asked before: by `script`, which gives a process one. */

import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyLake } from '../support/lakes.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal, needsTerminal } from './at-terminal.ts'
import { SAMPLE_COMPANIES } from './run-cli.ts'

const companiesOf = async (lake: string): Promise<readonly number[]> => {
  const rows = await runCommandJson<{ rows?: readonly { internal_id: number }[] }>([
    ...['query', '--lake', lake, 'SELECT internal_id FROM companies ORDER BY 1'],
  ])
  return (Array.isArray(rows) ? rows : (rows.rows ?? [])).map(({ internal_id }) => internal_id)
}

test('forget shows what it would do and asks; only a yes does it', async (context) => {
  needsTerminal(context)
  const lake = await copyLake('companies', join(await temporaryFolder(), 'lake'))
  const [first = 0, ...others] = await companiesOf(lake)
  expect(others.length).toBeGreaterThan(10)
  const args = ['forget', '--lake', lake, '--company', `${first}`]
  for (const typed of ['\n', 'yess\n', '\u0004']) {
    const { code, said } = await atTerminal(typed, args)
    expect([code, said]).toEqual([1, expect.stringContaining('Would forget 1 company and 0 persons')])
    expect(said).toContain('Forget them? [y/N]')
    expect(said).toContain('Nothing is changed.')
  }
  expect(await companiesOf(lake)).toEqual([first, ...others])
  expect((await atTerminal('y\n', args)).code).toBe(0)
  expect(await companiesOf(lake)).toEqual(others)
  const [second = 0] = others
  const yes = await atTerminal('n\n', ['forget', '--lake', lake, '--company', `${second}`, '--yes'])
  expect([yes.code, yes.said.includes('[y/N]')]).toEqual([0, false])
  expect(await companiesOf(lake)).toEqual(others.slice(1))
})

test('forget asks nobody where nobody sits', async () => {
  const lake = await copyLake('companies', join(await temporaryFolder(), 'lake'))
  const [first = 0, ...others] = await companiesOf(lake)
  const { code, stderr } = await runCommand(['forget', '--lake', lake, '--company', `${first}`], {
    stdin: 'n\n',
  })
  expect([code, stderr]).toEqual([0, ''])
  expect(await companiesOf(lake)).toEqual(others)
})

test('gc without --keep asks before it removes', async (context) => {
  needsTerminal(context)
  const lake = await copyLake('companies', join(await temporaryFolder(), 'lake'))
  expect((await atTerminal('n\n', ['gc', '--lake', lake])).said).toContain('Nothing to remove.')
  const dead = join(lake, 'companies', 'load=20200101T000000000Z-abcdef')
  await mkdir(dead)
  await writeFile(join(dead, 'batch.parquet'), 'x')
  const declined = await atTerminal('n\n', ['gc', '--lake', lake])
  expect([declined.code, declined.said]).toEqual([1, expect.stringContaining('Remove them? [y/N]')])
  expect(await readdir(dead)).toEqual(['batch.parquet'])
  expect((await atTerminal('n\n', ['gc', '--lake', lake, '--keep', '9'])).said).not.toContain('[y/N]')
  expect(await readdir(join(lake, 'companies'))).toHaveLength(1)
})

test('a lake among other files, or below folders that do not exist, is made after a question', async (context) => {
  needsTerminal(context)
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'letter.txt'), 'Dear')
  const among = await atTerminal('n\n', ['convert', SAMPLE_COMPANIES, '--lake', folder])
  expect([among.code, among.said]).toEqual([1, expect.stringContaining('1 other file or folder')])
  expect(await readdir(folder)).toEqual(['letter.txt'])
  const far = join(folder, 'no', 'where')
  const below = await atTerminal('n\n', ['convert', SAMPLE_COMPANIES, '--lake', far])
  expect([below.code, below.said]).toEqual([1, expect.stringContaining('does not exist')])
  expect(await readdir(folder)).toEqual(['letter.txt'])

  expect((await atTerminal('yes\n', ['convert', SAMPLE_COMPANIES, '--lake', far])).code).toBe(0)
  const known = await atTerminal('n\n', ['convert', SAMPLE_COMPANIES, '--lake', far])
  expect([known.code, known.said.includes('[y/N]')]).toEqual([0, false])
  const fresh = join(folder, 'lake')
  const plain = await atTerminal('n\n', ['convert', SAMPLE_COMPANIES, '--lake', fresh])
  expect([plain.code, plain.said.includes('[y/N]')]).toEqual([0, false])
  expect((await runCommand(['convert', SAMPLE_COMPANIES, '--lake', join(folder, 'x', 'y')])).code).toBe(0)
})
