/**
 * The snapshot that is served, and for a while the one before it: a request ends on the snapshot on which it began, and so does
 * a cursor chain. Never more than two are open, besides those on which a request is under way.
 */

import { BODY_MESSAGES } from '../contract/messages.ts'
import type { Content } from '../contract/objects.ts'
import { loadRates } from '../lake/rates/lake-rates.ts'
import { parseBody } from '../support/exact-json.ts'
import type { Caller } from './access/caller.ts'
import type { Search } from './http/server-parts.ts'
import { searchCompanies } from './search/search-companies.ts'
import { searchRelations } from './search/search-relations.ts'
import type { Answer, SearchParts } from './search/shared/answer.ts'
import { namedCountries } from './search/shared/visible-records.ts'
import type { SegmentDescription } from './serving-index/index-form.ts'
import type { ServingIndex } from './serving-index/session-pool.ts'

/** How long the snapshot before stays open for its chains. */
export interface HoldTimes {
  /** From the last page with a cursor to the next one. @default 300,000 */
  readonly idleMs: number
  /** In all. @default 1,800,000 */
  readonly mostMs: number
}

const DEFAULT_TIMES: HoldTimes = { idleMs: 5 * 60_000, mostMs: 30 * 60_000 }

interface Held {
  readonly snapshot: OpenSnapshot
  /** Requests under way. */
  requests: number
  /** When a page with a cursor for a next one was last given. */
  chainMs: number
  /** When a newer snapshot took its place. */
  replacedMs: number
  /** The index is closed as soon as no request is under way. */
  isOver: boolean
}

const heldOf = (snapshot: OpenSnapshot): Held => ({
  snapshot,
  requests: 0,
  chainMs: Number.NEGATIVE_INFINITY,
  replacedMs: Number.POSITIVE_INFINITY,
  isOver: false,
})

export class ServedSnapshots {
  readonly #times: HoldTimes
  readonly #now: () => number
  #current: Held
  #before: Held | undefined
  readonly #closing = new Set<Promise<void>>()

  /** @param now gives milliseconds */
  constructor(snapshot: OpenSnapshot, times: Partial<HoldTimes> = {}, now = () => performance.now()) {
    this.#current = heldOf(snapshot)
    this.#times = { ...DEFAULT_TIMES, ...times }
    this.#now = now
  }

  get current(): OpenSnapshot {
    return this.#current.snapshot
  }

  /** Searches the current snapshot; a cursor of the one before continues there. */
  search(content: Content): Search {
    return async (...asked) => {
      const [current, before] = [this.#current, this.#before]
      const answer = await this.#ask(current, content, asked)
      if (answer.kind !== 'refused' || !answer.isCursorInvalid || before === undefined || before.isOver)
        return answer
      const earlier = await this.#ask(before, content, asked)
      return earlier.kind === 'refused' && earlier.isCursorInvalid ? answer : earlier
    }
  }

  /** Whether chains still go on over the snapshot before: as long as they do, no newer one can be moved to. */
  isHeld(): boolean {
    const before = this.#before
    if (before === undefined) return false
    const now = this.#now()
    const { idleMs, mostMs } = this.#times
    if (now - before.chainMs <= idleMs && now - before.replacedMs <= mostMs) return true
    this.#before = undefined
    this.#end(before)
    return false
  }

  /** Serves another snapshot from now on. It is to be asked for only where none is held. */
  moveTo(snapshot: OpenSnapshot): void {
    if (this.#before !== undefined) this.#end(this.#before)
    this.#current.replacedMs = this.#now()
    this.#before = this.#current
    this.#current = heldOf(snapshot)
    this.isHeld()
  }

  /** Closes all, when the requests under way are over. */
  async close(): Promise<void> {
    this.#end(this.#current)
    if (this.#before !== undefined) this.#end(this.#before)
    await Promise.all(this.#closing)
  }

  async #ask(held: Held, content: Content, asked: Parameters<Search>): ReturnType<Search> {
    held.requests += 1
    try {
      const answer = await held.snapshot[content](...asked)
      if (answer.kind === 'refused') return answer
      if (typeof answer.pagination.Cursor === 'string') held.chainMs = this.#now()
      return { ...answer, asOf: held.snapshot.asOf }
    } finally {
      held.requests -= 1
      this.#closeUnused(held)
    }
  }

  #end(held: Held): void {
    held.isOver = true
    this.#closeUnused(held)
  }

  #closeUnused(held: Held): void {
    if (!held.isOver || held.requests > 0) return
    const closed = held.snapshot.close().finally(() => this.#closing.delete(closed))
    closed.catch(() => undefined)
    this.#closing.add(closed)
  }
}

// A snapshot that answers: its index with the rates of the lake at the time, and both searches over them.

/** Settings that the searches of all snapshots share. */
export interface SearchSettings extends Omit<SearchParts, 'index' | 'rates' | 'countries'> {
  readonly lake: string
}

export interface OpenSnapshot {
  readonly number: number
  /** SHA-256 of the snapshot's file: another snapshot of the number has another one. */
  readonly sha256: string
  /** As of when its data is; empty where it has none. */
  readonly asOf: string
  /** Segments of its serving index. */
  readonly segments: readonly SegmentDescription[]
  /** Country codes of its companies. */
  readonly countries: readonly string[]
  readonly companies: Search
  readonly relations: Search
  /** Digest of the persons who are protected in it. */
  readonly protectedDigest: string
  readonly close: () => Promise<void>
}

type SearchBody = (parts: SearchParts, caller: Caller, body: unknown, signal: AbortSignal) => Promise<Answer>

/** A search by the text of a request's body. */
const overText =
  (parts: SearchParts, search: SearchBody): Search =>
  async (text, caller, signal) => {
    let body: unknown
    try {
      body = parseBody(text)
    } catch {
      return { kind: 'refused', messages: [BODY_MESSAGES.bodyInvalid.text] }
    }
    return search(parts, caller, body, signal)
  }

/** The country codes of a content's records. */
const countriesOf = async (
  index: ServingIndex,
  table: 'company' | 'relation',
  timeoutMs: number,
): Promise<readonly string[]> => {
  const rows = await index.query(
    (session) =>
      session.rows(`
        SELECT DISTINCT country_code FROM serving.${table}
        WHERE country_code IS NOT NULL
        ORDER BY country_code`),
    { timeoutMs },
  )
  return rows.map(({ country_code: country }) => String(country))
}

/** Takes an index over: it is closed with the snapshot, and where this fails. @throws {ToolkitError} what reading the rates throws */
export const openSnapshot = async (
  index: ServingIndex,
  { lake, ...settings }: SearchSettings,
): Promise<OpenSnapshot> => {
  try {
    const { queryTimeoutMs } = settings
    const countries = await countriesOf(index, 'company', queryTimeoutMs)
    const parts: SearchParts = {
      ...settings,
      index,
      rates: await loadRates(lake),
      countries: namedCountries([...countries, ...(await countriesOf(index, 'relation', queryTimeoutMs))]),
    }
    return {
      protectedDigest: index.persons.digest,
      number: index.description.snapshot,
      sha256: index.description.snapshotSha256,
      asOf: index.description.snapshotAsOf,
      segments: index.description.segments,
      countries,
      companies: overText(parts, searchCompanies),
      relations: overText(parts, searchRelations),
      close: () => index.close(),
    }
  } catch (error) {
    await index.close()
    throw error
  }
}
