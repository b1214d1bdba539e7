/** The lake of the questions in docs/analysis.md: the sample, and a second load that restates some of it. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { brotliDecompressSync } from 'node:zlib'
import type { Company, RelationsCompany } from '../../src/contract/objects.ts'
import { convert } from '../../src/jobs/convert/convert.ts'
import { fromRecords } from '../../src/source/from-records.ts'

const SAMPLE = fileURLToPath(new URL('../../data/sample/', import.meta.url))

const linesOf = async <T>(content: string): Promise<T[]> => {
  const names = (await readdir(SAMPLE)).filter((name) => name.startsWith(content)).sort()
  const texts = await Promise.all(
    names.map(async (name) => brotliDecompressSync(await readFile(join(SAMPLE, name)))),
  )
  return texts.flatMap((bytes) =>
    bytes
      .toString('utf8')
      .trimEnd()
      .split('\n')
      .map((line): T => JSON.parse(line)),
  )
}

/** The records of the sample, and those of the second load. */
export interface SampleRecords {
  readonly companies: readonly Company[]
  readonly relations: readonly RelationsCompany[]
  /** Current ones: the second load's in place of the sample's. */
  readonly current: readonly Company[]
  readonly currentRelations: readonly RelationsCompany[]
  readonly second: { readonly companies: readonly Company[]; readonly relations: readonly RelationsCompany[] }
}

type Statements = NonNullable<Company['Financials']>

const salesOf = ({ Financials }: Company) => Object.entries(Financials?.ProfitAndLoss?.NetSales ?? {})

/** Every item without one year. */
const withoutYear = (statements: Statements, year: string): Statements =>
  JSON.parse(JSON.stringify(statements), (key: string, value: unknown) => (key === year ? undefined : value))

/** Three companies with a new name and their latest sales 10 % higher, one without its last year but one; a person on a second board. */
export const sampleRecords = async (): Promise<SampleRecords> => {
  const companies = await linesOf<Company>('companies')
  const relations = await linesOf<RelationsCompany>('relations')
  const ordinary = companies.filter((company) => salesOf(company).length > 3).slice(0, 4)
  const restated = ordinary.slice(0, 3).map((company): Company => {
    const [year = '', value] = salesOf(company).at(-1) ?? []
    const { ProfitAndLoss } = company.Financials ?? {}
    const NetSales = { ...ProfitAndLoss?.NetSales, [year]: Math.round(Number(value) * 1.1) }
    return {
      ...company,
      ...(company.BasicDetails && {
        BasicDetails: { ...company.BasicDetails, CompanyName: `${company.BasicDetails.CompanyName} Group` },
      }),
      Financials: { ...company.Financials, ProfitAndLoss: { ...ProfitAndLoss, NetSales } },
    }
  })
  const shortened = ordinary.slice(3).map((company): Company => {
    const year = salesOf(company).at(-2)?.[0] ?? ''
    return { ...company, Financials: withoutYear(company.Financials ?? {}, year) }
  })
  const seated = relations.flatMap(({ Parents }) =>
    (Parents ?? []).filter(
      ({ IsCompany, IsProtected, KeyPersonRoles }) =>
        IsCompany === false &&
        !IsProtected &&
        KeyPersonRoles?.some(({ Category, OutDate }) => Category === 'Board' && !OutDate),
    ),
  )
  const [person] = seated
  const board: RelationsCompany = {
    InternalId: 77_000_001,
    Name: 'Second Board AB',
    Parents: person ? [person] : [],
  }
  const changed = [...restated, ...shortened]
  const ids = new Set(changed.map(({ BasicDetails }) => BasicDetails?.InternalId))
  return {
    companies,
    relations,
    second: { companies: changed, relations: [board] },
    current: [...companies.filter(({ BasicDetails }) => !ids.has(BasicDetails?.InternalId)), ...changed],
    currentRelations: [...relations, board],
  }
}

/** Loads both. */
export const loadSampleLake = async (lake: string): Promise<SampleRecords> => {
  const records = await sampleRecords()
  const { companies, relations } = records.second
  for (const from of [[SAMPLE], [fromRecords('restated', companies), fromRecords('boards', relations)]]) {
    const { noViews } = await convert({ from, lake })
    // The commit stands without; whoever asks lake.duckdb would be answered from the one before.
    if (noViews !== undefined) throw new Error(`lake.duckdb was not written: ${noViews}`)
  }
  return records
}
