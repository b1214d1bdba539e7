import { randomBytes } from 'node:crypto'
import { readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { createRun } from '../../../src/manifest/runs/runs.ts'
import { type RunUnits, readUnits, UNITS_FILE, unitsText } from '../../../src/manifest/runs/units.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const UNITS: RunUnits = {
  units: [
    {
      phase: 0,
      job: 0,
      sources: [
        { name: 'a', at: 0, content: 'companies' },
        { name: 'b', at: 1 },
      ],
    },
    { phase: 1, job: 0, sources: [{ name: 'c', at: 2, blocks: { from: 0, to: 4, of: 9 } }] },
  ],
  tool: 'firmlake 1',
}

const runWith = async (units: RunUnits | undefined): Promise<{ lake: string; run: string }> => {
  const lake = join(await temporaryFolder(), 'lake')
  const files = new Map(units ? [[UNITS_FILE, unitsText(units)]] : [])
  const { run } = await createRun({ lake, plan: { at: 1 }, files, now: new Date(), random: randomBytes })
  return { lake, run }
}

test('readUnits gives what a run was begun with', async () => {
  for (const units of [UNITS, { units: [] }]) {
    const { lake, run } = await runWith(units)
    expect(await readUnits(lake, run)).toEqual(units)
  }
})

test('readUnits knows a run without units', async () => {
  const { lake, run } = await runWith(undefined)
  expect(await readUnits(lake, run)).toBeUndefined()
})

test('readUnits refuses units of which a byte was changed', async () => {
  const { lake, run } = await runWith(UNITS)
  const path = join(lake, '_runs', run, UNITS_FILE)
  const text = await readFile(path, 'utf8')
  await writeFile(path, text.replace('"to":4', '"to":5'))
  await expect(readUnits(lake, run)).rejects.toMatchObject({
    code: 'RUN_NOT_RESUMABLE',
    message: `Cannot read the units of run "${run}": "units.json" is damaged`,
    context: { run },
  })
})
