/**
 * Whether a pull has seen all that its search has, and which of some companies the service still lists: asked for by
 * their ids, so that a page that came twice or a company that moved between two pages is not taken for one that is gone.
 */

import type { Listing, WholeListing } from '../../commit/find-gone.ts'
import { LIMITS } from '../../contract/limits.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { scopeParameter } from '../../core/last-listings.ts'
import type { PullEntry } from '../../core/partition.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { COMPANY_COLUMNS } from '../../lake/tables/columns.ts'
import { eachPage, type ListingService } from './listing.ts'
import type { PullService, PullSettings } from './pull-settings.ts'
import { filterOf, groupsOf, sameSearch, searchForIds, withFilter } from './search.ts'

const ID = 'InternalId'

interface Asked {
  readonly search: SearchParameters
  readonly currency?: string | undefined
}

/** Companies that are listed, and as of when the service said so at last. */
type StillListed = Awaited<ReturnType<WholeListing['stillListed']>>

/** Asks which of some companies a search has. @param asOf of the last answer before */
const listedOf = async (
  service: ListingService,
  { search, currency }: Asked,
  ids: readonly bigint[],
  { asOf: before, signal }: { readonly asOf: string; readonly signal?: AbortSignal | undefined },
): Promise<StillListed> => {
  let asOf = before
  const own = filterOf(search, ID)?.map(String)
  const meant = own === undefined ? ids : ids.filter((id) => own.includes(String(id)))
  const listed = new Set<bigint>()
  for (const group of groupsOf(meant, LIMITS.idsPerRequest)) {
    const { [ID]: values = [] } = searchForIds(group)
    const asked = { search: withFilter(search, ID, values) }
    const missing = await eachPage(asked, { service, currency, signal }, (page) => {
      for (const id of page.ids) listed.add(id)
      if (page.asOf > asOf) asOf = page.asOf
      return true
    })
    // The service counts more than it names: any of them may be among those.
    if (missing > 0) for (const id of group) listed.add(id)
  }
  return { listed, asOf }
}

/** Asks which of some companies one of several searches has. */
const stillListed = async (
  service: ListingService,
  searches: readonly Asked[],
  ids: readonly bigint[],
  signal: AbortSignal | undefined,
): Promise<StillListed> => {
  const listed = new Set<bigint>()
  // A company that the service does not have at all is in no search.
  let found = await listedOf(service, { search: {} }, ids, { asOf: '', signal })
  let open = [...found.listed]
  for (const search of searches) {
    if (open.length === 0) break
    found = await listedOf(service, search, open, { asOf: found.asOf, signal })
    for (const id of found.listed) listed.add(id)
    open = open.filter((id) => !listed.has(id))
  }
  return { listed, asOf: found.asOf }
}

/** The records missing from a pull, in words; `undefined` if it is whole. */
const shortOf = ({ announced, received, gapLeft = 0 }: PullEntry): string | undefined => {
  if (received !== announced) return `${received} of ${announced} announced companies came`
  return gapLeft > 0 ? `${gapLeft} companies were in no window` : undefined
}

/** The service of a search, opened where companies are asked for. */
export interface AskedService extends Pick<PullService, 'origin'> {
  readonly open: () => Promise<ListingService>
}

/**
 * @param lacking companies that the listing lacks, where that is known already
 * @returns `undefined` where the pull says nothing of what is gone: it is of some days, of relations, or of a search
 *   whose companies the lake cannot tell
 */
export const listingOf = (
  { origin, open }: AskedService,
  { search, currency }: Pick<PullSettings, 'search' | 'currency'>,
  entry: PullEntry,
  { signal, lacking }: { readonly signal?: AbortSignal | undefined } & Pick<WholeListing, 'lacking'>,
): Listing | undefined => {
  const scope = scopeOf(search)
  const isOfDays = entry.from !== undefined || entry.to !== undefined
  if (entry.content !== 'companies' || isOfDays || scope === undefined) return undefined
  const recorded = JSON.stringify(entry.search)
  const reason = shortOf(entry)
  if (reason !== undefined) return { kind: 'partial', search: recorded, reason }
  return {
    ...{ kind: 'whole', search: recorded, service: origin, asOf: entry.asOf, scope, lacking },
    stillListed: async (ids, pulls) => {
      const others = pulls.filter(
        (pull) => pull.content === 'companies' && !sameSearch(pull.search, entry.search),
      )
      const distinct = others.filter(
        (pull, at) => !others.slice(0, at).some((other) => sameSearch(other.search, pull.search)),
      )
      return stillListed(await open(), [{ search, currency }, ...distinct], ids, signal)
    },
  }
}

/** The column that a field of a company's part stands in. */
export const companyColumn = (part: string, field: string): string => {
  const found = COMPANY_COLUMNS.find(({ path }) => path[0] === part && path[1] === field && path.length === 2)
  if (found === undefined) throw new TypeError(`Cannot find the column of ${part}.${field}`)
  return ident(found.name)
}

/** The lake's companies that a search means; `undefined` where its columns do not show it. */
export const scopeOf = (search: SearchParameters): string | undefined => {
  const conditions: string[] = []
  for (const [name, values] of Object.entries(search)) {
    const filter = scopeParameter(name)
    if (filter === undefined) return undefined
    // A service may take codes in any letter case; to find none of them here would hide companies that are gone.
    const strings = values.map((value) => literal(String(value).toLowerCase())).join(', ')
    conditions.push(`lower(CAST(${companyColumn('BasicDetails', filter)} AS VARCHAR)) IN (${strings})`)
  }
  return conditions.join(' AND ')
}
