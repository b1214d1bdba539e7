/** When the companies of a lake were last looked for: by pulls and syncs that list all that their search has. */

import type { SearchParameters } from '../contract/requests.ts'
import type { PullEntry } from './partition.ts'

/** Parameters whose meaning the lake's columns give exactly: any of the values. */
export const SCOPE_PARAMETERS = [
  'InternalId',
  'CountryCode',
  'OperationalStatus',
  'LegalForm',
  'CompanyType',
  'ListingType',
] as const

type ScopeParameter = (typeof SCOPE_PARAMETERS)[number]

/** The parameter by whatever letter case a search has it; `undefined` where a lake cannot evaluate it. */
export const scopeParameter = (name: string): ScopeParameter | undefined =>
  SCOPE_PARAMETERS.find((one) => one.toLowerCase() === name.toLowerCase())

/** Whether a pull or sync of companies has listed all that its search has. */
export const isWholeListing = ({ content, from, to, received, announced }: PullEntry): boolean =>
  content === 'companies' && from === undefined && to === undefined && received === announced

/** The begin of the last whole listing of each search of a service. */
export const lastListings = (pulls: readonly PullEntry[]): readonly PullEntry[] => {
  const last = new Map<string, PullEntry>()
  for (const pull of pulls.filter(isWholeListing)) {
    const key = JSON.stringify([pull.service, pull.search])
    if (pull.asOf > (last.get(key)?.asOf ?? '')) last.set(key, pull)
  }
  return [...last.values()]
}

const stringsOf = (search: SearchParameters): ReadonlyMap<string, ReadonlySet<string>> =>
  new Map(
    Object.entries(search).map(([name, values]) => [
      name.toLowerCase(),
      new Set([values].flat().map((value) => String(value).toLowerCase())),
    ]),
  )

/** Whether a search has all companies of another one. */
const covers = (wide: SearchParameters, narrow: SearchParameters): boolean => {
  const own = stringsOf(narrow)
  return [...stringsOf(wide)].every(([name, values]) => {
    const some = own.get(name)
    return some !== undefined && [...some].every((value) => values.has(value))
  })
}

const latest = (pulls: readonly PullEntry[]): string | undefined =>
  pulls
    .map(({ asOf }) => asOf)
    .sort()
    .at(-1)

type Searched = Pick<PullEntry, 'service' | 'search'>

/** The listings that tell which companies left: the lake knows which of its own their searches mean. */
const tellingListings = (pulls: readonly PullEntry[]): readonly PullEntry[] =>
  lastListings(pulls).filter(({ search }) =>
    Object.keys(search).every((name) => scopeParameter(name) !== undefined),
  )

const lookedForIn = (whole: readonly PullEntry[], { service, search }: Searched): string | undefined =>
  latest(whole.filter((one) => one.service === service && covers(one.search, search)))

/** When the companies of a search were last looked for; `undefined` where they never were. ISO 8601, UTC. */
export const lastLookedFor = (pulls: readonly PullEntry[], searched: Searched): string | undefined =>
  lookedForIn(tellingListings(pulls), searched)

/**
 * Since when nobody has looked for companies that left: of the searches that loads of some days continue, and of the lake as a
 * whole, the longest time. A search that was pulled once is none that is continued.
 *
 * @returns ISO 8601, UTC; `undefined` of a lake without a pull of companies. Of one that has never been looked through the
 * begin of its first pull
 */
export const unlookedSince = (all: readonly PullEntry[]): string | undefined => {
  const pulls = all.filter(({ content }) => content === 'companies')
  const whole = tellingListings(pulls)
  const isContinued = ({ service, search, asOf }: PullEntry): boolean => {
    const key = JSON.stringify(search)
    return pulls.some(
      (one) => one.service === service && JSON.stringify(one.search) === key && one.asOf > asOf,
    )
  }
  const times = [
    latest(whole) ?? pulls.map(({ asOf }) => asOf).sort()[0],
    ...whole.filter(isContinued).map((one) => lookedForIn(whole, one)),
  ]
  return times.filter((one) => one !== undefined).sort()[0]
}
