/** A lake as nights of loading make it: all companies once, then each night a share of them again, through `convert`. */

import { createWriteStream } from 'node:fs'
import { mkdir, rm } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { pipeline } from 'node:stream/promises'
import { convertFiles } from '../src/jobs/convert.ts'

const COUNTRIES = ['SE', 'NO', 'DK', 'FI', 'DE', 'FR', 'NL', 'GB'] as const
const YEARS = [2022, 2023, 2024] as const
const ITEMS = {
  ProfitAndLoss: ['NetSales', 'EBIT', 'NetResult', 'PersonnelExpenses'],
  BalanceSheet: ['TotalAssets', 'TotalEquity', 'TotalCurrentAssets', 'TotalCurrentLiabilities'],
} as const

/** Figures of each company: few, so that a million companies are made in minutes. */
export const FIGURES = YEARS.length * Object.values(ITEMS).flat().length

export const countryOf = (id: number): string => COUNTRIES[(id * 7) % COUNTRIES.length] ?? 'SE'

/** A number that looks random and is the same for the same arguments. */
const mixed = (a: number, b: number): number => {
  let h = Math.imul(a ^ 0x9e3779b9, 0x85ebca6b) ^ Math.imul(b + 0x165667b1, 0xc2b2ae35)
  h = Math.imul(h ^ (h >>> 15), 0x2c1b3c6d)
  return (h ^ (h >>> 13)) >>> 0
}

const companyLine = (id: number, night: number): string => {
  let figure = 0
  const financials = Object.fromEntries(
    Object.entries(ITEMS).map(([category, items]) => [
      category,
      Object.fromEntries(
        items.map((item) => [
          item,
          Object.fromEntries(YEARS.map((year) => [year, (mixed(id, night * 64 + figure++) % 1e8) / 10])),
        ]),
      ),
    ]),
  )
  const day = new Date(Date.UTC(2026, 0, 1 + night)).toISOString().slice(0, 19)
  return `${JSON.stringify({
    BasicDetails: {
      InternalId: id,
      CompanyName: `Company ${mixed(id, 1).toString(36)} ${mixed(id, 2).toString(36)}`,
      OrgNo: String(5_560_000_000 + id),
      CountryCode: countryOf(id),
      Address: {
        Street: `Street ${mixed(id, 3) % 5000}`,
        Zipcode: String(mixed(id, 4) % 99_999),
        City: `City ${mixed(id, 5) % 900}`,
      },
    },
    MetaData: { ContentUpdatedAt: day, FinancialFigureScale: 'Thousands', CurrentCurrencyCode: 'EUR' },
    Financials: financials,
  })}\n`
}

function* lines(ids: Iterable<number>, night: number): Generator<string> {
  let text = ''
  for (const id of ids) {
    text += companyLine(id, night)
    if (text.length < 1 << 20) continue
    yield text
    text = ''
  }
  yield text
}

function* changed(companies: number, share: number, night: number): Generator<number> {
  for (let id = 1; id <= companies; id += 1) if (mixed(id, night * 977) % 10_000 < share * 10_000) yield id
}

/** The lines of a night: of the first one all companies. */
export const nightOf = (companies: number, share: number, night: number): Iterable<string> =>
  lines(
    night === 0 ? Array.from({ length: companies }, (_, at) => at + 1) : changed(companies, share, night),
    night,
  )

export interface NightlyLake {
  readonly companies: number
  readonly nights: number
  /** Share of the companies that a night changes. */
  readonly share: number
}

/** Makes the lake, anew where it is there. */
export const makeNightlyLake = async (
  folder: string,
  { companies, nights, share }: NightlyLake,
): Promise<string> => {
  await rm(folder, { recursive: true, force: true })
  await mkdir(folder, { recursive: true })
  const lake = join(folder, 'lake')
  for (let night = 0; night <= nights; night += 1) {
    const path = join(folder, `night-${night}.jsonl`)
    await pipeline(Readable.from(nightOf(companies, share, night)), createWriteStream(path))
    const plan = { inputs: [path], cwd: folder, again: false, limits: {} }
    await convertFiles(plan, { lake, maxQuarantined: { kind: 'count', lines: 0 } })
    await rm(path)
  }
  return lake
}
