import { join } from 'node:path'
import { expect, test } from 'vitest'
import { holdsPassword } from '../../../src/cli/run-job.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { cli, SAMPLE } from '../run-cli.ts'

test.each([
  ['postgres://user:secret@host/db', true],
  ['postgresql://user:se/c?r@e#t@host', true],
  ['POSTGRES://:secret@host', true],
  ['postgres://host/db?sslmode=require&password=secret', true],
  ['postgres://user@host:5432/db', false],
  ['postgres://user:@host/db', false],
  ['postgres://host:5432/a:b', false],
  ['csv:a@b', false],
])('holdsPassword(%j) is %s', (address, holds) => {
  expect(holdsPassword(address)).toBe(holds)
})

const ADDRESS = 'postgres://user:secret-word@127.0.0.1:1/db'

test('a password in the address of a target draws a warning that names PGPASSWORD, and is not repeated', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const loaded = await cli([
    'convert',
    `${SAMPLE}/relations-0001.jsonl.br`,
    '--lake',
    lake,
    '--sink',
    ADDRESS,
  ])
  const exported = await cli(['export', '--lake', lake, '--to', ADDRESS])
  for (const { stdout, stderr } of [loaded, exported]) {
    expect(stderr).toMatch(/^warning: .*password.*PGPASSWORD/m)
    expect(stdout + stderr).not.toContain('secret-word')
  }
  const without = await cli(['export', '--lake', lake, '--to', ADDRESS.replace(':secret-word', '')])
  expect(without.stderr).not.toContain('warning')
})
