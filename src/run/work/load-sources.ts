/**
 * The work of a run: sources → blocks → tables. Receives its parts ready made and knows none of them by name. What it
 * finishes is recorded partition by partition, and nothing else is handed on to the commit.
 */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { compressionOfName } from '../../decode/decompress.ts'
import type { JournalEntry, SourceResult } from '../../manifest/runs/journal.ts'
import type { SourceIndex } from '../../manifest/snapshots/source-index.ts'
import { badFile, leftOutFor } from './bad-files.ts'
import { DonePartitions } from './done-partitions.ts'
import { KnownSources } from './known-sources.ts'
import { type LoadedSource, type LoadParts, loadSource, type SourceRun } from './load-source.ts'
import { NamesOfRun } from './names-of-run.ts'
import { type Finished, withFingerprint } from './partition-entry.ts'
import { prefetchNext } from './prefetch.ts'
import type { Progress, RunEvent } from './progress.ts'
import { LEAST_SHARED, maySmall, readSmall, SmallSources } from './small-sources.ts'
import { SourceResults } from './source-results.ts'
import { TaskPool } from './task-pool.ts'

export interface LoadSourcesParts extends LoadParts {
  readonly sink: SinkRun
  readonly sources: readonly Source[]
  /** What the lake holds, by content; `null`: it is loaded all the same. */
  readonly inLake: SourceIndex | null
}

/** Where a worker records what it has finished. */
export interface WorkRecord {
  /** What earlier attempts have finished, and it is whole. */
  readonly finished: readonly JournalEntry[]
  /** It is recorded when the promise is fulfilled. */
  readonly keep: (entry: JournalEntry) => Promise<void>
}

