/**
 * Pulls one window: the cursor chain with unchanged search, page by page into its file. Resumes where an earlier
 * process ended; restarts where the cursor has expired; is cut again where it has outgrown the chain.
 */

import { FIRST_CURSOR, LIMITS } from '../../contract/limits.ts'
import type { Content } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import { type ErrorCode, ToolkitError } from '../../core/errors.ts'
import type { PageLines } from '../../decode/page-lines.ts'
import type { Page, Service } from '../../source/service/service.ts'
import { sha256Of } from '../../support/hash.ts'
import type { CutParts, GapsToList } from './gap-steps.ts'
import { IdSet, idsPath } from './id-set.ts'
import { checkPageCount } from './pull-settings.ts'
import { askedIds, groupsOf, searchesByIds, searchForIds } from './search.ts'
import { type Checkpoint, holds, NOTHING, readCheckpoint, WindowFile } from './window-file.ts'

export interface WindowRequest {
  readonly content: Content
  /** In words, for messages. */
  readonly name: string
  /** Pulled one after the other into the same file; mostly one. */
  readonly searches: readonly SearchParameters[]
  readonly currency?: string | undefined
  readonly pageSize: number
  /** Keeps the ids of what came beside the window's file. @default false */
  readonly keepIds?: boolean | undefined
}

export interface WindowOptions {
  readonly service: Pick<Service, 'page' | 'totalCount'>
  /** The window's file, `….jsonl`. */
  readonly path: string
  /** Cuts a search that has outgrown one chain; `atMost` records in each part. @default it cannot be cut */
  readonly cutAgain?: (search: SearchParameters, atMost: number) => Promise<CutParts>
  /** Finds what such parts leave out, when they are pulled. @param known ids that the window has brought */
  readonly listGaps?: (gaps: readonly GapsToList[], known: Pick<IdSet, 'has'>) => Promise<readonly bigint[]>
  readonly signal?: AbortSignal | undefined
  /** Called after each page that is on the disk. */
  readonly onPage?: ((checkpoint: Checkpoint) => void) | undefined
}

/** Restarts of a chain because its cursor is refused. */
const MOST_RESTARTS = 3
/** How often a chain that ends too early is resumed where it ended. */
const MOST_RESUMES = 2
/** Equal pages in a row: a service that repeats one forever. */
const MOST_REPEATS = 3
/** Errors that are no matter of one window. */
const NAMED_BY_OTHERS: ReadonlySet<ErrorCode> = new Set(['INTERRUPTED', 'DISK_FULL', 'WRITE_FAILED'])
/** Parts a window may be cut into when it outgrew the chain. */
const MOST_CHAINS = 1000

/**
 * Brings a window to its end. @returns its last checkpoint, with `sha256`
 *
 * @throws {ToolkitError} ANSWER_DISORDERED, ANSWER_INVALID for ids not asked for, CURSOR_REFUSED, CURSOR_CAP, DISK_FULL, WRITE_FAILED, and what the
 *   service throws; what is on the disk then stays good
 */
export const pullWindow = async (request: WindowRequest, options: WindowOptions): Promise<Checkpoint> => {
  const begun = await readCheckpoint(options.path)
  if (begun?.sha256 !== undefined) return begun
  // A file that lost what its checkpoint counts is begun again: nothing of an unfinished window is loaded yet.
  const kept = begun && (await holds(options.path, begun)) ? begun : undefined
  const start = {
    ...(kept ?? { ...beginning(NOTHING), chains: request.searches, chain: 0, asOf: null, lastAsOf: null }),
    // Counted again: a run that was away for long finds its cursor expired each time, and must not get stuck.
    restarts: 0,
  }
  const ids = request.keepIds ? (start.ids ?? 0) : undefined
  const spool = await WindowFile.open(options.path, start.bytes, ids)
  try {
    let checkpoint: Checkpoint = start
    for (;;) {
      while (checkpoint.chain < checkpoint.chains.length)
        checkpoint = await new Chain(request, options, spool, checkpoint).pull()
      if (checkpoint.gaps === undefined) return await spool.finish(checkpoint)
      checkpoint = await withGapChains(checkpoint, options)
      await spool.cutTo(checkpoint)
    }
  } finally {
    await spool.close()
  }
}

/** The chains that bring what the parts of a window leave out, behind those of the parts. */
const withGapChains = async (
  { gaps = [], ...checkpoint }: Checkpoint,
  { path, listGaps }: WindowOptions,
): Promise<Checkpoint> => {
  const missing = (await listGaps?.(gaps, await IdSet.read([idsPath(path)]))) ?? []
  const { chains } = checkpoint
  return {
    ...checkpoint,
    chains: [...chains, ...groupsOf(missing, LIMITS.idsPerRequest).map(searchForIds)],
    closingFrom: chains.length,
  }
}

