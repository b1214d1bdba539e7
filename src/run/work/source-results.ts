/** The result of each source, by which the commit goes. */

import type { Content } from '../../contract/objects.ts'
import type { ToolkitError } from '../../core/errors.ts'
import type { Source } from '../../core/source.ts'
import type { JournalResult, SourceResult } from '../../manifest/runs/journal-lines.ts'
import type { IdentifiedSource } from './identify-sources.ts'
import { readOf } from './known-sources.ts'
import type { Finished } from './partition-entry.ts'
import { type LoadedCounts, NO_COUNTS, plus, type RunEvent, type WorkProgress } from './progress.ts'
import type { SourceToLoad } from './small-sources.ts'
import type { TaskPool } from './task-pool.ts'

export type SourceOutcome =
  /** The source's partitions are recorded when its jobs have ended. */
  | { readonly kind: 'loaded'; readonly content: Content; readonly jobs: readonly Promise<boolean>[] }
  | { readonly kind: 'skipped'; readonly reason: string }
  /** The source was only found in a folder: it is no part of the work, nor of how far that is. */
  | { readonly kind: 'no-records'; readonly reason: string }
  /** A bad file: what was loaded of it before it turned out to be bad is taken back. */
  | { readonly kind: 'left-out'; readonly error: ToolkitError }

export type SourcesLoaded = Pick<JournalResult, 'sources' | 'read'>

type NotLoaded = Exclude<SourceResult, { kind: 'loaded' }>

const resultOf = (
  { name: source }: Source,
  outcome: Exclude<SourceOutcome, { kind: 'loaded' }>,
): NotLoaded => {
  if (outcome.kind !== 'left-out') return { kind: 'skipped', source, reason: outcome.reason }
  const { code, message: reason } = outcome.error
  return { kind: 'left-out', source, code, reason }
}

interface LoadedPart {
  readonly place: Finished['place']
  readonly id: string
  readonly counts: LoadedCounts
}

const byPlace = (a: LoadedPart, b: LoadedPart): number =>
  a.place[0] - b.place[0] || a.place[1] - b.place[1] || a.place[2] - b.place[2]

export class SourceResults {
  readonly #loaded = new Map<number, LoadedPart[]>()
  readonly #others = new Map<number, NotLoaded>()
  readonly #read: string[] = []

  identify({ source, fingerprint, bad }: IdentifiedSource): void {
    this.#read.push(...readOf(source, fingerprint, bad))
  }

  /** @returns the counts of the partition */
  add({ place, partition: { id, counts } }: Finished): LoadedCounts {
    const { records, quarantined } = counts
    const own = { records, quarantined, rows: Object.values(counts.rows).reduce((a, b) => a + b, 0) }
    const parts = this.#loaded.get(place[0]) ?? []
    parts.push({ place, id, counts: own })
    this.#loaded.set(place[0], parts)
    return own
  }

  /** Nothing of the source is loaded, or no longer. */
  takeBack(index: number, result: NotLoaded): void {
    this.#loaded.delete(index)
    this.#others.set(index, result)
  }

  /** Counts of everything that is loaded and was not left out again. */
  get counts(): LoadedCounts {
    return [...this.#loaded.values()].flat().reduce((sum, { counts }) => plus(sum, counts), NO_COUNTS)
  }

  /** The results of all sources; the first of those that share a partition stands for all. */
  of(sources: readonly Pick<Source, 'name'>[]): SourcesLoaded {
    const all = sources.flatMap(({ name: source }, index): readonly SourceResult[] => {
      const other = this.#others.get(index)
      const parts = this.#loaded.get(index)
      if (other !== undefined || parts === undefined) return other ? [other] : []
      return [{ kind: 'loaded', source, partitions: parts.sort(byPlace).map(({ id }) => id) }]
    })
    return { sources: all, read: this.#read }
  }
}

/** The tools that a result is settled with. */
export interface ResultTools {
  readonly results: SourceResults
  readonly progress: WorkProgress
  readonly pool: Pick<TaskPool, 'afterSuccess'>
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/** Each source is done when the next one is asked for. */
export async function* followed(
  sources: AsyncIterable<IdentifiedSource>,
  { results, progress }: Pick<ResultTools, 'results' | 'progress'>,
): AsyncGenerator<IdentifiedSource, void> {
  for await (const found of sources) {
    results.identify(found)
    yield found
    progress.done(found.index, found.source)
  }
}

/** Records and reports the result of a source. It is released when all its partitions are recorded, or it needs none. */
export const settle = async (
  found: SourceToLoad,
  outcome: SourceOutcome,
  { results, progress, pool, onEvent }: ResultTools,
): Promise<void> => {
  const { source, index, members = [found] } = found
  if (outcome.kind === 'loaded') {
    for (const { source: member } of members)
      if (member.release) pool.afterSuccess(outcome.jobs, member.release)
    return
  }
  if (outcome.kind === 'no-records') progress.leave(source)
  const result = resultOf(source, outcome)
  results.takeBack(index, result)
  onEvent?.(result)
  if (outcome.kind === 'left-out') progress.recount(results.counts)
  await source.release?.()
}
