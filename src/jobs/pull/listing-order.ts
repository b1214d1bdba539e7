/**
 * The order in which page mode lists a search: by InternalId, but hits of a text search best first. Those are asked for by
 * InternalId where the service sorts by it; else their order is taken as it comes.
 */

import { FILTER_CLASSES, YEAR_SUFFIX } from '../../contract/requests.ts'
import type { PageRequest } from '../../source/service/service.ts'
import type { PullService } from './pull-settings.ts'

const { identifier, figure, date } = FILTER_CLASSES
const UNSCORED = new Set(
  [identifier, figure, date].flatMap(({ parameters }) => parameters.map((name) => name.toLowerCase())),
)

/** Whether a parameter gives hits a score, or may: the contract does not list all parameters. */
const isScored = (name: string): boolean =>
  !UNSCORED.has(name.toLowerCase().split(YEAR_SUFFIX.toLowerCase())[0] ?? '')

export interface ListingOrder {
  readonly sortBy?: PageRequest['sortBy']
  /** Whether the ids of a page increase. */
  readonly ordered: boolean
  /** Whether hits come by their scores: equal ones may change places from page to page. */
  readonly byScore: boolean
}

/** How a search is listed for which no order is asked. @throws what the service throws */
export const orderOf = async (
  service: Pick<PullService, 'parameters'>,
  { search, sortBy }: Pick<PageRequest, 'search' | 'sortBy'>,
  signal: AbortSignal | undefined,
): Promise<ListingOrder> => {
  if (sortBy !== undefined) return { sortBy, ordered: false, byScore: false }
  if (!Object.keys(search).some(isScored)) return { ordered: true, byScore: false }
  const parameters = await service.parameters('companies', signal && { signal })
  const column = parameters.find(
    ({ name, sortable }) => sortable && name.toLowerCase() === 'internalid',
  )?.name
  return column === undefined
    ? { ordered: false, byScore: true }
    : { sortBy: { column, direction: 'ASC' }, ordered: false, byScore: false }
}
