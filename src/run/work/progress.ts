/** What a run reports while it works; the command line shows it, a program may log it. */

import type { LeftOut } from './bad-files.ts'

/** How far a run is. */
export interface Progress {
  /** Sources finished and in all; one that turns out to hold no records counts for neither. */
  readonly sourcesDone: number
  readonly sources: number
  /** Stored bytes read, and in all where every source knows its length. */
  readonly bytesRead: number
  readonly bytesTotal: number | undefined
  /** Decoded bytes handed to DuckDB. */
  readonly decodedBytes: number
  readonly records: number
  readonly quarantined: number
  /** Rows written to all tables. */
  readonly rows: number
}

/** What a run tells while it works. */
export type RunEvent =
  | { readonly kind: 'started'; readonly run: string; readonly resumed: boolean; readonly finished: number }
  /** An earlier call had committed the run before it was stopped: nothing is loaded again. */
  | { readonly kind: 'already'; readonly run: string; readonly snapshot: number }
  /** A partition that an earlier attempt had finished: its staged files are damaged, it is loaded once more. */
  | { readonly kind: 'again'; readonly partition: string }
  | { readonly kind: 'skipped'; readonly source: string; readonly reason: string }
  /** A bad file. */
  | ({ readonly kind: 'left-out' } & LeftOut)
  /** What a person should know of a source that is loaded. */
  | { readonly kind: 'notice'; readonly source: string; readonly text: string }
  | { readonly kind: 'source'; readonly source: string; readonly content: string }
  | { readonly kind: 'progress'; readonly progress: Progress }
  | { readonly kind: 'committing'; readonly partitions: number }
