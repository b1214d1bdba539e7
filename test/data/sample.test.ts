import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import type { Control } from '../../data/control.ts'
import { ALL_CONTENT, type SampleOptions, writeSample } from '../../data/sample.ts'
import { DICTIONARIES, FIGURE_SCALE, type FigureScale } from '../../src/contract/dictionaries.ts'
import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { CONTENT, type Content } from '../../src/contract/objects.ts'
import { exactProduct, exactSum } from '../support/exact-product.ts'
import { asList, asObject, decodedRecords, decodedText, isObject, type Json } from './decoded.ts'

const OPTIONS: SampleOptions = {
  companies: 400,
  seed: 3,
  files: 3,
  small: true,
  awkward: 0.2,
  content: ALL_CONTENT,
}
const namesOf = ({ files }: Control, content: Content) =>
  files.filter((file) => file.content === content).map(({ name }) => name)

let directory: string
let control: Control
const records: Record<Content, Json[]> = { companies: [], relations: [] }
beforeAll(async () => {
  directory = await mkdtemp(join(tmpdir(), 'firmlake-data-'))
  control = await writeSample(directory, OPTIONS, 1)
  for (const content of ALL_CONTENT)
    records[content] = await decodedRecords(directory, namesOf(control, content))
})
afterAll(() => rm(directory, { recursive: true }))

test('writeSample gives the same bytes for the same seed, and others for another', async () => {
  const again = join(directory, 'again')
  const other = join(directory, 'other')
  await writeSample(again, OPTIONS, 1)
  await writeSample(other, { ...OPTIONS, seed: 4 }, 1)
  for (const name of [...control.files.map((file) => file.name), 'control.json']) {
    const bytes = await readFile(join(directory, name))
    expect(bytes.equals(await readFile(join(again, name)))).toBe(true)
    expect(bytes.equals(await readFile(join(other, name)))).toBe(false)
  }
})

test.each(['sample', 'sample-second'])('data/%s is what its command makes', async (folder) => {
  const committed = join(import.meta.dirname, '../../data', folder)
  const { generator, files } = JSON.parse(await readFile(join(committed, 'control.json'), 'utf8'))
  const { quality, ...options } = generator
  const made = join(directory, 'made', folder)
  await writeSample(made, options, quality)
  expect(await readFile(join(made, 'control.json'))).toEqual(await readFile(join(committed, 'control.json')))
  for (const { name } of files) {
    expect((await decodedText(made, name)) === (await decodedText(committed, name)), name).toBe(true)
  }
})

/** Names of fields that have a value somewhere in the records, each with its object's name. */
const fieldsSeen = (values: readonly unknown[], type: ObjectType, seen = new Set<string>()): Set<string> => {
  for (const value of values.filter(isObject)) {
    for (const [name, field] of Object.entries<Field>(type.fields)) {
      const given = value[name]
      if (given === undefined || given === null) continue
      seen.add(`${type.name}.${name}`)
      if (field.kind === 'object') fieldsSeen([given], field.of, seen)
      if (field.kind === 'objects') fieldsSeen(asList(given), field.of, seen)
      if (field.kind === 'self-list') fieldsSeen(asList(given), type, seen)
    }
  }
  return seen
}
const fieldsDeclared = (type: ObjectType): string[] =>
  Object.entries<Field>(type.fields).flatMap(([name, field]) => [
    `${type.name}.${name}`,
    ...(field.kind === 'object' || field.kind === 'objects' ? fieldsDeclared(field.of) : []),
  ])

test.for(ALL_CONTENT)('%s use every field of the contract', (content) => {
  const seen = fieldsSeen(records[content], CONTENT[content])
  expect(fieldsDeclared(CONTENT[content]).filter((name) => !seen.has(name))).toEqual([])
})

test('companies use every code, and no code that is not in a dictionary', () => {
  const used = (of: (company: Json) => unknown) =>
    new Set(records.companies.map(of).filter((code) => code !== undefined && code !== null && code !== 0))
  const basic = (name: string) => used(({ BasicDetails }) => asObject(BasicDetails)[name])
  const all = (name: keyof typeof DICTIONARIES) =>
    new Set(DICTIONARIES[name].values.map(({ value }) => value))
  for (const name of ['OperationalStatus', 'LegalForm', 'CompanyType', 'ListingType'] as const) {
    expect(basic(name), name).toEqual(all(name))
  }
  expect(used(({ MetaData }) => asObject(MetaData).FinancialFigureScale)).toEqual(all('FinancialFigureScale'))
})

interface Figure {
  readonly consolidation: 'Consolidated' | 'Unconsolidated'
  readonly category: string
  readonly lineItem: string
  readonly year: number
  readonly value: number
  readonly scale: FigureScale
  readonly currency: string
}
const SIDES = [
  ['Consolidated', 'Financials', 'Employees'],
  ['Unconsolidated', 'UnconsolidatedFinancials', 'EmployeesUnconsolidated'],
] as const

function* figuresOf(company: Json): Generator<Figure> {
  const { FinancialFigureScale, CurrentCurrencyCode } = asObject(company.MetaData)
  const scale = FinancialFigureScale as FigureScale
  for (const [consolidation, field] of SIDES) {
    for (const [category, data] of Object.entries(asObject(company[field]))) {
      for (const [lineItem, series] of Object.entries(asObject(data))) {
        for (const [year, value] of Object.entries(asObject(series))) {
          if (typeof value !== 'number') continue
          const currency = String(CurrentCurrencyCode)
          yield { consolidation, category, lineItem, year: Number(year), value, scale, currency }
        }
      }
    }
  }
}

