/** What became of each unit of a run so far: its sums for the progress, and at the end the last line of the journal. */

import type { UnitResult } from '../../manifest/journal.ts'
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

export class UnitResults {
  readonly #loaded = new Map<number, LoadedPart[]>()
  readonly #others = new Map<number, UnitResult>()

  add(finished: Finished): void {
    const [unit] = finished.place
    const parts = this.#loaded.get(unit) ?? []
    parts.push({ place: finished.place, id: finished.partition.id, counts: countsOf(finished) })
    this.#loaded.set(unit, parts)
  }

  skip(unit: number, source: string, reason: string): void {
    this.#loaded.delete(unit)
    this.#others.set(unit, { kind: 'skipped', source, reason })
  }

  leaveOut(unit: number, leftOut: LeftOut): void {
    this.#loaded.delete(unit)
    this.#others.set(unit, { kind: 'left-out', ...leftOut })
  }

  /** Of everything that is loaded and was not left out again. */
  get counts(): LoadedCounts {
    return sumOf([...this.#loaded.values()].flat())
  }

  /** @param sources the names of all units, in their order */
  inOrder(sources: readonly string[]): readonly UnitResult[] {
    return sources.map((source, unit) => {
      const partitions = (this.#loaded.get(unit) ?? []).sort(byPlace).map(({ id }) => id)
      return this.#others.get(unit) ?? { kind: 'loaded', source, partitions }
    })
  }
}
