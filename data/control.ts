/** Totals that the generator counts while it generates, for others to check what they read against. */

import {
  CONSOLIDATIONS,
  type Consolidation,
  FIGURE_SCALE,
  type FigureScale,
} from '../src/contract/dictionaries.ts'
import { LINE_ITEMS } from '../src/contract/line-items.ts'
import type { Content } from '../src/contract/objects.ts'
import { shiftNumber } from '../src/support/exact-numbers.ts'
import type { DraftCompany } from './company.ts'
import { momentTime } from './moments.ts'
import type { DraftRelation } from './relation.ts'
import type { DraftRelations } from './relations-company.ts'

export interface FileTotals {
  readonly name: string
  readonly content: Content
  readonly records: number
  readonly decodedBytes: number
}
/**
 * Reported figures of one line item; sums of absolute values by currency, the scale applied to amounts. Figures that are no money
 * stand under the empty text.
 */
export interface FigureTotals {
  count: number
  readonly sumAbs: Record<string, number>
}
export interface Control {
  readonly files: FileTotals[]
  readonly companies: {
    records: number
    decodedBytes: number
    values: number
    /** A company without the field is counted under the empty text. */
    readonly byCountry: Record<string, number>
    readonly byScale: Record<string, number>
    readonly byStatus: Record<string, number>
    /** UTC, cut to milliseconds; the default date-time is none. */
    contentUpdatedAt: { least: string; greatest: string } | null
    readonly employees: Record<Consolidation, number>
    /** By consolidation, category and line item. */
    readonly figures: Record<Consolidation, Record<string, Record<string, FigureTotals>>>
  }
  readonly relations: {
    records: number
    decodedBytes: number
    readonly entities: Record<'parent' | 'child', { current: number; history: number }>
    readonly ownerships: Record<'Beneficial' | 'Direct' | 'Ultimate' | 'Structure', number>
    roles: number
    protected: number
    deepestHistory: number
  }
}

const noFigures = (): Record<string, Record<string, FigureTotals>> => {
  const totals: Record<string, Record<string, FigureTotals>> = {}
  for (const { category, lineItem } of LINE_ITEMS) {
    totals[category] = { ...totals[category], [lineItem]: { count: 0, sumAbs: {} } }
  }
  return totals
}

export const emptyControl = (): Control => ({
  files: [],
  companies: {
    records: 0,
    decodedBytes: 0,
    values: 0,
    byCountry: {},
    byScale: {},
    byStatus: {},
    contentUpdatedAt: null,
    employees: { Consolidated: 0, Unconsolidated: 0 },
    figures: { Consolidated: noFigures(), Unconsolidated: noFigures() },
  },
  relations: {
    records: 0,
    decodedBytes: 0,
    entities: { parent: { current: 0, history: 0 }, child: { current: 0, history: 0 } },
    ownerships: { Beneficial: 0, Direct: 0, Ultimate: 0, Structure: 0 },
    roles: 0,
    protected: 0,
    deepestHistory: 0,
  },
})

const addTo = (counts: Record<string, number>, key: string, count = 1): void => {
  counts[key] = (counts[key] ?? 0) + count
}

/** What the doubles of sums lack of the exact ones. */
const lacking = new WeakMap<Record<string, number>, Record<string, number>>()

/** Adds to a sum that stays the double nearest to the exact one. */
const addExactly = (sums: Record<string, number>, key: string, value: number): void => {
  const rests = lacking.get(sums) ?? {}
  lacking.set(sums, rests)
  const before = sums[key] ?? 0
  const sum = before + value
  const added = sum - before
  const rest = (rests[key] ?? 0) + (before - (sum - added)) + (value - added)
  sums[key] = sum + rest
  rests[key] = rest - (sum + rest - sum)
}

const countFigures = (control: Control, { profile, figures }: DraftCompany): void => {
  const currency = profile.MetaData?.CurrentCurrencyCode ?? ''
  const scale = (profile.MetaData?.FinancialFigureScale ?? 'None') as FigureScale
  const scalePower = Math.log10(FIGURE_SCALE[scale])
  for (const { name } of CONSOLIDATIONS) {
    for (const { category, series } of figures[name] ?? []) {
      for (const { item, values } of series) {
        const totals = control.companies.figures[name][category]?.[item.lineItem]
        if (totals === undefined) continue
        const power = item.scaled ? scalePower : 0
        const sumKey = item.isMoney ? currency : ''
        let count = 0
        for (const value of values) {
          if (value === null) continue
          count++
          addExactly(totals.sumAbs, sumKey, Math.abs(shiftNumber(value, power)))
        }
        if (count === 0) continue
        totals.count += count
        control.companies.values += count
      }
    }
  }
}

export const countCompany = (control: Control, company: DraftCompany): void => {
  const { companies } = control
  const { BasicDetails, EnhancedDetails, MetaData } = company.profile
  companies.records++
  addTo(companies.byCountry, BasicDetails?.CountryCode ?? '')
  addTo(companies.byScale, MetaData?.FinancialFigureScale ?? '')
  addTo(companies.byStatus, String(BasicDetails?.OperationalStatus || ''))
  for (const { name, employees } of CONSOLIDATIONS) {
    companies.employees[name] += Object.keys(EnhancedDetails?.[employees] ?? {}).length
  }
  countFigures(control, company)

  const time = momentTime(MetaData?.ContentUpdatedAt)
  if (time === undefined) return
  const text = new Date(time).toISOString()
  const seen = companies.contentUpdatedAt
  companies.contentUpdatedAt = {
    least: seen === null || text < seen.least ? text : seen.least,
    greatest: seen === null || text > seen.greatest ? text : seen.greatest,
  }
}

const countEntity = ({ relations }: Control, direction: 'parent' | 'child', top: DraftRelation): void => {
  const open: { entity: DraftRelation; depth: number }[] = [{ entity: top, depth: 0 }]
  for (let next = open.pop(); next !== undefined; next = open.pop()) {
    const { entity, depth } = next
    relations.entities[direction][depth === 0 ? 'current' : 'history']++
    relations.deepestHistory = Math.max(relations.deepestHistory, depth)
    relations.ownerships.Beneficial += entity.BeneficialOwnerships?.length ?? 0
    relations.ownerships.Direct += entity.Ownerships?.length ?? 0
    relations.ownerships.Ultimate += entity.UltimateOwnerships?.length ?? 0
    relations.ownerships.Structure += entity.CompanyStructureOwners?.length ?? 0
    relations.roles += entity.KeyPersonRoles?.length ?? 0
    if (entity.IsProtected === true) relations.protected++
    for (const past of entity.History ?? []) open.push({ entity: past, depth: depth + 1 })
  }
}

export const countRelations = (control: Control, { record }: DraftRelations): void => {
  control.relations.records++
  for (const parent of record.Parents ?? []) countEntity(control, 'parent', parent)
  for (const child of record.Children ?? []) countEntity(control, 'child', child)
}

export const countFile = (control: Control, file: FileTotals): void => {
  control.files.push(file)
  control[file.content].decodedBytes += file.decodedBytes
}