export interface LoadSourcesOptions {
  readonly run: string
  readonly record: WorkRecord
  /** Stands in the names of its files: several attempts at the same work may be under way. @default nothing */
  readonly attempt?: string | undefined
  /** Leaves damaged and unreadable files out and loads the others, in place of failing. @default false */
  readonly skipBadFiles?: boolean | undefined
  /** Most names that the contract does not know. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Partitions loaded side by side. @default 2 */
  readonly sideBySide?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/**
 * Loads all sources. Nothing of it is visible before the commit.
 *
 * @returns what became of each
 * @throws {ToolkitError} INTERRUPTED, and whatever the parts throw
 */
export const loadSources = (
  parts: LoadSourcesParts,
  options: LoadSourcesOptions,
): Promise<readonly SourceResult[]> => new SourceLoader(parts, options).load()

export const interrupted = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Run "${run}" was interrupted, "firmlake resume" resumes it`, { run })

/** What is known of a source before it is opened. */
interface Identified {
  readonly fingerprint: Fingerprint | undefined
  /** Its partitions, where an earlier attempt of the run has finished them all. */
  readonly whole: readonly Finished[] | undefined
  /** What is wrong with it, where bad files are skipped. */
  readonly bad?: ToolkitError
}

class SourceLoader {
  readonly #parts: LoadSourcesParts
  readonly #options: LoadSourcesOptions
  readonly #pool: TaskPool
  readonly #names: NamesOfRun
  readonly #results = new SourceResults()
  readonly #small = new SmallSources()
  /** Partitions of a source whose fingerprint is known only at its end. */
  #unkept: Finished[] = []
  #progress: Progress
  /** Sources left out because they hold no records. */
  #unknown = 0

  constructor(parts: LoadSourcesParts, options: LoadSourcesOptions) {
    this.#parts = parts
    this.#options = options
    this.#names = new NamesOfRun({
      maxUnknownNames: options.maxUnknownNames,
      listAllItems: parts.sink.stagedRows === undefined,
    })
    this.#pool = new TaskPool(options.sideBySide ?? 2, () =>
      options.signal?.aborted ? interrupted(options.run) : undefined,
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

  async load(): Promise<readonly SourceResult[]> {
    const { run: id, record, attempt, signal, onEvent, skipBadFiles = false } = this.#options
    const done = new DonePartitions(id, record.finished)
    const { sources, inLake } = this.#parts
    const known = new KnownSources(inLake)
    const run: SourceRun = {
      names: this.#names,
      skipBadFiles,
      run: id,
      attempt,
      parts: this.#parts,
      sink: this.#parts.sink,
      done,
      pool: this.#pool,
      keep: ({ partition, layers, unknownItems }) => record.keep({ partition, layers, unknownItems }),
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
      for await (const { item, index, result } of prefetchNext(sources, identify, signal)) {
        const unknown = this.#unknown
        await this.#loadUnit(item, index, result, known, run)
        if (this.#unknown === unknown) storedBytes += item.sizeBytes ?? 0
        this.#tell({
          sourcesDone: index + 1 - this.#unknown,
          bytesRead: Math.max(this.#progress.bytesRead, storedBytes),
        })
      }
      await this.#loadSmall(run)
      await this.#pool.idle()
      return this.#results.inOrder(sources)
    } finally {
      // Whatever happened, nothing may still be reading or writing when the run is released.
      await this.#pool.ended()
    }
  }

  async #loadUnit(
    source: Source,
    index: number,
    { fingerprint, whole, bad }: Identified,
    known: KnownSources,
    run: SourceRun,
  ): Promise<void> {
    if (source.leftOut !== undefined) return this.#leaveOut(source, index, source.leftOut)
    if (source.notice !== undefined)
      this.#options.onEvent?.({ kind: 'notice', source: source.name, text: source.notice })
    if (bad) {
      await this.#loadSmall(run)
      return this.#leaveBadOut(source, index, bad)
    }
    const content = whole?.[0]?.partition.content ?? source.content
    if (fingerprint) {
      const held = await reasonToSkip(source, fingerprint, content, known)
      if (held !== undefined) return this.#skip(source, index, held)
    }
    if (fingerprint && !whole && (await this.#takeSmall(source, index, fingerprint, known, run))) return
    // What is loaded later is the later version.
    await this.#loadSmall(run)
    if (whole && fingerprint && content) {
      this.#pool.throwIfStopped()
      for (const finished of whole) this.#finish(this.#names.bound(finished), 0)
      known.add(source, fingerprint, content)
      return source.release?.()
    }
    if (!fingerprint) await this.#pool.idle()
    this.#unkept = []
    const loaded = await loadSource(source, index, fingerprint, run)
    if ('leftOut' in loaded) return this.#leaveOut(source, index, loaded.leftOut)
    if ('bad' in loaded) return this.#leaveBadOut(source, index, loaded.bad)
    if (fingerprint === undefined) {
      const held = await known.reasonToSkip(source, loaded.fingerprint, [loaded.content])
      if (held !== undefined) return this.#skip(source, index, held)
      await this.#keepWithFingerprint(loaded, run)
    }
    known.add(source, loaded.fingerprint, loaded.content)
    if (source.release) this.#pool.whenDone(loaded.jobs, source.release)
  }

  #maySmall(source: Source): boolean {
    return this.#parts.sources.length >= LEAST_SHARED && maySmall(source)
  }

  /** Lets a small source wait for more of its kind. @returns whether it is one */
  async #takeSmall(
    source: Source,
    index: number,
    fingerprint: Fingerprint,
    known: KnownSources,
    run: SourceRun,
  ): Promise<boolean> {
    if (!this.#maySmall(source)) return false
    this.#pool.throwIfStopped()
    const read = await readSmall(source, this.#parts.decode)
    if (read === undefined) return false
    const small = { ...read, index, source, fingerprint }
    if (!this.#small.fits(small)) await this.#loadSmall(run)
    this.#small.add(small)
    known.add(source, fingerprint, small.content)
    run.onContent(source.name, small.content)
    return true
  }

  /** Loads the small sources that wait. */
  async #loadSmall(run: SourceRun): Promise<void> {
    for (const { index, source, fingerprint, members } of this.#small.take()) {
      const loaded = await loadSource(source, index, fingerprint, run)
      if ('leftOut' in loaded) await this.#leaveOut(source, index, loaded.leftOut)
      else if ('bad' in loaded) await this.#leaveBadOut(source, index, loaded.bad)
      else
        for (const one of members)
          if (one.source.release) this.#pool.whenDone(loaded.jobs, one.source.release)
    }
  }

  /** Records what was loaded of a source whose fingerprint is known only now. */
  async #keepWithFingerprint({ fingerprint }: LoadedSource, { keep }: SourceRun): Promise<void> {
    for (const one of this.#unkept)
      await keep({ ...one, partition: withFingerprint(one.partition, fingerprint) })
    this.#unkept = []
  }

  /** Files that only lie in the same folder are no part of the work: nor of how far it is. */
  async #leaveOut(source: Source, index: number, reason: string): Promise<void> {
    this.#unknown += 1
    const { sources, bytesTotal } = this.#progress
    const left = bytesTotal === undefined ? undefined : bytesTotal - (source.sizeBytes ?? 0)
    this.#tell({ sources: sources - 1, bytesTotal: left })
    await this.#skip(source, index, reason)
  }

  /** Takes back what was loaded of a file before it turned out to be bad. */
  async #leaveBadOut(source: Source, index: number, bad: ToolkitError): Promise<void> {
    const leftOut = leftOutFor(source, bad)
    this.#results.leaveOut(index, leftOut)
    this.#options.onEvent?.({ kind: 'left-out', ...leftOut })
    this.#tell(this.#results.counts)
    await source.release?.()
  }

  async #skip(source: Source, index: number, reason: string): Promise<void> {
    this.#results.skip(index, source.name, reason)
    this.#options.onEvent?.({ kind: 'skipped', source: source.name, reason })
    await source.release?.()
  }

  #finish(finished: Finished, decodedBytes: number): void {
    this.#results.add(finished)
    if (this.#parts.sources[finished.place[0]]?.fingerprint === undefined) this.#unkept.push(finished)
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
}

/** A compressed file has some bytes at least: one without is no empty file that was loaded before, it is truncated. */
export const isCutToNothing = ({ name, decodeName = name }: Source, { bytes }: Fingerprint): boolean =>
  bytes === 0 && compressionOfName(decodeName) !== undefined

/** Why a source need not be loaded. @param content of all of its lines, where that is known */
const reasonToSkip = async (
  source: Source,
  fingerprint: Fingerprint,
  content: Content | undefined,
  known: KnownSources,
): Promise<string | undefined> => {
  if (isCutToNothing(source, fingerprint)) return undefined
  return known.reasonToSkip(source, fingerprint, content ? [content] : ['companies', 'relations'])
}

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
