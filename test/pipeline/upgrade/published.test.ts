/** An upgrade of a lake with Delta and Iceberg tables of an earlier release, as delta-rs and PyIceberg see it. */

import { expect, onTestFinished, test } from 'vitest'
import { publish } from '../../../src/pipeline/targets/publish.ts'
import { takeBack } from '../../../src/pipeline/upgrade/take-back.ts'
import { upgradeLake } from '../../../src/pipeline/upgrade/upgrade-lake.ts'
import { asEarlierRelease } from '../../publish/earlier-release.ts'
import { needs } from '../../support/needs.ts'
import { openPython, pythonMissing } from '../../support/readers.ts'
import { filesBelow, openEarlier } from './earlier-lake.ts'

/** All rows of a table by both readers, the named columns alone: tables of all versions, and those of current rows. */
const READ = `
from pathlib import Path
from deltalake import DeltaTable
from pyiceberg.table import StaticTable

def iceberg(folder):
    newest = max((folder / 'metadata').glob('v*.metadata.json'), key=lambda one: int(one.name[1:].split('.')[0]))
    return StaticTable.from_metadata(str(newest)).scan().to_arrow()

def delta(folder):
    return DeltaTable(str(folder)).to_pyarrow_table()

lake = Path(input['lake'])
read = {
    'delta': delta(lake / input['table']),
    'iceberg': iceberg(lake / input['table']),
    'delta, current': delta(lake / 'published' / 'delta' / input['table']),
    'iceberg, current': iceberg(lake / 'published' / 'iceberg' / input['table']),
}
result = {
    name: {
        'columns': sorted(table.column_names),
        'rows': sorted(repr(row) for row in table.select(sorted(set(table.column_names) - set(input['without']))).to_pylist()),
    }
    for name, table in read.items()
}
`

interface Read {
  readonly columns: readonly string[]
  readonly rows: readonly string[]
}

const ADDED = ['loaded_at', 'run', 'snapshot']

test('an upgrade adds columns to published tables and changes no row of theirs, and is taken back', async (context) => {
  needs(context, 'delta-rs and PyIceberg', pythonMissing())
  const { lake, verify } = await openEarlier('2-views')
  await asEarlierRelease(() => publish({ lake, formats: ['iceberg'] }))
  const python = await openPython()
  onTestFinished(python.close)
  const read = (table: string): Promise<Readonly<Record<string, Read>>> =>
    python.run(READ, { lake, table, without: ADDED })
  const readAll = async () => ({ companies: await read('companies'), financials: await read('financials') })

  const [files, before] = [await filesBelow(lake), await readAll()]
  for (const name of ['delta', 'iceberg']) expect(before.companies[name]?.rows).toHaveLength(7)
  for (const name of ['delta', 'iceberg']) expect(before.companies[`${name}, current`]?.rows).toHaveLength(5)
  const { changes } = await upgradeLake({ lake })
  expect(changes.filter(({ part }) => part === 'publications').map(({ is }) => is.split(' ')[0])).toEqual([
    'delta',
    'iceberg',
  ])
  const after = await readAll()
  for (const table of ['companies', 'financials'] as const)
    for (const [name, { columns, rows }] of Object.entries(before[table])) {
      const added = name.endsWith('current') ? [] : ADDED
      expect(after[table][name]?.columns, `${table}, ${name}`).toEqual([...columns, ...added].sort())
      expect(after[table][name]?.rows, `${table}, ${name}`).toEqual(rows)
    }
  expect((await verify()).problems).toEqual([])
  await takeBack(lake)
  expect(await filesBelow(lake)).toEqual(files)
  expect(await readAll()).toEqual(before)
})
