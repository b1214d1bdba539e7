/**
 * The main job: sources → blocks → tables → one commit. Receives its parts ready made and knows none of them
 * by name. A run that is stopped at any point goes on at its last finished partition.
 */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { PartitionEntry, Snapshot } from '../../core/partition.ts'
import type { Sink, SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { detectCompression } from '../../decode/detect-compression.ts'
import { openJournal, readJournal } from '../../manifest/journal.ts'
import { loadedSources } from '../../manifest/loaded-sources.ts'
import { releaseRun } from '../../manifest/run-lease.ts'
import { removeRun } from '../../manifest/runs.ts'
import { newestSnapshot } from '../../manifest/snapshots.ts'
import { badFile, type LeftOut, leftOutFor } from './bad-files.ts'
import { checkStaged } from './check-staged.ts'
import { type CommitOptions, commitLoaded } from './commit-loaded.ts'
import type { CurrencyChange } from './currency-change.ts'
import { DonePartitions } from './done-partitions.ts'
import { KnownSources } from './known-sources.ts'
import { type LoadedSource, type LoadParts, loadSource, type SourceRun } from './load-source.ts'
import { NamesOfRun } from './names-of-run.ts'
import { byPlace, type Finished, withFingerprint } from './partition-entry.ts'
import { oneAhead } from './prefetch.ts'
import type { Progress } from './progress.ts'
import { SideWork } from './task-pool.ts'

export interface LoadSourcesParts extends LoadParts {
  readonly sink: Sink
  readonly sources: readonly Source[]
}

export interface LoadSourcesOptions extends CommitOptions {
  /** Content of all sources; detected for each when absent. */
  readonly content?: Content | undefined
  /** Leaves a source out of the commit when none of its lines could be loaded. @default false */
  readonly dropEmpty?: boolean | undefined
  /** Leaves damaged and unreadable files out and loads the others, in place of failing. @default false */
  readonly skipBadFiles?: boolean | undefined
  /** Partitions loaded side by side. @default 2 */
  readonly sideBySide?: number | undefined
}

export interface LoadSummary {
  readonly run: string
  /** The snapshot that shows the run; absent when there was nothing to commit. */
  readonly snapshot: Snapshot | undefined
  readonly partitions: readonly PartitionEntry[]
  readonly skipped: readonly { readonly source: string; readonly reason: string }[]
  /** Bad files that were left out; none without `skipBadFiles`. */
  readonly leftOut: readonly LeftOut[]
  /** Companies whose figures were replaced by figures in another currency, as it was allowed. */
  readonly currencyChange?: CurrencyChange
}

/**
 * Loads all sources and commits them at once.
 *
 * @throws {ToolkitError} QUARANTINE_LIMIT, CURRENCY_CHANGED (the run stays and can be resumed with a higher limit,
 *   with `changeCurrency`), INTERRUPTED, and whatever the parts throw; nothing of the run is then visible
 */
export const loadSources = async (
  parts: LoadSourcesParts,
  options: LoadSourcesOptions,
): Promise<LoadSummary> => {
  try {
    const sink = await parts.sink.open(options.lease.run)
    const summary = await new BatchRun(parts, sink, options).work()
    await removeRun(options.lease)
    return summary
  } catch (error) {
    // Whoever takes the run over writes the files that are being fetched ahead.
    await Promise.allSettled(parts.sources.map((source) => source.stop?.()))
    const told =
      options.signal?.aborted && !(error instanceof ToolkitError) ? interrupted(options.lease.run) : error
    await releaseRun(options.lease, told).catch(() => undefined)
    throw told
  }
}

const interrupted = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Run "${run}" was stopped, "firmlake resume" goes on with it`, { run })

/** What is known of a source before it is opened. */
interface Identified {
  readonly fingerprint: Fingerprint | undefined
  /** Its partitions, where an earlier try of the run has finished them all. */
  readonly whole: readonly Finished[] | undefined
  /** What is wrong with it, where bad files are skipped. */
  readonly bad?: ToolkitError
}

class BatchRun {
  readonly #parts: LoadSourcesParts
  readonly #sink: SinkRun
  readonly #options: LoadSourcesOptions
  readonly #work: SideWork
  readonly #names: NamesOfRun
  readonly #finished: Finished[] = []
  readonly #leftOut: LeftOut[] = []
  readonly #skipped: { source: string; reason: string }[] = []
  #progress: Progress
  /** Sources left out because they hold no records. */
  #unknown = 0

  constructor(parts: LoadSourcesParts, sink: SinkRun, options: LoadSourcesOptions) {
    this.#parts = parts
    this.#sink = sink
    this.#options = options
    this.#names = new NamesOfRun({
      maxUnknownNames: options.maxUnknownNames,
      listAllItems: sink.stagedRows === undefined,
    })
    this.#work = new SideWork(options.sideBySide ?? 2, () =>
      options.signal?.aborted ? interrupted(options.lease.run) : undefined,
    )
    const sizes = parts.sources.map(({ sizeBytes }) => sizeBytes)
    this.#progress = {
      sourcesDone: 0,
      sources: parts.sources.length,
      bytesRead: 0,
      bytesTotal: sizes.every((size) => size !== undefined) ? sizes.reduce((a, b) => a + b, 0) : undefined,
      decodedBytes: 0,
      records: 0,
      quarantined: 0,
      rows: 0,
    }
  }

  async work(): Promise<LoadSummary> {
    const { lease, content, signal, onEvent, skipBadFiles = false } = this.#options
    const entries = await readJournal(lease.lake, lease.run)
    const { whole, damaged } = await checkStaged(lease, entries, signal)
    const done = new DonePartitions(lease.run, whole)
    onEvent?.({ kind: 'started', run: lease.run, resumed: lease.number > 1, finished: done.size })
    for (const { id } of damaged) onEvent?.({ kind: 'again', partition: id })
    const newest = await newestSnapshot(lease.lake)
    const known = new KnownSources(this.#options.again ? new Set() : loadedSources(newest))
    const journal = await openJournal(lease)
    const run: SourceRun = {
      names: this.#names,
      skipBadFiles,
      run: lease.run,
      parts: this.#parts,
      sink: this.#sink,
      content,
      done,
      work: this.#work,
      keep: ({ partition, layers, unknownItems }) => journal.append({ partition, layers, unknownItems }),
      onFinished: (finished, decodedBytes) => this.#finish(finished, decodedBytes),
      onRead: (bytes) => this.#tell({ bytesRead: this.#progress.bytesRead + bytes }),
      onContent: (source, found) => onEvent?.({ kind: 'source', source, content: found }),
    }
    let storedBytes = 0
    try {
      const identify = async (source: Source, index: number, stop: AbortSignal): Promise<Identified> => {
        try {
          return await identifySource(source, index, done, stop)
        } catch (error) {
          const bad = skipBadFiles ? badFile(source, error) : undefined
          if (bad === undefined) throw error
          return { fingerprint: undefined, whole: undefined, bad }
        }
      }
      for await (const { item, index, result } of oneAhead(this.#parts.sources, identify, signal)) {
        const unknown = this.#unknown
        await this.#source(item, index, result, known, run)
        if (this.#unknown === unknown) storedBytes += item.sizeBytes ?? 0
        this.#tell({
          sourcesDone: index + 1 - this.#unknown,
          bytesRead: Math.max(this.#progress.bytesRead, storedBytes),
        })
      }
    } finally {
      // Whatever happened, nobody may still be writing when the run is given up.
      await this.#work.ended()
      await journal.close()
    }
    this.#work.throwIfStopped()
    return await this.#commit()
  }

  async #source(
    source: Source,
    index: number,
    { fingerprint, whole, bad }: Identified,
    known: KnownSources,
    run: SourceRun,
  ): Promise<void> {
    if (bad) return this.#leaveBadOut(source, index, bad)
    const wanted = whole?.[0]?.partition.content ?? run.content ?? source.content
    if (fingerprint && !isCutToNothing(source, fingerprint)) {
      const held = known.reasonToSkip(source, fingerprint, wanted ? [wanted] : ['companies', 'relations'])
      if (held !== undefined) return this.#skip(source, held)
    }
    if (whole && fingerprint && wanted) {
      this.#work.throwIfStopped()
      for (const finished of whole) this.#finish(this.#names.bound(finished), 0)
      known.add(source, fingerprint, wanted)
      return source.release?.()
    }
    if (!fingerprint) await this.#work.idle()
    const before = this.#finished.length
    const loaded = await loadSource(source, index, fingerprint, run)
    if ('leftOut' in loaded) return this.#leaveOut(source, loaded.leftOut)
    if ('bad' in loaded) return this.#leaveBadOut(source, index, loaded.bad)
    if (fingerprint === undefined) {
      const held = known.reasonToSkip(source, loaded.fingerprint, [loaded.content])
      if (held !== undefined) {
        this.#finished.length = before
        return this.#skip(source, held)
      }
      await this.#keepWithFingerprint(before, loaded, run)
    }
    known.add(source, loaded.fingerprint, loaded.content)
    if (source.release) this.#work.whenDone(loaded.jobs, source.release)
  }

  /** Records what was loaded of a source whose fingerprint is known only now. */
  async #keepWithFingerprint(
    from: number,
    { fingerprint }: LoadedSource,
    { keep }: SourceRun,
  ): Promise<void> {
    for (const [at, one] of this.#finished.entries()) {
      if (at < from) continue
      const finished = { ...one, partition: withFingerprint(one.partition, fingerprint) }
      this.#finished[at] = finished
      await keep(finished)
    }
  }

  /** Files that only lie in the same folder are no part of the work: nor of how far it is. */
  async #leaveOut(source: Source, reason: string): Promise<void> {
    this.#unknown += 1
    const { sources, bytesTotal } = this.#progress
    const left = bytesTotal === undefined ? undefined : bytesTotal - (source.sizeBytes ?? 0)
    this.#tell({ sources: sources - 1, bytesTotal: left })
    await this.#skip(source, reason)
  }

  /** Takes back what was loaded of a file before it turned out to be bad. */
  async #leaveBadOut(source: Source, index: number, bad: ToolkitError): Promise<void> {
    const leftOut = leftOutFor(source, bad)
    this.#leftOut.push(leftOut)
    this.#options.onEvent?.({ kind: 'left-out', ...leftOut })
    const others = this.#finished.filter(({ place }) => place[0] !== index)
    if (others.length < this.#finished.length) {
      this.#finished.splice(0, this.#finished.length, ...others)
      const counts = others.map(({ partition }) => partition.counts)
      this.#tell({
        records: counts.reduce((sum, { records }) => sum + records, 0),
        quarantined: counts.reduce((sum, { quarantined }) => sum + quarantined, 0),
        rows: counts.reduce((sum, { rows }) => sum + Object.values(rows).reduce((a, b) => a + b, 0), 0),
      })
    }
    await source.release?.()
  }

  async #skip(source: Source, reason: string): Promise<void> {
    this.#skipped.push({ source: source.name, reason })
    this.#options.onEvent?.({ kind: 'skipped', source: source.name, reason })
    await source.release?.()
  }

  #finish(finished: Finished, decodedBytes: number): void {
    this.#finished.push(finished)
    const { counts } = finished.partition
    this.#tell({
      decodedBytes: this.#progress.decodedBytes + decodedBytes,
      records: this.#progress.records + counts.records,
      quarantined: this.#progress.quarantined + counts.quarantined,
      rows: this.#progress.rows + Object.values(counts.rows).reduce((a, b) => a + b, 0),
    })
  }

  #tell(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    this.#options.onEvent?.({ kind: 'progress', progress: this.#progress })
  }

  #worthKeeping(finished: readonly Finished[]): readonly Finished[] {
    if (!this.#options.dropEmpty) return finished
    const loaded = new Set(
      finished.flatMap(({ partition: { source, counts } }) => (counts.records > 0 ? [source.sha256] : [])),
    )
    return finished.filter(({ partition }) => loaded.has(partition.source.sha256))
  }

  async #commit(): Promise<LoadSummary> {
    const { run } = this.#options.lease
    const finished = this.#worthKeeping(this.#finished.sort(byPlace))
    const partitions = finished.map(({ partition }) => partition)
    const outcome = await commitLoaded(
      { loader: this.#parts.loader, sink: this.#sink },
      finished,
      this.#options,
    )
    const dropped = new Set(outcome.dropped.map(({ id }) => id))
    for (const name of new Set(outcome.dropped.map(({ source }) => source.name))) {
      this.#skipped.push({ source: name, reason: 'already loaded by a concurrent run' })
    }
    return {
      run,
      snapshot: outcome.kind === 'nothing' ? undefined : outcome.snapshot,
      partitions: partitions.filter(({ id }) => !dropped.has(id)),
      skipped: this.#skipped,
      leftOut: this.#leftOut,
      ...(outcome.currencyChange && { currencyChange: outcome.currencyChange }),
    }
  }
}

/** A compressed file has some bytes at least: one without is no empty file that was loaded before, it is truncated. */
const isCutToNothing = ({ name, decodeName = name }: Source, { bytes }: Fingerprint): boolean =>
  bytes === 0 && detectCompression(Buffer.alloc(0), decodeName) !== 'none'

const identifySource = async (
  source: Source,
  index: number,
  done: DonePartitions,
  signal: AbortSignal,
): Promise<Identified> => {
  // With a key there is no need to fetch what was loaded already, only to see that it was.
  const before = source.key === undefined ? undefined : wholeOf(source, undefined, index, done)
  const [first] = before ?? []
  if (first) {
    const { bytes, sha256 } = first.partition.source
    return { fingerprint: { bytes, sha256 }, whole: before }
  }
  const fingerprint = await source.fingerprint?.(signal)
  return { fingerprint, whole: fingerprint && wholeOf(source, fingerprint, index, done) }
}

const wholeOf = (
  source: Source,
  fingerprint: Fingerprint | undefined,
  index: number,
  done: DonePartitions,
): readonly Finished[] | undefined => done.wholeSource(done.origin(source, fingerprint, index), index)
