/** The meaning of the days of a search, and "since last": the day it continues from, read from the lake's own manifest. */

import { DEFAULT_CURRENCY } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import type { PullEntry, Snapshot } from '../../core/partition.ts'
import { DAY_MS } from '../../support/quantities.ts'
import { filterOf, type LiveParameter, sameSearch } from './search.ts'

/** The fields that change with anything of a record. */
export const CHANGE_FIELD = { companies: 'ContentUpdatedAt', relations: 'RelationsUpdatedAt' } as const

const isChange = ({ name }: LiveParameter): boolean => /UpdatedAt$/i.test(name)

export const isDate = (parameter: LiveParameter): boolean =>
  parameter.datatype?.toLowerCase().startsWith('date') ?? isChange(parameter)

/** Where a pull continues; without `from` there was none before, and everything is pulled. */
export interface Since {
  readonly from?: string
  /** The run that pulled it before. */
  readonly run?: string
}

interface Asked {
  readonly content: Content
  readonly search: SearchParameters
  readonly currency?: string | undefined
  readonly by?: string | undefined
  /** The parameters of the service, as listed now. */
  readonly parameters: readonly LiveParameter[]
}

/**
 * The parameter that days asked for mean: the one named, else one of the search itself that says when something
 * changed (a day of its accounts says nothing of that), else CHANGE_FIELD.
 */
export const daysField = ({ content, search, by, parameters }: Omit<Asked, 'currency'>): string =>
  by ??
  parameters.find((one) => isChange(one) && filterOf(search, one.name) !== undefined)?.name ??
  CHANGE_FIELD[content]

const currencyOf = ({ content, currency }: Pick<Asked, 'content' | 'currency'>): string | undefined =>
  content === 'companies' ? (currency ?? DEFAULT_CURRENCY) : undefined

/**
 * The day before the newest pull of the same search. Days overlap: that pull saw only a part of its day, and a
 * change of the last minutes before it may have become visible later.
 */
export const sinceLast = (snapshot: Pick<Snapshot, 'pulls'> | null, service: string, asked: Asked): Since => {
  const field = daysField(asked).toLowerCase()
  const last = snapshot?.pulls?.findLast(
    (pull) =>
      pull.service === service &&
      pull.content === asked.content &&
      currencyOf(pull) === currencyOf(asked) &&
      sameSearch(pull.search, asked.search) &&
      // A pull of some days of another date says nothing about this one.
      (isWhole(pull) || pull.field?.toLowerCase() === field),
  )
  if (last === undefined) return {}
  const from = dayBefore(last.asOf)
  return { from: last.to !== undefined && last.to < from ? last.to : from, run: last.run }
}

const dayBefore = (instant: string): string =>
  new Date(Date.parse(instant) - DAY_MS).toISOString().slice(0, 10)

const isWhole = ({ from, to }: PullEntry): boolean => from === undefined && to === undefined
