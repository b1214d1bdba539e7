import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { passwordVariable } from '../../../src/sink/targets.ts'
import { runCommand } from '../../support/run-command.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { SAMPLE } from '../run-cli.ts'

test.each([
  ['postgres://user:secret@host/db', true],
  ['postgresql://user:se/c?r@e#t@host', true],
  ['POSTGRES://:secret@host', true],
  ['postgres://host/db?sslmode=require&password=secret', true],
  ['postgres://user@host:5432/db', false],
  ['postgres://user:@host/db', false],
  ['postgres://host:5432/a:b', false],
  ['csv:a@b', false],
])('passwordVariable names the variable of an address with a password (%j: %s)', (address, holds) => {
  expect(passwordVariable(address)).toBe(holds ? 'PGPASSWORD' : undefined)
})

const ADDRESS = 'postgres://user:secret-word@127.0.0.1:1/db'

test('an argument with a password is refused before anything is done, names PGPASSWORD and does not repeat it', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const file = `${SAMPLE}/relations-0001.jsonl.br`
  for (const args of [
    ['convert', file, '--lake', lake, '--sink', ADDRESS],
    ['convert', file, '--to', ADDRESS],
    ['export', '--lake', lake, '--to', ADDRESS],
    ['doctor', '--lake', lake, '--sink', ADDRESS],
    ['sync', 'companies', '--lake', lake, `--sink=${ADDRESS}`],
  ]) {
    const { code, stdout, stderr } = await runCommand(args)
    expect(code, args[0]).toBe(2)
    expect(stderr).toMatch(/^error USAGE: .*password.*PGPASSWORD/m)
    expect(stdout + stderr).not.toContain('secret-word')
  }
  expect(existsSync(lake)).toBe(false)
  const { code, stderr } = await runCommand(['convert', file, '--to', ADDRESS.replace(':secret-word', '')])
  expect(code).toBe(1)
  expect(stderr).not.toContain('password')
})
