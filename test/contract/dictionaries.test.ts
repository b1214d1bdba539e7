import { expect, test } from 'vitest'
import {
  CONSOLIDATIONS,
  DICTIONARIES,
  type Dictionary,
  FIGURE_SCALE,
} from '../../src/contract/dictionaries.ts'
import type { Field, ObjectType } from '../../src/contract/fields.ts'
import { COMPANY, CONTENT, ENHANCED_DETAILS } from '../../src/contract/objects.ts'

const codesOf = (of: ObjectType): string[] =>
  Object.values(of.fields).flatMap((field: Field) => {
    if (field.kind === 'object' || field.kind === 'objects') return codesOf(field.of)
    return 'codes' in field && field.codes !== undefined ? [field.codes] : []
  })

test('DICTIONARIES holds as many values as the interface lists', () => {
  const counts = Object.fromEntries(Object.values(DICTIONARIES).map((d) => [d.name, d.values.length]))
  expect(counts).toEqual({
    OperationalStatus: 15,
    LegalForm: 44,
    SearchableLegalForm: 2,
    CompanyType: 5,
    IndustryItemType: 1,
    ListingType: 2,
    FinancialFigureScale: 5,
    ConsolidationType: 3,
  })
})

test('DICTIONARIES has every dictionary that an object names, under its own name', () => {
  const dictionaries: Readonly<Record<string, Dictionary>> = DICTIONARIES
  for (const name of Object.values(CONTENT).flatMap(codesOf)) expect(dictionaries[name]?.name).toBe(name)
})

test('DICTIONARIES names a value once', () => {
  for (const { values } of Object.values(DICTIONARIES)) {
    expect(new Set(values.map(({ value }) => value)).size).toBe(values.length)
    expect(new Set(values.map(({ name }) => name)).size).toBe(values.length)
  }
})

test('FIGURE_SCALE is the dictionary of scales', () => {
  expect(DICTIONARIES.FinancialFigureScale.values.map(({ value }) => value)).toEqual([
    'None',
    'No scale',
    'Thousands',
    'Millions',
    'Billions',
  ])
  expect(Object.values(FIGURE_SCALE)).toEqual([1, 1, 1_000, 1_000_000, 1_000_000_000])
})

test('CONSOLIDATIONS points at fields that exist', () => {
  for (const { field, employees } of CONSOLIDATIONS) {
    expect(COMPANY.fields[field].kind).toBe('financials')
    expect(ENHANCED_DETAILS.fields[employees].kind).toBe('series')
  }
})
