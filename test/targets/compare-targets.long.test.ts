import { cp, readdir, readFile, rename, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { copy } from '../../src/jobs/copy.ts'
import { verify } from '../../src/jobs/verify.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { exportTables } from '../../src/targets/export/export-tables.ts'
import { publish } from '../../src/targets/publish.ts'
import { type Bench, companyLine, openBench } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

const load = async (one: Bench, id: number): Promise<void> => {
  await one.write(`${id}.jsonl`, [companyLine(id)])
  await one.run([`${id}.jsonl`])
}

/** All files below a folder with their bytes. */
const bytesOf = async (folder: string): Promise<ReadonlyMap<string, string>> => {
  const found = new Map<string, string>()
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }))
    if (entry.isFile()) {
      const path = join(entry.parentPath, entry.name)
      found.set(path, await readFile(path, 'latin1'))
    }
  return found
}

test('verify compares targets with the lake: current, behind, of a lost part, of another lake; and changes nothing', async () => {
  const one = openBench(await temporaryFolder())
  const backup = join(one.folder, 'backup')
  const places = ['current', 'behind', 'lost'].map((name) => `csv:${join(one.folder, name)}`)
  const [current = '', behind = '', lost = ''] = places
  const [exported, missing] = ['exported', 'missing'].map((name) => join(one.folder, `${name}.duckdb`))
  const { lake } = one
  const states = async (sinks: readonly string[]) => {
    const { targets = [], problems } = await verify({ lake, targets: { sinks } })
    expect(problems).toEqual([])
    return targets.map(({ state, code }) => code ?? state)
  }
  await load(one, 1)
  await deliver({ lake, sinks: [behind] })
  await copy({ lake, to: backup, sameLake: true })
  await load(one, 2)
  await deliver({ lake, sinks: [lost] })
  await exportTables({ lake, to: exported ?? '' })
  await publish({ lake, formats: ['delta', 'iceberg'] })
  const all = [lost, behind, exported ?? '', missing ?? '']
  expect(await states(all)).toEqual(['current', 'behind', 'behind', 'behind', ...Array(4).fill('current')])
  for (const table of ['companies', 'financials', 'published'])
    await cp(join(lake, table), join(backup, table), { recursive: true, force: false })
  await rm(lake, { recursive: true })
  await rename(backup, lake)
  await load(one, 3)
  await deliver({ lake, sinks: [current] })
  const other = openBench(await temporaryFolder())
  await load(other, 1)
  await deliver({ lake: other.lake, sinks: [`csv:${join(other.folder, 'out')}`] })
  const before = await bytesOf(one.folder)
  const found = await states([current, behind, lost, exported ?? '', `csv:${join(other.folder, 'out')}`])
  expect(found).toEqual([
    ...['current', 'behind', 'TARGET_AHEAD', 'TARGET_AHEAD', 'TARGET_OF_ANOTHER_LAKE'],
    ...Array(4).fill('TARGET_AHEAD'),
  ])
  expect(await bytesOf(one.folder)).toEqual(before)
})
