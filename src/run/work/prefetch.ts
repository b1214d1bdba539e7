/** Items fetched before they are asked for, so many of them as whoever asks has room for. */

import { settled } from '../../support/side-by-side.ts'

/** `waiting` for its fetch, being fetched, `held` until it is released. */
export type FetchState = 'waiting' | 'fetching' | 'held' | 'released'

export interface PrefetchOptions<Result> {
  /** Items in all. */
  readonly count: number
  readonly fetch: (index: number, signal: AbortSignal) => Promise<Result>
  /**
   * The item to begin with now, which has to be waiting; `undefined` where there is no room for one more.
   * @param asked the last item that was asked for; -1 before the first
   */
  readonly next: (states: readonly FetchState[], asked: number) => number | undefined
  /** Whether others are begun after such a failure. @default never */
  readonly goesOnAfter?: ((error: unknown) => boolean) | undefined
  /** Stops all fetches, as `stop` does. */
  readonly signal?: AbortSignal | undefined
  /** Why fetches under way are aborted when they are not needed any more. @default the reason of whoever gave up */
  readonly stopReason?: (() => unknown) | undefined
}

export class Prefetch<Result> {
  readonly #options: PrefetchOptions<Result>
  readonly #states: FetchState[]
  readonly #fetches: (Promise<() => Result> | undefined)[] = []
  readonly #stopped = new AbortController()
  readonly #signal: AbortSignal
  #asked = -1
  #failed = false

  constructor(options: PrefetchOptions<Result>) {
    this.#options = options
    this.#states = Array.from({ length: options.count }, () => 'waiting')
    const { signal } = options
    this.#signal = signal ? AbortSignal.any([signal, this.#stopped.signal]) : this.#stopped.signal
  }

  /**
   * An item when it is there. What is asked for goes before what is fetched ahead.
   * @param signal whoever asks gives up only when all the work ends: nothing is fetched any more then
   */
  async get(index: number, signal?: AbortSignal): Promise<Result> {
    return this.#wait(() => this.#fetches[index] ?? this.#start(index), index, signal)
  }

  /** As `get`, but what was fetched before is fetched once more. */
  async getAnew(index: number, signal?: AbortSignal): Promise<Result> {
    return this.#wait(() => this.#start(index), index, signal)
  }

  /** Makes room for another item, when this one's fetch has ended in one way or another. */
  async release(index: number, remove: () => Promise<void>): Promise<void> {
    await this.#fetches[index]
    await remove()
    this.#states[index] = 'released'
    this.#fill()
  }

  /** Stops what is being fetched, and waits for it. */
  async stop(reason: unknown = undefined): Promise<void> {
    if (!this.#stopped.signal.aborted) this.#stopped.abort(this.#options.stopReason?.() ?? reason)
    await Promise.all(this.#fetches)
  }

  async #wait(
    start: () => Promise<() => Result>,
    index: number,
    signal: AbortSignal | undefined,
  ): Promise<Result> {
    signal?.throwIfAborted()
    const giveUp = (): void => void this.stop(signal?.reason)
    signal?.addEventListener('abort', giveUp, { once: true })
    try {
      this.#asked = Math.max(this.#asked, index)
      const fetched = start()
      this.#fill()
      return (await fetched)()
    } finally {
      signal?.removeEventListener('abort', giveUp)
      if (signal?.aborted) await this.stop(signal.reason)
    }
  }

  #fill(): void {
    while (!this.#failed && !this.#signal.aborted) {
      const next = this.#options.next(this.#states, this.#asked)
      if (next === undefined || this.#states[next] !== 'waiting') return
      this.#start(next)
    }
  }

  #start(index: number): Promise<() => Result> {
    this.#states[index] = 'fetching'
    const fetched = settled(this.#fetch(index))
    this.#fetches[index] = fetched
    return fetched
  }

  async #fetch(index: number): Promise<Result> {
    try {
      const result = await this.#options.fetch(index, this.#signal)
      queueMicrotask(() => this.#fill())
      return result
    } catch (error) {
      this.#failed ||= this.#options.goesOnAfter?.(error) !== true
      throw error
    } finally {
      if (this.#states[index] === 'fetching') this.#states[index] = 'held'
    }
  }
}

export interface Prepared<Item, Result> {
  readonly item: Item
  readonly index: number
  /** @throws what preparing threw */
  readonly result: Result
}

/**
 * Gives items in order, each with what `prepare` made of it; at most one is prepared ahead. When the consumer
 * stops early, the preparation under way is aborted by its signal and waited for.
 */
export async function* prefetchNext<Item, Result>(
  items: readonly Item[],
  prepare: (item: Item, index: number, signal: AbortSignal) => Promise<Result>,
  signal?: AbortSignal | undefined,
): AsyncGenerator<Prepared<Item, Result>, void> {
  const stopped = new AbortController()
  const stop = signal ? AbortSignal.any([signal, stopped.signal]) : stopped.signal
  // Nothing is kept of items that are done: there may be very many.
  let ahead: Promise<() => Prepared<Item, Result>> | undefined
  const begin = (index: number): typeof ahead => {
    const item = items[index]
    if (item === undefined) return undefined
    return settled(prepare(item, index, stop).then((result) => ({ item, index, result })))
  }
  try {
    ahead = begin(0)
    for (let prepared = await ahead; prepared; prepared = await ahead) {
      const { index } = prepared()
      ahead = begin(index + 1)
      yield prepared()
    }
  } finally {
    stopped.abort()
    await ahead
  }
}
