/**
 * Lakes that tests ask or change: each is made once a process, on first use. Knows nothing of vitest, but what is copied goes
 * into a test's own folder.
 */

import { mkdtempSync, rmSync } from 'node:fs'
import { cp } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'

const DATA = join(import.meta.dirname, '../../data')
const COMPANIES = join(DATA, 'sample/companies-0001.jsonl.br')
const RELATIONS = join(DATA, 'sample/relations-0001.jsonl.br')

/** A company with texts of which no catalog may tell. */
export const firm = (InternalId: number, sales: number): object => ({
  BasicDetails: {
    ...{ InternalId, CountryCode: 'SE', CompanyName: `Firm ${InternalId}`, OrgNo: `55-${InternalId}` },
    ...{ Email: `mail-of-${InternalId}@example.com`, Signatory: `Signatory ${InternalId}` },
  },
  Financials: { ProfitAndLoss: { NetSales: { 2023: sales } } },
  MetaData: { CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
})

type Make = (lake: string) => Promise<unknown>

const LAKES = {
  /** Three companies with two years of figures. */
  three: (lake) =>
    convert({
      from: fromRecords(
        'crm',
        [1, 2, 3].map((id) => ({
          BasicDetails: { InternalId: id, CompanyName: `Company ${id}`, CountryCode: 'SE' },
          Financials: { ProfitAndLoss: { NetSales: { 2023: id, 2024: id + 0.5 } } },
        })),
      ),
      lake,
    }),
  /** Two companies, one of them restated by a second run. */
  restated: async (lake) => {
    for (const records of [[firm(1, 5), firm(2, 6)], [firm(1, 7)]])
      await convert({ from: fromRecords('crm', records), lake, again: true })
  },
  /** The 300 companies of the sample's first file. */
  companies: (lake) => convert({ from: COMPANIES, lake }),
  /** The same loaded twice: each company has two versions. */
  twice: async (lake) => {
    await LAKES.companies(lake)
    await convert({ from: COMPANIES, lake, again: true })
  },
  /** One load of it, and the relations of the sample's first file. */
  relations: (lake) => convert({ from: [COMPANIES, RELATIONS], lake }),
  /** The whole sample. */
  sample: (lake) => convert({ from: join(DATA, 'sample'), lake }),
  /** The whole sample, and its second delivery: two versions of some records. */
  deliveries: async (lake) => {
    await convert({ from: join(DATA, 'sample'), lake })
    await convert({ from: join(DATA, 'sample-second'), lake })
  },
  /** Both deliveries, compacted. */
  compacted: async (lake) => {
    await LAKES.deliveries(lake)
    await compact({ lake })
  },
} as const satisfies Readonly<Record<string, Make>>
export type LakeName = keyof typeof LAKES

const made = new Map<string, Promise<string>>()
let place: string | undefined

/** A lake that many tests of this process share: nobody writes into it. @returns its path */
export const sharedLake = (name: LakeName): Promise<string> => {
  // With its catalogs where the file of tests has them.
  const { FIRMLAKE_DUCKLAKE = '', FIRMLAKE_DUCKDB = '' } = process.env
  const key = [name, FIRMLAKE_DUCKLAKE, FIRMLAKE_DUCKDB].join(' ')
  if (place === undefined) {
    const folder = mkdtempSync(join(tmpdir(), 'firmlake-lakes-'))
    place = folder
    process.on('exit', () => rmSync(folder, { recursive: true, force: true }))
  }
  const lake = join(place, String(made.size))
  const make: Make = LAKES[name]
  const known = made.get(key) ?? make(lake).then(() => lake)
  made.set(key, known)
  return known
}

/** Copies a lake to `to`, where the test may change it. @returns `to` */
export const copyLake = async (name: LakeName, to: string): Promise<string> => {
  await cp(await sharedLake(name), to, { recursive: true, preserveTimestamps: true })
  return to
}
