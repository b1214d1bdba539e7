/** Events of a run while it works: the command line shows them, a program may log them. How far it is. */

import type { Source } from '../../core/source.ts'
import type { LeftOut } from './known-sources.ts'

/** How far a run is. */
export interface Progress {
  /** Sources finished and in all; one that turns out to hold no records counts for neither. */
  readonly sourcesDone: number
  readonly sources: number
  /** Stored bytes read, and in all where every source knows its length. */
  readonly bytesRead: number
  readonly bytesTotal: number | undefined
  /** About how many of the stored bytes that were read are loaded: by the decoded bytes of all sources. Never less than before. */
  readonly bytesLoaded: number
  /** Decoded bytes handed to DuckDB. */
  readonly decodedBytes: number
  readonly records: number
  readonly quarantined: number
  /** Rows written to all tables. */
  readonly rows: number
}

/** An event of a run. */
export type RunEvent =
  | { readonly kind: 'started'; readonly run: string; readonly resumed: boolean; readonly finished: number }
  /** An earlier call had committed the run before it was stopped: nothing is loaded again. */
  | { readonly kind: 'already'; readonly run: string; readonly snapshot: number }
  /** A partition that an earlier attempt had finished: its staged files are damaged, it is loaded once more. */
  | { readonly kind: 'again'; readonly partition: string }
  | { readonly kind: 'skipped'; readonly source: string; readonly reason: string }
  /** A bad file. */
  | ({ readonly kind: 'left-out' } & LeftOut)
  /** A notice about a source that is loaded. */
  | { readonly kind: 'notice'; readonly source: string; readonly text: string }
  | { readonly kind: 'source'; readonly source: string; readonly content: string }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'committing'; readonly partitions: number }

/** Counts of what is loaded. */
export type LoadedCounts = Pick<Progress, 'records' | 'quarantined' | 'rows'>

export const NO_COUNTS: LoadedCounts = { records: 0, quarantined: 0, rows: 0 }

export const plus = (a: LoadedCounts, b: LoadedCounts): LoadedCounts => ({
  records: a.records + b.records,
  quarantined: a.quarantined + b.quarantined,
  rows: a.rows + b.rows,
})

type Sized = Pick<Source, 'sizeBytes'>

/** How far the work is; each change is an event. */
export class WorkProgress {
  readonly #onEvent: ((event: RunEvent) => void) | undefined
  #now: Progress
  /** Stored bytes of the sources that are done. */
  #storedBytes = 0
  /** Decoded bytes of all blocks that are loaded or under way. */
  #handedBytes = 0
  /** Sources that hold no records. */
  #withoutRecords = 0

  constructor(sources: readonly Sized[], onEvent: ((event: RunEvent) => void) | undefined) {
    this.#onEvent = onEvent
    const sizes = sources.map(({ sizeBytes }) => sizeBytes)
    this.#now = {
      sourcesDone: 0,
      sources: sources.length,
      bytesRead: 0,
      bytesTotal: sizes.every((size) => size !== undefined) ? sizes.reduce((a, b) => a + b, 0) : undefined,
      bytesLoaded: 0,
      decodedBytes: 0,
      ...NO_COUNTS,
    }
  }

  read(bytes: number): void {
    this.#change({ bytesRead: this.#now.bytesRead + bytes })
  }

  /** A block begins to be loaded. */
  hand(decodedBytes: number): void {
    this.#handedBytes += decodedBytes
  }

  load(counts: LoadedCounts, more: number): void {
    const { bytesRead, bytesLoaded } = this.#now
    const decodedBytes = this.#now.decodedBytes + more
    const loaded = this.#handedBytes === 0 ? 0 : Math.min(1, decodedBytes / this.#handedBytes) * bytesRead
    this.#change({
      ...{ decodedBytes, bytesLoaded: Math.max(bytesLoaded, loaded) },
      ...plus(this.#now, counts),
    })
  }

  /** The counts where something was taken back. */
  recount(counts: LoadedCounts): void {
    this.#change(counts)
  }

  /** A source that holds no records counts for nothing. It is done next. */
  leave({ sizeBytes = 0 }: Sized): void {
    const { sources, bytesTotal } = this.#now
    this.#withoutRecords += 1
    this.#storedBytes -= sizeBytes
    this.#change({
      sources: sources - 1,
      bytesTotal: bytesTotal === undefined ? undefined : bytesTotal - sizeBytes,
    })
  }

  /** @param index of the source: those before it are done */
  done(index: number, { sizeBytes = 0 }: Sized): void {
    this.#storedBytes += sizeBytes
    this.#change({
      sourcesDone: index + 1 - this.#withoutRecords,
      bytesRead: Math.max(this.#now.bytesRead, this.#storedBytes),
    })
  }

  #change(change: Partial<Progress>): void {
    this.#now = { ...this.#now, ...change }
    this.#onEvent?.({ kind: 'progress', progress: this.#now })
  }
}
