/** Lakes for the report: one with what is awkward, and one without anything. */

import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'

export const IMAGE = '<img src=x onerror="document.title=1">'
export const SCRIPT = '</code></pre></style><script>document.title=2</script>'
export const BACKWARDS = 'ab\u202edcba\u2066\u0007 &amp; \'"'
export const LONG = `L${'o'.repeat(3998)}g`
const SECRET = 'Hidden Protected Person'
/** Must stand nowhere in a report. */
export const ABSENT = [SECRET, 'a line that is no record']

const company = (InternalId: number, CompanyName: string, sales: number, more: object = {}): object => ({
  BasicDetails: { InternalId, CompanyName, CountryCode: InternalId % 2 ? 'SE' : 'NO' },
  MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'None' },
  Financials: { ProfitAndLoss: { NetSales: { 2020: 1, 2021: sales, 2023: 7 }, [SCRIPT]: { 2021: 2 } } },
  ...more,
})

const NAMES = [IMAGE, SCRIPT, BACKWARDS, LONG]

/** Two loads of hostile names, unknown fields, bad lines, a restatement of each, a protected person, stakes above 100 %, and a run that failed. */
export const loadAwkwardLake = async (lake: string, folder: string): Promise<void> => {
  const lines = (factor: number): string =>
    [
      ...NAMES.map((name, at) =>
        JSON.stringify(company(at + 1, name, 100 * factor, { [IMAGE]: 1, [BACKWARDS]: 2 })),
      ),
      ...ABSENT.map((text) => `{"broken": ${text}`),
    ].join('\n')
  const person = { Name: SECRET, IsCompany: false, IsProtected: true, InternalId: 99 }
  const owner = (InternalId: number): object => {
    const stake = { OwnershipStake: 80 }
    return { InternalId, Name: IMAGE, IsCompany: true, Ownerships: [stake] }
  }
  const relations = [
    { InternalId: 1, Name: IMAGE, Parents: [person] },
    { InternalId: 2, Name: SCRIPT, Parents: [owner(50), owner(51)] },
  ]
  for (const load of [1, 2]) {
    const file = join(folder, `${load} <b>&'bold'.jsonl`)
    await writeFile(file, `${lines(load)}\n`)
    await convert({ from: [file], lake, maxQuarantined: 100 })
  }
  await convert({ from: [fromRecords(IMAGE, relations)], lake })
  const failing = join(folder, `3 <b>&'bold'.jsonl`)
  await writeFile(failing, `${lines(3)}\n`)
  await convert({ from: [failing], lake, maxQuarantined: 0 }).catch(() => undefined)
}

/** A lake whose one source has no record. */
export const loadEmptyLake = async (lake: string, folder: string): Promise<void> => {
  const file = join(folder, 'empty.jsonl')
  await writeFile(file, '')
  await convert({ from: [file], lake, content: 'companies' })
}
