/**
 * The kinds of sources, each declared once: what a manifest entry records of a kind, how a source is known as loaded, and
 * what messages, statistics and lineage say of it. Another kind is an entry here, what opens it, and what offers it.
 */

import { DEFAULT_CURRENCY } from '../contract/limits.ts'
import type { Content } from '../contract/objects.ts'
import type { SearchParameters } from '../contract/requests.ts'
import {
  anyText,
  count,
  type FieldForms,
  type Form,
  form,
  list,
  optional,
  shapeOf,
  valuesOf,
} from '../support/json-form.ts'

/** A window of a search, pulled by one cursor chain (or by several, where it outgrew the cap meanwhile). */
export interface WindowEntry {
  /** Origin of the service: `https://host:port`. */
  readonly service: string
  /** The search parameters as they were sent, the window's own filters included. */
  readonly search: SearchParameters
  /** Requested currency; absent for relations. */
  readonly currency?: string
  /** `TotalCount` of the window's first page; where it was cut again of its parts, and what these leave out. */
  readonly announced: number
  /** Records received. */
  readonly received: number
  /** Pages received. */
  readonly pages: number
}

interface BatchEntry {
  readonly service: string
  readonly id: string
  readonly etag?: string
  /** `Count` of the listing, where it has one. */
  readonly announced?: number
}

/** Facts that an entry records of a source besides its name and bytes, each under a name of its own. */
export interface SourceFacts {
  /** The window of a search: what was asked for, announced and received. */
  readonly window?: WindowEntry
  /** The batch file of the service. */
  readonly batch?: BatchEntry
}

export const SEARCH: Form<SearchParameters> = valuesOf(
  list(form((value): value is string | number => ['string', 'number'].includes(typeof value), 'a value')),
)

/** How the facts of an entry are checked. */
export const SOURCE_FACTS: FieldForms<SourceFacts> = {
  window: optional(
    shapeOf<WindowEntry>({
      service: anyText,
      search: SEARCH,
      currency: optional(anyText),
      announced: count,
      received: count,
      pages: count,
    }),
  ),
  batch: optional(
    shapeOf<BatchEntry>({
      service: anyText,
      id: anyText,
      etag: optional(anyText),
      announced: optional(count),
    }),
  ),
}

/** Numbers that a service announced for a source that it gave. */
export interface Announcement {
  /** Word of messages for such a source. */
  readonly what: 'window' | 'batch'
  readonly service: string
  readonly currency?: string | undefined
  /** Records announced; absent where the service says no number. */
  readonly announced?: number | undefined
  /** Records received; absent where its lines are counted instead. */
  readonly received?: number | undefined
}

/** Origin of lines. */
type SourceOrigin =
  | { readonly at: 'path'; readonly path: string }
  | { readonly at: 'service'; readonly service: string; readonly name: string }
  /** Rows of the lake itself; of its main table for the content where none is named. */
  | { readonly at: 'lake'; readonly table?: string }
  | { readonly at: 'process' }

interface SourceKind {
  /** Whether records come with it: not with rows that the lake had, nor with a list of companies that are gone. */
  readonly bringsRecords: boolean
  /**
   * `bytes`: the same bytes need not be loaded again, whatever they are called. `run`: what is said now is the newest
   * state, also where it is the same as in an older run.
   */
  readonly knownBy: 'bytes' | 'run'
  /** Whether a damaged one may be left out: it can be read again later. @default false */
  readonly mayBeLeftOut?: true
  /** Whether small ones may share a partition. @default false */
  readonly mayShare?: true
  readonly origin: (source: SourceFacts & { readonly name: string }, content: Content) => SourceOrigin
  /** Absent where no service is asked. */
  readonly announcement?: (source: SourceFacts) => Announcement | undefined
  /** Currency in which the figures of its companies were asked for. @default only their rows tell */
  readonly currency?: (source: SourceFacts) => string | undefined
}

const process = (): SourceOrigin => ({ at: 'process' })

