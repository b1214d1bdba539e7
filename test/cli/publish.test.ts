import { join } from 'node:path'
import { expect, test } from 'vitest'
import { logNames, smallLake } from '../publish/sample-lake.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode } from './run-cli.ts'

test('publish delta tells what it wrote, and that there is nothing to do the second time', async () => {
  const lake = await smallLake(await temporaryFolder(), 2)
  const first = await runCommand(['publish', 'delta', '--lake', lake])
  // On a busy machine it takes long enough to show how far it is.
  expect([first.code, first.stderr.replaceAll(/^\d+\/\d+ snapshots? .*\n/gm, '')]).toEqual([0, ''])
  expect(first.stdout).toMatch(/^companies +all +2 +2 +0$/m)
  expect(first.stdout).toMatch(/^companies +current +1 +2 +0$/m)
  expect(first.stdout).toContain('All tables show snapshot 2.')
  expect(await logNames(lake, 'companies')).toHaveLength(2)
  const second = await runCommand(['publish', 'delta', '--lake', lake])
  expect(second.stdout).toBe('All tables show snapshot 2 already.\n')
})

test('publish delta --json gives the result as one document', async () => {
  const lake = await smallLake(await temporaryFolder(), 1)
  const result = await runCommandJson<{ readonly tables: readonly object[] }>([
    'publish',
    'delta',
    '--lake',
    lake,
  ])
  expect(result).toMatchObject({ lake, format: 'delta', snapshot: 1 })
  const companies = { format: 'delta', table: 'companies', versions: 1, added: 1, removed: 0 }
  expect(result.tables).toContainEqual(expect.objectContaining(companies))
})

test('publish delta ends with LAKE_NOT_FOUND where there is no lake', async () => {
  const result = await runCommand([
    'publish',
    'delta',
    '--lake',
    join(await temporaryFolder(), 'no'),
    '--json',
  ])
  expect(result.code).toBe(1)
  expect(errorCode(result)).toBe('LAKE_NOT_FOUND')
})