test('companies use every line item, in both consolidations', () => {
  const figures = records.companies.flatMap((company) => [...figuresOf(company)])
  for (const [side] of SIDES) {
    const used = new Set(
      figures.filter(({ consolidation }) => consolidation === side).map((f) => `${f.category}.${f.lineItem}`),
    )
    expect(used).toEqual(new Set(LINE_ITEMS.map((item) => `${item.category}.${item.lineItem}`)))
  }
  expect(Math.min(...figures.map(({ year }) => year))).toBe(1985)
})

describe('control totals equal a count over the decoded lines', () => {
  test('of files', async () => {
    for (const { name, decodedBytes, records: count } of control.files) {
      const text = await decodedText(directory, name)
      expect([Buffer.byteLength(text), text.split('\n').length - 1]).toEqual([decodedBytes, count])
    }
    expect(control.companies.records).toBe(OPTIONS.companies)
    expect(control.relations.records).toBe(records.relations.length)
  })

  test('of figures and headcounts', () => {
    const counts = new Map<string, number>()
    const amounts = new Map<string, number[]>()
    const units = new Map<string, string>(LINE_ITEMS.map((item) => [item.lineItem, item.unit]))
    let values = 0
    for (const figure of records.companies.flatMap((company) => [...figuresOf(company)])) {
      const key = `${figure.consolidation}.${figure.category}.${figure.lineItem}`
      const unit = units.get(figure.lineItem)
      const power = unit === 'amount' ? Math.log10(FIGURE_SCALE[figure.scale]) : 0
      const sumKey = `${key}.${unit === 'amount' || unit === 'per share' ? figure.currency : ''}`
      counts.set(key, (counts.get(key) ?? 0) + 1)
      const list = amounts.get(sumKey) ?? []
      amounts.set(sumKey, list)
      list.push(Math.abs(exactProduct(String(figure.value), power)))
      values++
    }
    expect(control.companies.values).toBe(values)
    let sumsSeen = 0
    for (const [side, , employees] of SIDES) {
      for (const { category, lineItem } of LINE_ITEMS) {
        const totals = control.companies.figures[side][category]?.[lineItem]
        expect(totals?.count).toBe(counts.get(`${side}.${category}.${lineItem}`))
        for (const [currency, sum] of Object.entries(totals?.sumAbs ?? {})) {
          expect(sum).toBe(exactSum(amounts.get(`${side}.${category}.${lineItem}.${currency}`) ?? []))
          sumsSeen++
        }
      }
      const rows = records.companies.flatMap(({ EnhancedDetails }) =>
        Object.keys(asObject(asObject(EnhancedDetails)[employees])),
      )
      expect(control.companies.employees[side]).toBe(rows.length)
    }
    expect(sumsSeen).toBe(amounts.size)
  })

  test('of companies by country, scale and status', () => {
    const countBy = (of: (company: Json) => unknown) => {
      const counts: Record<string, number> = {}
      for (const company of records.companies) {
        const key = String(of(company) || '')
        counts[key] = (counts[key] ?? 0) + 1
      }
      return counts
    }
    const { byCountry, byScale, byStatus, contentUpdatedAt } = control.companies
    expect(byCountry).toEqual(countBy((company) => asObject(company.BasicDetails).CountryCode))
    expect(byScale).toEqual(countBy((company) => asObject(company.MetaData).FinancialFigureScale))
    expect(byStatus).toEqual(countBy((company) => asObject(company.BasicDetails).OperationalStatus))

    const moments = records.companies
      .map((company) => asObject(company.MetaData).ContentUpdatedAt)
      .filter((moment) => typeof moment === 'string' && !moment.startsWith('0001-'))
      .map((moment) => new Date(/T.*(Z|[+-]\d\d:\d\d)$/.test(String(moment)) ? String(moment) : `${moment}Z`))
      .map((moment) => moment.toISOString())
      .sort()
    expect(contentUpdatedAt).toEqual({ least: moments[0], greatest: moments.at(-1) })
  })

  test('of relations', () => {
    const totals = { current: 0, history: 0, owned: [0, 0, 0, 0], roles: 0, protected: 0, deepest: 0 }
    const lists = ['BeneficialOwnerships', 'Ownerships', 'UltimateOwnerships', 'CompanyStructureOwners']
    const walk = (entity: Json, depth: number): void => {
      totals[depth === 0 ? 'current' : 'history']++
      totals.owned = totals.owned.map((count, at) => count + asList(entity[lists[at] ?? '']).length)
      totals.roles += asList(entity.KeyPersonRoles).length
      totals.protected += entity.IsProtected === true ? 1 : 0
      totals.deepest = Math.max(totals.deepest, depth)
      for (const past of asList(entity.History)) walk(asObject(past), depth + 1)
    }
    for (const record of records.relations) {
      for (const entity of [...asList(record.Parents), ...asList(record.Children)]) walk(asObject(entity), 0)
    }
    const { entities, ownerships, roles, deepestHistory } = control.relations
    expect([
      entities.parent.current + entities.child.current,
      entities.parent.history + entities.child.history,
    ]).toEqual([totals.current, totals.history])
    expect(Object.values(ownerships)).toEqual(totals.owned)
    expect([roles, control.relations.protected]).toEqual([totals.roles, totals.protected])
    expect(deepestHistory).toBe(totals.deepest)
    expect(deepestHistory).toBe(40)
  })
})

test('protected persons are masked by the text and by a list of it', () => {
  const entities = records.relations.flatMap((record) => asList(record.Parents).map(asObject))
  const masks = entities.filter((entity) => entity.IsProtected === true).map(({ Addresses }) => Addresses)
  expect(masks).toContain('Protected Identity')
  expect(masks).toContainEqual(['Protected Identity'])
})
