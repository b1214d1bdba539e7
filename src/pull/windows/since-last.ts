/** The meaning of the days of a search, and "since last": the day it continues from, read from the lake's own manifest. */

import { DEFAULT_CURRENCY } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { PullEntry, Snapshot } from '../../core/partition.ts'
import { DAY_MS } from '../../support/quantities.ts'
import { isShort } from './missing-records.ts'
import { filterOf, type LiveParameter, sameSearch } from './search.ts'
import { isDay } from './window-axes.ts'

/** The fields that change with anything of a record. */
export const CHANGE_FIELD = { companies: 'ContentUpdatedAt', relations: 'RelationsUpdatedAt' } as const

const isChange = ({ name }: LiveParameter): boolean => /UpdatedAt$/i.test(name)

export const isDate = (parameter: LiveParameter): boolean =>
  parameter.datatype?.toLowerCase().startsWith('date') ?? isChange(parameter)

/** The instant from which a pull continues; without `from` there was none before, and everything is pulled. */
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
 * The day before the newest pull of the same search that brought all it planned. Days overlap: that pull saw only a part of its day, and a
 * change of the last minutes before it may have become visible later.
 */
export const sinceLast = (snapshot: Pick<Snapshot, 'pulls'> | null, service: string, asked: Asked): Since => {
  const field = daysField(asked).toLowerCase()
  const last = snapshot?.pulls?.findLast(
    (pull) =>
      // The records that one did not bring are asked for again, from where the pull before it ended.
      !isShort(pull) &&
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

interface Planned {
  /** With the days asked for. */
  readonly search: SearchParameters
  readonly from?: string
  readonly since?: Since
  /** Now by the service's clock. */
  readonly asOf: string
}

/**
 * Refuses a plan whose days are all still to come: it finds nothing, and each later one that continues from it neither.
 *
 * @throws {ToolkitError} DAYS_AHEAD
 */
export const refuseDaysAhead = (content: Content, { search, from, since, asOf }: Planned): void => {
  const own = Object.entries(search).flatMap(([name, [first]]) => (isChange({ name }) ? [String(first)] : []))
  const today = asOf.slice(0, 10)
  const ahead = [...(from === undefined ? [] : [from]), ...own].find((day) => isDay(day) && day > today)
  if (ahead === undefined) return
  const why = since?.run === undefined ? '' : `, the day before run ${since.run} pulled this search`
  throw new ToolkitError(
    'DAYS_AHEAD',
    `Cannot pull ${content} from ${ahead} on${why}: by the clock of the service it is ${asOf}, expected a day until then; ` +
      '--since DAY names another',
    { from: ahead, asOf },
  )
}

const dayBefore = (instant: string): string =>
  new Date(Date.parse(instant) - DAY_MS).toISOString().slice(0, 10)

const isWhole = ({ from, to }: PullEntry): boolean => from === undefined && to === undefined
