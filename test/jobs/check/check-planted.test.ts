import { join } from 'node:path'
import { expect, test } from 'vitest'
import { check } from '../../../src/jobs/check.ts'
import { convert } from '../../../src/jobs/convert.ts'
import { fromRecords } from '../../../src/source/from-records.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { FINDINGS, LATER, PLANTED, PLANTED_RELATIONS, soundRecords } from '../planted-faults.ts'

test('check finds every fault that is planted among 300 companies, and of the others nothing above a note', async () => {
  const lake = join(await temporaryFolder(), 'lake')
  const { companies, relations } = soundRecords(300)
  const from = [
    fromRecords('companies', [...companies, ...PLANTED]),
    fromRecords('relations', [...relations, ...PLANTED_RELATIONS]),
  ]
  await convert({ from, lake })
  await convert({ from: [fromRecords('later', LATER)], lake, changeCurrency: true })
  const { checks, findings, failed } = await check({ lake })
  const planted = findings.filter(({ internal_id }) => Number(internal_id) < 1000)
  const others = findings.filter(({ internal_id }) => Number(internal_id) >= 1000)
  const plain = (rows: readonly object[]): string[] => rows.map((row) => JSON.stringify(row)).sort()
  const cells = planted.map(({ rule, severity, internal_id, fiscal_year, item, value, expected }) => [
    ...[rule, severity, internal_id, fiscal_year, item],
    ...[value, expected].map((one) => (typeof one === 'number' ? Math.round(one) : one)),
  ])
  const rounded = FINDINGS.map((one) =>
    one.map((cell, at) => (at > 4 && cell !== null ? Math.round(Number(cell)) : cell)),
  )
  expect(plain(cells)).toEqual(plain(rounded))
  expect(others.filter(({ severity }) => severity !== 'note')).toEqual([])
  expect(failed).toBe(6)
  expect(checks.filter(({ status }) => status === 'failed').map(({ name, value }) => [name, value])).toEqual([
    ['balance', 1],
    ['cycles', 1],
    ['duplicates', 2],
    ['future', 1],
    ['scale', 2],
    ['stakes', 2],
  ])
})
