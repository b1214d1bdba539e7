/** What a right conversion of batch files holds, read from their lines with JSON.parse and kept beside the files. */

import { readFile, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import type { Control } from '../../data/control.ts'
import { entriesOf, linesOf, memberOf } from './lines.ts'
import { SHAPE, type ShapeType } from './shape.ts'

/** Of a column: values that are there, characters of its texts, sum of its numbers. Empty texts count as absent. */
export interface ColumnTotals {
  present: number
  characters: number
  sum: number
}

/** Of ids the rest counts: some are near 2^53, and sums of rests are exact. */
export const ID_MODULUS = 1_000_003

export interface RowTotals {
  rows: number
  /** Sums over all rows: a row at the wrong company or year is seen. */
  ids: number
  years: number
}

export interface Expected {
  readonly companies: Record<string, ColumnTotals>
  readonly financials: RowTotals
  readonly employees: RowTotals & { sum: number }
  /** By consolidation, category and line item, of the generator. */
  readonly figures: Control['companies']['figures']
  readonly byCountry: Control['companies']['byCountry']
}

/** Adds what a value holds of its type; members that the type does not know are left out. */
export const addValue = (totals: ColumnTotals, value: unknown, type: ShapeType): void => {
  if (value === null || value === undefined || value === '') return
  if (typeof type === 'object') {
    if ('list' in type) {
      if (Array.isArray(value)) for (const one of value) addValue(totals, one, type.list)
    } else
      for (const [name, inner] of Object.entries(type.struct)) addValue(totals, memberOf(value, name), inner)
    return
  }
  totals.present += 1
  if (typeof value === 'string') totals.characters += value.length
  if (typeof value === 'number') totals.sum += value
}

export const noTotals = (): ColumnTotals => ({ present: 0, characters: 0, sum: 0 })

const addRow = (totals: RowTotals, id: number, year: string): void => {
  totals.rows += 1
  totals.ids += id % ID_MODULUS
  totals.years += Number(year)
}

const addRecord = ({ companies, financials, employees }: Expected, record: unknown): void => {
  for (const { column, part, field, type } of SHAPE.companies) {
    const whole = memberOf(record, part)
    const totals = companies[column]
    if (totals !== undefined) addValue(totals, field === undefined ? whole : memberOf(whole, field), type)
  }
  const id = Number(memberOf(memberOf(record, 'BasicDetails'), 'InternalId') ?? 0)
  for (const one of SHAPE.consolidations) {
    for (const [, items] of entriesOf(memberOf(record, one.figures)))
      for (const [, series] of entriesOf(items))
        for (const [year, value] of entriesOf(series)) if (value !== null) addRow(financials, id, year)
    for (const [year, value] of entriesOf(memberOf(memberOf(record, 'EnhancedDetails'), one.employees))) {
      if (value === null) continue
      addRow(employees, id, year)
      employees.sum += Number(value)
    }
  }
}

/** @param files batch files of one folder, with the generator's `control.json` beside them */
export const expectedOf = async (files: readonly string[]): Promise<Expected> => {
  const folder = dirname(files[0] ?? '.')
  const path = join(folder, 'expected.json')
  const known = await readFile(path, 'utf8').catch(() => undefined)
  if (known !== undefined) return JSON.parse(known)
  const { companies: control }: Control = JSON.parse(await readFile(join(folder, 'control.json'), 'utf8'))
  const expected: Expected = {
    companies: Object.fromEntries(SHAPE.companies.map(({ column }) => [column, noTotals()])),
    financials: { rows: 0, ids: 0, years: 0 },
    employees: { rows: 0, ids: 0, years: 0, sum: 0 },
    figures: control.figures,
    byCountry: control.byCountry,
  }
  for (const file of files)
    for await (const line of linesOf(file)) if (line !== '') addRecord(expected, JSON.parse(line))
  await writeFile(path, JSON.stringify(expected))
  return expected
}
