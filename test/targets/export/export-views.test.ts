/** Views of the analysis layer as tables of an export. */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { convert } from '../../../src/jobs/convert.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { exportTables } from '../../../src/targets/export/export-tables.ts'
import { latestOf } from '../../analysis/expected.ts'
import { CURRENT, FIGURES } from '../../analysis/unlike-companies.ts'

let folder: string
let lake: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await convert({ from: [fromRecords('records', CURRENT)], lake })
})
afterAll(() => rm(folder, { recursive: true, force: true }))

test('a file named after a view has the rows of the view', async () => {
  const { tables } = await exportTables({ lake, to: join(folder, 'latest_figures.jsonl') })
  const text = await readFile(join(folder, 'latest_figures.jsonl'), 'utf8')
  const rows = text
    .trim()
    .split('\n')
    .map((line): Record<string, unknown> => JSON.parse(line))
  const keyOf = (cells: readonly unknown[]): string => JSON.stringify(cells)
  expect(
    rows.map((row) => keyOf([row.internal_id, row.line_item, row.fiscal_year, row.value])).sort(),
  ).toEqual(
    latestOf(FIGURES)
      .map(({ id, item, year, value }) => keyOf([id, item, year, value]))
      .sort(),
  )
  expect(tables).toMatchObject([{ table: 'latest_figures', rows: rows.length }])
})

test.each([
  [['nothing'], {}, 'Cannot export table "nothing": no table or view of a lake has this name'],
  [['figure'], {}, 'did you mean "figures"?'],
  [['growth'], {}, `Cannot export table "growth": growth is a macro: FROM growth('NetSales')`],
  [['figures'], { history: true }, 'Cannot export the view "figures" in all versions'],
  [['figures'], { names: true }, 'Cannot export the view "figures" with further names'],
  [
    ['figures'],
    { take: { leaveOut: ['persons'] } },
    'Cannot export the view "figures" with columns left out',
  ],
])('of %j %j is refused', async (tables, more, message) => {
  const refused = exportTables({ lake, to: join(folder, 'x.csv'), tables, ...more })
  await expect(refused).rejects.toMatchObject({ code: 'USAGE', message: expect.stringContaining(message) })
})
