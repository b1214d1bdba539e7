import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copyLake } from '../support/lakes.ts'
import { runCommand, runCommandJson } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode, SAMPLE_COMPANIES } from './run-cli.ts'

interface Compacted {
  readonly kind: string
  readonly snapshot: number
  readonly tables: readonly { readonly table: string; readonly after: { readonly rows: number } }[]
}

test('compact rewrites a lake once, status tells of it, and the answers stay', {
  timeout: 120_000,
}, async () => {
  const lake = join(await temporaryFolder(), 'lake')
  await copyLake('sample', lake)
  await runCommandJson(['convert', SAMPLE_COMPANIES, '--again', '--lake', lake])
  const ask = ['query', 'SELECT country_code, count(*) FROM companies GROUP BY 1 ORDER BY 1', '--lake', lake]
  const before = await runCommand(ask)
  const plan = await runCommandJson<Compacted>(['compact', '--lake', lake, '--dry-run'])
  expect(plan).toMatchObject({ kind: 'planned', snapshot: 2 })
  const done = await runCommandJson<Compacted>(['compact', '--lake', lake])
  expect(done).toMatchObject({ kind: 'compacted', snapshot: 3 })
  expect(done.tables.find(({ table }) => table === 'companies')?.after.rows).toBe(900)
  expect(await runCommand(ask)).toEqual(before)
  const again = await runCommand(['compact', '--lake', lake])
  expect([again.code, again.stdout]).toEqual([0, 'Nothing to do: the lake is compact.\n'])
  const { stdout } = await runCommand(['status', '--lake', lake, '--partitions'])
  expect(stdout).toContain('2 partitions (7 more merged by compact)')
  expect(stdout).toContain('(merged)')
  expect(stdout).toContain('compaction of 4 partitions')
})

test('compact refuses a folder that is no lake, a target below 1 MiB and too little memory', async () => {
  const folder = await temporaryFolder()
  const codes: (string | number | null)[][] = []
  for (const more of [[], ['--target-bytes', '1kB'], ['--memory', '300MiB']]) {
    const result = await runCommand(['compact', '--lake', join(folder, 'none'), '--json', ...more])
    codes.push([result.code, errorCode(result)])
  }
  expect(codes).toEqual([
    [1, 'LAKE_NOT_FOUND'],
    [2, 'USAGE'],
    [2, 'USAGE'],
  ])
})
