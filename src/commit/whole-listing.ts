/** What a job knows of all companies of its search: by it those that the service no longer lists can be found. */

import type { PullEntry } from '../core/partition.ts'

/** Everything that a search has came, nothing was left out. */
export interface WholeListing {
  readonly kind: 'whole'
  /** The search as the manifest keeps it, as JSON. */
  readonly search: string
  /** Origin of the service. */
  readonly service: string
  /** When the service was asked first, by its own clock; ISO 8601 in UTC. */
  readonly asOf: string
  /** SQL over the columns of `companies`: those that the search means. */
  readonly scope: string
  /** Companies of the scope that the listing lacks, and how many the lake has of it. @default what the run did not load */
  readonly lacking?: { readonly ids: readonly bigint[]; readonly held: number } | undefined
  /**
   * Those of some companies that the service still lists, in this search or in another one of the lake: asked for by
   * their ids.
   */
  readonly stillListed: (ids: readonly bigint[], pulls: readonly PullEntry[]) => Promise<ReadonlySet<bigint>>
}

/** Not all came. */
export interface PartialListing {
  readonly kind: 'partial'
  readonly search: string
  readonly reason: string
}

/** What became of the companies of the lake that a listing lacked. */
export interface GoneCompanies {
  /** The search, as JSON. */
  readonly search: string
  /** Companies that are not shown from now on. */
  readonly marked: number
  /** Why none is marked; absent where some are. */
  readonly reason?: string
}
