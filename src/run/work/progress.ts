/**
 * Events of a run while it works (the command line shows it, a program may log it), and what became of each source so far,
 * by which the commit goes.
 */

import type { Source } from '../../core/source.ts'
import type { SourceResult } from '../../manifest/runs/journal.ts'
import type { LeftOut } from './known-sources.ts'
import type { Finished } from './partition-entry.ts'

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

/** Counts that a partition adds to the progress. */
export type LoadedCounts = Pick<Progress, 'records' | 'quarantined' | 'rows'>

interface LoadedPart {
  readonly place: Finished['place']
  readonly id: string
  readonly counts: LoadedCounts
}

const countsOf = ({ partition: { counts } }: Finished): LoadedCounts => ({
  records: counts.records,
  quarantined: counts.quarantined,
  rows: Object.values(counts.rows).reduce((a, b) => a + b, 0),
})

const sumOf = (parts: readonly LoadedPart[]): LoadedCounts => ({
  records: parts.reduce((sum, { counts }) => sum + counts.records, 0),
  quarantined: parts.reduce((sum, { counts }) => sum + counts.quarantined, 0),
  rows: parts.reduce((sum, { counts }) => sum + counts.rows, 0),
})

const byPlace = (a: LoadedPart, b: LoadedPart): number =>
  a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.place[2] - b.place[2]

export class SourceResults {
  readonly #loaded = new Map<number, LoadedPart[]>()
  readonly #others = new Map<number, SourceResult>()

  add(finished: Finished): void {
    const [source] = finished.place
    const parts = this.#loaded.get(source) ?? []
    parts.push({ place: finished.place, id: finished.partition.id, counts: countsOf(finished) })
    this.#loaded.set(source, parts)
  }

  skip(index: number, source: string, reason: string): void {
    this.#loaded.delete(index)
    this.#others.set(index, { kind: 'skipped', source, reason })
  }

  leaveOut(index: number, excluded: LeftOut): void {
    this.#loaded.delete(index)
    this.#others.set(index, { kind: 'left-out', ...excluded })
  }

  /** Counts of everything that is loaded and was not left out again. */
  get counts(): LoadedCounts {
    return sumOf([...this.#loaded.values()].flat())
  }

  /** The result of each source; the first of those that share a partition stands for all. @param sources the names of all, in their order */
  inOrder(sources: readonly Pick<Source, 'name'>[]): readonly SourceResult[] {
    return sources.flatMap(({ name: source }, index): readonly SourceResult[] => {
      const other = this.#others.get(index)
      const parts = this.#loaded.get(index)
      if (other !== undefined || parts === undefined) return other ? [other] : []
      return [{ kind: 'loaded', source, partitions: parts.sort(byPlace).map(({ id }) => id) }]
    })
  }
}
