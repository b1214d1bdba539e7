/** What an earlier attempt of a run has finished, by its journal. */

import type { Fingerprint, Source } from '../../core/source.ts'
import type { JournalEntry } from '../../manifest/runs/journal.ts'
import { type Finished, originId, partitionId } from './partition-entry.ts'

export class DonePartitions {
  readonly #run: string
  readonly #entries: ReadonlyMap<string, JournalEntry>

  constructor(run: string, entries: readonly JournalEntry[]) {
    this.#run = run
    this.#entries = new Map(entries.map((entry) => [entry.partition.id, entry]))
  }

  get size(): number {
    return this.#entries.size
  }

  /** What the ids of a source's partitions begin with in this run. */
  origin(source: Pick<Source, 'key'>, fingerprint: Fingerprint | undefined, index: number): string {
    return originId(this.#run, source, fingerprint, index)
  }

  /** A finished partition, unless it was made of other bytes than those of the source now; `null`: its id tells. */
  find(id: string, sha256: string | undefined | null): JournalEntry | undefined {
    const entry = this.#entries.get(id)
    if (sha256 === null) return entry
    return entry?.partition.source.sha256 === sha256 ? entry : undefined
  }

  /** All partitions of a source that was loaded to its end, every layer of every block; else `undefined`. */
  wholeSource(origin: string, index: number): readonly Finished[] | undefined {
    const first = this.#entries.get(partitionId(origin, 0, 0))
    const found: Finished[] = []
    for (let block = 0; ; block += 1) {
      const layers = this.#entries.get(partitionId(origin, block, 0))?.layers ?? 0
      for (let layer = 0; layer < Math.max(layers, 1); layer += 1) {
        const entry = this.find(partitionId(origin, block, layer), first?.partition.source.sha256)
        if (entry === undefined) return undefined
        const { partition, unknownItems } = entry
        found.push({ place: [index, block, layer], layers, partition, unknownItems })
      }
      if (found.at(-1)?.partition.source.last) return found
    }
  }
}
