/**
 * The counts of each of several loads of one run, and the load that an error comes from: by where it was thrown, by the source
 * it names, by its bad lines.
 */

import { withinLimit } from '../commit/quarantine-limit.ts'
import { ToolkitError } from '../core/errors.ts'
import type { LineCounts, PartitionEntry } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import { sourcesOf } from '../manifest/form/sources.ts'
import { filteredOf, sumOf } from '../manifest/form/totals.ts'
import { readJournal } from '../manifest/runs/journal.ts'
import type { QuarantineLimit } from '../options/value-types.ts'
import type { OpenedJob } from '../run/opened-job.ts'
import type { RunScope } from '../run/with-run.ts'
import type { LoadPart } from './open-loads.ts'

async function* watched<T>(
  items: AsyncIterable<T>,
  thrown: (error: unknown) => void,
): AsyncGenerator<T, void> {
  try {
    yield* items
  } catch (error) {
    thrown(error)
    throw error
  }
}

export class Blame {
  readonly #parts = new WeakMap<Error, LoadPart>()
  readonly #sources = new Map<LoadPart, readonly Pick<Source, 'name'>[]>()

  #blame(part: LoadPart, error: unknown): void {
    if (error instanceof Error && this.#parts.get(error) === undefined) this.#parts.set(error, part)
  }

  /** Does what one load asks for. */
  async around<T>(part: LoadPart, work: () => Promise<T>): Promise<T> {
    try {
      return await work()
    } catch (error) {
      this.#blame(part, error)
      throw error
    }
  }

  /** The job, whose sources are watched while they are read. @param named as the run names them */
  watch<Job extends OpenedJob>(part: LoadPart, job: Job, named: readonly Source[]): Job {
    this.#sources.set(part, named)
    const thrown = (error: unknown): void => this.#blame(part, error)
    const sources = job.sources.map((source): Source => {
      // Called as functions of their source: a file's are those of all files.
      const { fingerprint, blocks } = source
      return {
        ...source,
        open: (signal) => watched(source.open(signal), thrown),
        ...(fingerprint && {
          fingerprint: (signal) => this.around(part, () => fingerprint.call(source, signal)),
        }),
        ...(blocks && { blocks: () => watched(blocks.call(source), thrown) }),
      }
    })
    return { ...job, sources }
  }

  /** Finds whose lines were too bad, while the run is there: the load with the largest share, of those that exceed the limit. */
  async learn(error: unknown, run: RunScope, limit: QuarantineLimit): Promise<void> {
    if (!(error instanceof ToolkitError) || error.code !== 'QUARANTINE_LIMIT') return
    const { entries } = await readJournal(run.lake, run.run)
    const partitions = entries.map(({ partition }) => partition)
    const found = [...this.#sources].map(([part, sources]) => {
      const { lines, quarantined } = linesOfPart(partitions, sources)
      const share = lines === 0 ? 0 : quarantined / lines
      return { part, share, isWithin: withinLimit(limit, quarantined, lines) }
    })
    const [worst] = found.sort((a, b) => Number(a.isWithin) - Number(b.isWithin) || b.share - a.share)
    if (worst) this.#blame(worst.part, error)
  }

  /** The load that an error comes from; `undefined` where that is not known. */
  partOf(error: unknown): LoadPart | undefined {
    for (let one = error; one instanceof Error; one = one.cause) {
      const part = this.#parts.get(one)
      if (part !== undefined) return part
      const name = one instanceof ToolkitError ? one.context.source : undefined
      const [own] =
        [...this.#sources].find(([, sources]) => sources.some((source) => source.name === name)) ?? []
      if (own !== undefined) return own
    }
    return undefined
  }
}

type Counted = Pick<PartitionEntry, 'source' | 'sources' | 'counts'>

/** Matched by the names of sources, which no two loads of a run share. */
const countsBySource = ({ source, sources, counts }: Counted): readonly (readonly [string, LineCounts])[] =>
  sources ? sources.map((one) => [one.name, one.counts] as const) : [[source.name, counts]]

/** @param sources of that load, by the names that the run has for them */
export const linesOfPart = (
  partitions: readonly Counted[],
  sources: readonly Pick<Source, 'name'>[],
): LineCounts => {
  const names = new Set(sources.map(({ name }) => name))
  const own = partitions
    .flatMap(countsBySource)
    .filter(([name]) => names.has(name))
    .map(([, counts]) => counts)
  const sum = (of: (counts: LineCounts) => number): number => own.reduce((total, one) => total + of(one), 0)
  return {
    lines: sum(({ lines }) => lines),
    records: sum(({ records }) => records),
    quarantined: sum(({ quarantined }) => quarantined),
    ...filteredOf(own),
  }
}

/** Records of a load of which the lake had newer data; small sources of two loads that share a partition are of the first. */
export const olderOfPart = (
  partitions: readonly PartitionEntry[],
  sources: readonly Pick<Source, 'name'>[],
): number => {
  const names = new Set(sources.map(({ name }) => name))
  const own = partitions.filter((one) => names.has(sourcesOf(one)[0]?.name ?? ''))
  return sumOf(own, ({ older = 0 }) => older)
}