const SOURCE_KINDS = {
  file: {
    ...{ bringsRecords: true, knownBy: 'bytes', mayBeLeftOut: true, mayShare: true },
    origin: ({ name }) => ({ at: 'path', path: name }),
  },
  stdin: { bringsRecords: true, knownBy: 'bytes', origin: process },
  quarantine: {
    ...{ bringsRecords: true, knownBy: 'bytes' },
    origin: () => ({ at: 'lake', table: 'quarantine' }),
  },
  search: {
    ...{ bringsRecords: true, knownBy: 'run' },
    origin: ({ window }, content) =>
      window ? { at: 'service', service: window.service, name: content } : process(),
    announcement: ({ window }) => window && { ...window, what: 'window' },
    currency: ({ window }) => window && (window.currency ?? DEFAULT_CURRENCY),
  },
  batch: {
    ...{ bringsRecords: true, knownBy: 'bytes', mayBeLeftOut: true },
    origin: ({ batch }, content) =>
      batch ? { at: 'service', service: batch.service, name: `batches/${content}` } : process(),
    announcement: ({ batch }) => batch && { ...batch, what: 'batch' },
  },
  compaction: { bringsRecords: false, knownBy: 'bytes', origin: () => ({ at: 'lake' }) },
  /** Rows that the lake had and that had been superseded by mistake. */
  again: { bringsRecords: false, knownBy: 'run', origin: () => ({ at: 'lake' }) },
  listing: { bringsRecords: false, knownBy: 'run', origin: process },
} as const satisfies Readonly<Record<string, SourceKind>>

export type SourceKindName = keyof typeof SOURCE_KINDS

/** Kinds that a run reads records from. */
export type RecordsKindName = {
  [K in SourceKindName]: (typeof SOURCE_KINDS)[K]['bringsRecords'] extends true ? K : never
}[SourceKindName]

const isKind = (name: string): name is SourceKindName => Object.hasOwn(SOURCE_KINDS, name)
export const SOURCE_KIND_NAMES: readonly SourceKindName[] = Object.keys(SOURCE_KINDS).filter(isKind)

/** A source of a partition, or one that is to be read. */
interface OfKind {
  readonly kind: SourceKindName
}

export const kindOf = ({ kind }: OfKind): SourceKind => SOURCE_KINDS[kind]

/** The announcement for a source; `undefined` where it came from no service. */
export const announcementOf = (source: OfKind & SourceFacts): Announcement | undefined =>
  kindOf(source).announcement?.(source)

/** Whether rows were put together that the lake had. */
export const isCompaction = ({ kind }: OfKind): boolean => kind === 'compaction'

/** Whether it says which companies a listing lacked, and no records. */
export const isListing = ({ kind }: OfKind): boolean => kind === 'listing'

/** Whether lines of the quarantine were loaded again. */
export const isReplay = ({ kind }: OfKind): boolean => kind === 'quarantine'

/** Whether it is asked for again in every run. */
export const isAskedAgain = (source: OfKind): boolean => {
  const { bringsRecords, knownBy } = kindOf(source)
  return bringsRecords && knownBy === 'run'
}

/** The facts of a source, for reports. */
export const recordedFacts = ({ window, batch }: SourceFacts): SourceFacts => ({
  ...(window && { window }),
  ...(batch && { batch }),
})

/** A source whose recorded search is changed, such as by forgetting what it asks for; itself where it has none. */
export const withSearch = <Source extends SourceFacts>(
  source: Source,
  change: (search: SearchParameters) => SearchParameters,
): Source =>
  source.window ? { ...source, window: { ...source.window, search: change(source.window.search) } } : source

/** Why a source is not loaded again. */
export const ALREADY_LOADED = 'already loaded (--again loads it again)'
/** @param at when, ISO 8601, where it is known */
export const discardedText = (at?: string): string =>
  `its load was discarded${at === undefined ? '' : ` at ${at}`} (--again loads it)`