const beginning = (before: Checkpoint['before']) => {
  const { bytes, records, pages, announced, ids = 0 } = before
  const extent = { bytes, records, pages, announced, ids }
  return {
    ...extent,
    before: extent,
    cursor: FIRST_CURSOR,
    lastId: null,
    lastIds: null,
  }
}

/** Pulls a chain of a window, from where its checkpoint stands. */
class Chain {
  readonly #request: WindowRequest
  readonly #options: WindowOptions
  readonly #spool: WindowFile
  #checkpoint: Checkpoint
  #repeats = 0
  #resumes = 0
  readonly #asked: ReadonlySet<bigint> | undefined

  constructor(request: WindowRequest, options: WindowOptions, spool: WindowFile, checkpoint: Checkpoint) {
    this.#request = request
    this.#options = options
    this.#spool = spool
    this.#checkpoint = checkpoint
    this.#asked = askedIds(this.#search())
  }

  /** @returns where the window stands at the chain's end, or where it begins again */
  async pull(): Promise<Checkpoint> {
    // The next page is asked for while the one before goes to the disk.
    let written: Promise<() => void> = Promise.resolve(() => undefined)
    try {
      for (let cursor: string | null = this.#checkpoint.cursor; cursor !== null; ) {
        this.#options.signal?.throwIfAborted()
        const page: Page<PageLines> = await this.#page(cursor)
        ;(await written)()
        // The same cursor is asked again: nothing of a page that ends too early is taken before.
        const end = this.#endOf(page)
        if (end === 'too early') continue
        const after = this.#after(page, end === 'short' ? await this.#countNow() : end.counted)
        cursor = after.next
        written = outcome(this.#keep(after.repeated ? NOTHING_NEW : page.value, after.checkpoint))
      }
      ;(await written)()
      return this.#checkpoint
    } catch (error) {
      ;(await written)()
      if (!(error instanceof ToolkitError)) throw error
      if (error.code === 'CURSOR_REFUSED') return this.#beginAgain(error)
      if (error.code === 'CURSOR_CAP') return this.#cutAgain(error)
      throw NAMED_BY_OTHERS.has(error.code) || 'window' in error.context ? error : this.#named(error)
    }
  }

  /** The companies that close a gap were announced with it. */
  get #isClosing(): boolean {
    const { chain, closingFrom = Number.POSITIVE_INFINITY } = this.#checkpoint
    return chain >= closingFrom
  }

