/** Days that the service writes as date-times: an offset is no reason to show the day before, or behind. */

import { expect, test } from 'vitest'
import { records } from '../../src/jobs/records.ts'
import { companyLine, openBench, relationsLine } from '../run/batch-bench.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'

/** The text of a day, and the day with its time. */
const DAYS = {
  '2023-12-31T00:00:00+01:00': '2023-12-31 00:00:00',
  '2023-12-31T23:59:59-05:00': '2023-12-31 23:59:59',
  '2023-12-31T00:00:00.1234567+05:45': '2023-12-31 00:00:00.123456',
  '2023-12-31T00:00:00Z': '2023-12-31 00:00:00',
  '2023-12-31T00:00:00': '2023-12-31 00:00:00',
  '2023-12-31': '2023-12-31 00:00:00',
  // These are left to DuckDB.
  '2023-12-31T00:00:00+0100': '2023-12-31 00:00:00',
  '2023-12-31 00:00:00 Europe/Stockholm': '2023-12-31 00:00:00',
  '0001-01-01T00:00:00+02:00': null,
  'no day': null,
}

test('the day that is written is the day of the column, and the text comes back as it was', async () => {
  const one = openBench(await temporaryFolder())
  const strings = Object.keys(DAYS)
  const companies = strings.map((text, at) =>
    companyLine(at + 1, {
      MetaData: { LastFiscalYearEnd: text, LastReportQuarter: text, FinancialsUpdatedAt: text },
    }),
  )
  const entity = (text: string) => ({
    InternalId: 100,
    Name: 'Child',
    KeyPersonRoles: [{ Id: 1, InDate: text, OutDate: text }],
  })
  const relations = strings.map((text, at) =>
    JSON.stringify({ ...JSON.parse(relationsLine(at + 1)), Children: [entity(text)] }),
  )
  await one.write('companies.jsonl', companies)
  await one.write('relations.jsonl', relations)
  await one.run(['companies.jsonl', 'relations.jsonl'])
  const plain = (column: string): string => `(${column} AT TIME ZONE 'UTC')::VARCHAR`
  const rows = await one.query(`
    SELECT ${['last_fiscal_year_end', 'last_report_quarter', 'in_date', 'out_date'].map(plain).join(', ')},
      ${plain('financials_updated_at')}
    FROM companies JOIN roles ON company_id = companies.internal_id ORDER BY companies.internal_id`)
  expect(rows.map((row) => row.slice(0, 4))).toEqual(Object.values(DAYS).map((day) => [day, day, day, day]))
  // An update is an instant.
  expect(rows.slice(0, 2).map((row) => row[4])).toEqual(['2023-12-30 23:00:00', '2024-01-01 04:59:59'])
  const restored: unknown[] = []
  for await (const text of records({ lake: one.lake })) restored.push(JSON.parse(text))
  const absent = Object.values(DAYS).indexOf(null)
  expect(restored).toHaveLength(2 * strings.length)
  for (const [at, text] of strings.entries()) {
    if (at === absent) continue
    expect(restored[at]).toMatchObject({ MetaData: { LastFiscalYearEnd: text, LastReportQuarter: text } })
    expect(restored[strings.length + at]).toMatchObject({ Children: [entity(text)] })
  }
  expect(restored[absent]).not.toHaveProperty('MetaData.LastFiscalYearEnd')
})
