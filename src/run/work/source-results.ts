/** What became of each source of a run so far: its sums for the progress, and at the end what the commit goes by. */

import type { Source } from '../../core/source.ts'
import type { SourceResult } from '../../manifest/runs/journal.ts'
import type { LeftOut } from './bad-files.ts'
import type { Finished } from './partition-entry.ts'
import type { Progress } from './progress.ts'

/** What a partition adds to the progress. */
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

  leaveOut(index: number, leftOut: LeftOut): void {
    this.#loaded.delete(index)
    this.#others.set(index, { kind: 'left-out', ...leftOut })
  }

  /** Of everything that is loaded and was not left out again. */
  get counts(): LoadedCounts {
    return sumOf([...this.#loaded.values()].flat())
  }

  /** Of sources that share a partition the first one stands for all. @param sources the names of all, in their order */
  inOrder(sources: readonly Pick<Source, 'name'>[]): readonly SourceResult[] {
    return sources.flatMap(({ name: source }, index): readonly SourceResult[] => {
      const other = this.#others.get(index)
      const parts = this.#loaded.get(index)
      if (other !== undefined || parts === undefined) return other ? [other] : []
      return [{ kind: 'loaded', source, partitions: parts.sort(byPlace).map(({ id }) => id) }]
    })
  }
}