  /**
   * How many records the chain has by what the service said so far. A page that ends it before they came is asked for again;
   * one that counts fewer each time than pages before does not settle how many there are.
   */
  #endOf({
    value,
    pagination: { Cursor, TotalCount },
  }: Page<PageLines>): 'too early' | 'short' | { readonly counted: number } {
    const { records, announced, before } = this.#checkpoint
    const counted = Math.max(this.#isClosing ? 0 : announced - before.announced, TotalCount)
    const isEnd = value.records === 0 || Cursor === null
    const isShort = isEnd && records - before.records + value.records < counted
    this.#resumes = isShort ? this.#resumes + 1 : 0
    if (isShort && this.#resumes <= MOST_RESUMES) return 'too early'
    return isShort && TotalCount < counted ? 'short' : { counted }
  }

  /** Records of the chain's search, counted anew. */
  async #countNow(): Promise<number> {
    const { content, currency } = this.#request
    const { service, signal } = this.#options
    const call = { ...(signal && { signal }), ...(currency !== undefined && { currency }) }
    return (await service.totalCount(content, this.#search(), call)).totalCount
  }

  #page(cursor: string): Promise<Page<PageLines>> {
    const { content, currency, pageSize } = this.#request
    const { service, signal } = this.#options
    const search = this.#search()
    return service.page(
      { content, search, pageSize, cursor, ...(currency !== undefined && { currency }) },
      checkPageCount(content),
      signal && { signal },
    )
  }

  #search(): SearchParameters {
    const search = this.#checkpoint.chains[this.#checkpoint.chain]
    if (search === undefined) throw new RangeError('Cannot pull a chain behind the last one')
    return search
  }

  /** A service that rounds ids gives other companies. @throws {ToolkitError} ANSWER_INVALID */
  #checkIds(ids: BigInt64Array): void {
    const other = this.#asked && ids.find((id) => !this.#asked?.has(id))
    if (other === undefined) return
    const { name } = this.#request
    throw new ToolkitError(
      'ANSWER_INVALID',
      `Cannot continue window "${name}": the service gave InternalId ${other}, expected only those that were asked for`,
      { window: name, kind: 'ids' },
    )
  }

  /** The checkpoint behind a page. @throws {ToolkitError} ANSWER_DISORDERED, ANSWER_INVALID */
  #after(
    { value, pagination, asOf, dataAsOf }: Page<PageLines>,
    counted: number,
  ): {
    readonly checkpoint: Checkpoint
    readonly next: string | null
    readonly repeated: boolean
  } {
    this.#checkIds(value.ids)
    const was = this.#checkpoint
    const ids = value.ids.length === 0 ? null : sha256Of(value.ids.join())
    const [min, max] = [value.ids[0], value.ids.at(-1)]
    const overlaps = min !== undefined && was.lastId !== null && min <= BigInt(was.lastId)
    const repeated = overlaps && ids === was.lastIds
    this.#repeats = repeated ? this.#repeats + 1 : 0
    if (overlaps && (!repeated || this.#repeats >= MOST_REPEATS)) throw this.#disordered(min)
    // Ignore a repeated page, its cursor included, unless it comes again.
    const given = value.records === 0 ? null : pagination.Cursor
    const next = repeated && this.#repeats < MOST_REPEATS - 1 ? was.cursor : given
    const end =
      next === null
        ? { chain: was.chain + 1, restarts: 0 }
        : {
            cursor: next,
            ...(!repeated && max !== undefined && { lastId: String(max), lastIds: ids }),
          }
    const taken = {
      ...was,
      announced: this.#isClosing ? was.announced : was.before.announced + counted,
      asOf: was.asOf ?? asOf,
      lastAsOf: dataAsOf,
      ...(!repeated && {
        bytes: was.bytes + value.lines.length,
        records: was.records + value.records,
        ids: (was.ids ?? 0) + value.ids.length,
        pages: was.pages + (value.records > 0 ? 1 : 0),
      }),
    }
    const checkpoint = next === null ? { ...taken, ...beginning(taken), ...end } : { ...taken, ...end }
    this.#checkpoint = checkpoint
    return { checkpoint, next, repeated }
  }

  async #keep({ lines, ids }: Pick<PageLines, 'lines' | 'ids'>, checkpoint: Checkpoint): Promise<void> {
    await this.#spool.append(lines, ids, checkpoint)
    this.#options.onPage?.(checkpoint)
  }

  #disordered(id: bigint): ToolkitError {
    const { name } = this.#request
    const { lastId, pages } = this.#checkpoint
    return new ToolkitError(
      'ANSWER_DISORDERED',
      `Cannot continue window "${name}": page ${pages + 1} begins with InternalId ${id}, expected one above ${lastId}`,
      { window: name, page: pages + 1 },
    )
  }

  /** The cursor has expired: nothing of the chain is kept, so that nothing is doubled. */
  async #beginAgain(error: ToolkitError): Promise<Checkpoint> {
    const was = this.#checkpoint
    if (was.cursor === FIRST_CURSOR || was.restarts >= MOST_RESTARTS) throw this.#named(error)
    return this.#cutTo({ ...was, ...beginning(was.before), restarts: was.restarts + 1 })
  }

  /** More came in than a chain delivers: the rest cannot be asked for, so it is pulled again in parts. */
  async #cutAgain(error: ToolkitError): Promise<Checkpoint> {
    const was = this.#checkpoint
    const atMost = Math.floor((was.records - was.before.records) / 2)
    if (atMost < 1 || was.chains.length > MOST_CHAINS) throw this.#named(error)
    const search = this.#search()
    const byIds = searchesByIds(search, atMost)
    const parts =
      byIds.length > 1
        ? { searches: byIds, missing: 0 }
        : await this.#options.cutAgain?.(search, Math.min(atMost, LIMITS.cursorCap / 2))
    if (parts === undefined || parts.searches.length + Math.sign(parts.missing) < 2) throw this.#named(error)
    const { searches, missing, gaps }: CutParts = parts
    const chains = [...was.chains.slice(0, was.chain), ...searches, ...was.chains.slice(was.chain + 1)]
    const before = { ...was.before, announced: was.before.announced + missing }
    const open = gaps && { gaps: [...(was.gaps ?? []), gaps] }
    return this.#cutTo({ ...was, ...beginning(before), chains, ...open, restarts: 0 })
  }

  async #cutTo(checkpoint: Checkpoint): Promise<Checkpoint> {
    await this.#spool.cutTo(checkpoint)
    return checkpoint
  }

  #named(error: ToolkitError): ToolkitError {
    const { name } = this.#request
    return new ToolkitError(
      error.code,
      `${error.message} (window "${name}")`,
      { ...error.context, window: name },
      error,
    )
  }
}

const NOTHING_NEW = { lines: Buffer.alloc(0), ids: new BigInt64Array() }

/** A promise whose failure waits until it is asked for. */
const outcome = (promise: Promise<void>): Promise<() => void> =>
  promise.then(
    () => () => undefined,
    (error: unknown) => () => {
      throw error
    },
  )
