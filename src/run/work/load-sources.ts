/**
 * The work of a run: sources → blocks → tables. Receives its parts ready made and knows none of them by name. What it
 * finishes is recorded partition by partition, and nothing else is handed on to the commit.
 */

import { NamesOfRun } from '../../commit/names.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import { compressionOfName } from '../../decode/decompress.ts'
import type { JournalEntry, JournalResult } from '../../manifest/runs/journal.ts'
import type { SourceIndex } from '../../manifest/snapshots/source-index.ts'
import { badFile, KnownSources, leftOutFor, readOf } from './known-sources.ts'
import { type LoadedSource, type LoadParts, loadSource, type SourceRun } from './load-source.ts'
import { DonePartitions, type Finished, withFingerprint } from './partition-entry.ts'
import { prefetchNext } from './prefetch.ts'
import { type Progress, type RunEvent, SourceResults } from './progress.ts'
import { LEAST_SHARED, maySmall, readSmall, type SmallSource, SmallSources } from './small-sources.ts'
import { TaskPool } from './task-pool.ts'

export interface LoadSourcesParts extends LoadParts {
  readonly sink: SinkRun
  readonly sources: readonly Source[]
  /** Sources of the lake, by content; `null`: they are loaded all the same. */
  readonly inLake: SourceIndex | null
}

/** Where a worker records what it has finished. */
export interface WorkRecord {
  /** Partitions that earlier attempts have finished, and that are whole. */
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
 * @returns what became of each, and what was read of them
 * @throws {ToolkitError} INTERRUPTED, and whatever the parts throw
 */
export const loadSources = (parts: LoadSourcesParts, options: LoadSourcesOptions): Promise<SourcesLoaded> =>
  new SourceLoader(parts, options).load()

type SourcesLoaded = Pick<JournalResult, 'units' | 'read'>

export const interrupted = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Run "${run}" was interrupted, "firmlake resume" resumes it`, { run })

/** Facts of a source before it is opened. */
interface Identified {
  readonly fingerprint: Fingerprint | undefined
  /** Its partitions, where an earlier attempt of the run has finished them all. */
  readonly whole: readonly Finished[] | undefined
  /** Its error, where bad files are skipped. */
  readonly bad?: ToolkitError
}

interface IdentifiedSource extends Identified {
  readonly source: Source
  readonly index: number
}

/** Sources that are loaded at once: one, or several small ones as one. */
interface Unit extends Omit<IdentifiedSource, 'bad' | 'whole'>, Partial<Pick<Identified, 'whole'>> {
  /** The small sources. @default the source itself */
  readonly members?: readonly Pick<IdentifiedSource, 'source'>[]
}

class SourceLoader {
  readonly #parts: LoadSourcesParts
  readonly #options: LoadSourcesOptions
  readonly #pool: TaskPool
  readonly #names: NamesOfRun
  readonly #known: KnownSources
  readonly #run: SourceRun
  readonly #results = new SourceResults()
  readonly #read: string[] = []
  /** Partitions of a source whose fingerprint is known only at its end. */
  #unkept: Finished[] = []
  #progress: Progress
  /** Sources left out because they hold no records. */
  #unknown = 0
  #storedBytes = 0

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
    const { run, record, attempt, skipBadFiles = false, onEvent } = options
    this.#known = new KnownSources(parts.inLake)
    this.#run = {
      ...{ run, attempt, skipBadFiles, parts, sink: parts.sink, names: this.#names, pool: this.#pool },
      done: new DonePartitions(run, record.finished),
      keep: ({ partition, layers, unknownItems }) => record.keep({ partition, layers, unknownItems }),
      onFinished: (finished, decodedBytes) => this.#finish(finished, decodedBytes),
      onRead: (bytes) => this.#tell({ bytesRead: this.#progress.bytesRead + bytes }),
      onContent: (source, found) => onEvent?.({ kind: 'source', source, content: found }),
    }
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

  async load(): Promise<SourcesLoaded> {
    try {
      for await (const unit of this.#units()) await this.#load(unit)
      await this.#pool.waitForSuccess()
      return { units: this.#results.inOrder(this.#parts.sources), read: this.#read }
    } finally {
      // Whatever happened, nothing may still be reading or writing when the run is released.
      await this.#pool.waitForEnd()
    }
  }

  /** All sources with what is known of them, the next one identified ahead; each is done when the next is asked for. */
  async *#identified(): AsyncGenerator<IdentifiedSource, void> {
    const { signal } = this.#options
    const identify = (source: Source, index: number, stop: AbortSignal): Promise<Identified> =>
      identifySource(source, index, this.#run, stop)
    for await (const { item: source, index, result } of prefetchNext(this.#parts.sources, identify, signal)) {
      const unknown = this.#unknown
      this.#read.push(...readOf(source, result.fingerprint, result.bad))
      yield { source, index, ...result }
      if (this.#unknown === unknown) this.#storedBytes += source.sizeBytes ?? 0
      this.#tell({
        sourcesDone: index + 1 - this.#unknown,
        bytesRead: Math.max(this.#progress.bytesRead, this.#storedBytes),
      })
    }
  }

  /**
   * The units to be loaded, small sources together. They wait until no more of their kind follows: what is loaded later is the
   * later version.
   */
  async *#units(): AsyncGenerator<Unit, void> {
    const waiting = new SmallSources()
    for await (const found of this.#identified()) {
      const { source, index, bad } = found
      if (source.excluded !== undefined) {
        await this.#leaveOut(source, index, source.excluded)
        continue
      }
      if (source.notice !== undefined)
        this.#options.onEvent?.({ kind: 'notice', source: source.name, text: source.notice })
      const held = await reasonToSkip(found, this.#known)
      if (held !== undefined) {
        await this.#skip(source, index, held)
        continue
      }
      const small = bad ? undefined : await this.#readSmall(found)
      if (small === undefined || !waiting.fits(small)) yield* waiting.take()
      if (bad) await this.#leaveBadOut(source, index, bad)
      else if (small) waiting.add(small)
      else yield found
    }
    yield* waiting.take()
  }

  /** A small source with all of its lines; `undefined` for others. */
  async #readSmall({
    source,
    index,
    fingerprint,
    whole,
  }: IdentifiedSource): Promise<SmallSource | undefined> {
    const { sources, decode } = this.#parts
    if (fingerprint === undefined || whole || sources.length < LEAST_SHARED || !maySmall(source))
      return undefined
    this.#pool.throwIfStopped()
    const read = await readSmall(source, decode)
    if (read === undefined) return undefined
    this.#known.add(source, fingerprint, read.content)
    this.#run.onContent(source.name, read.content)
    return { ...read, index, source, fingerprint }
  }

  async #load({ source, index, fingerprint, whole, members }: Unit): Promise<void> {
    if (whole && fingerprint) return this.#takeWhole(source, fingerprint, whole)
    if (!fingerprint) await this.#pool.waitForSuccess()
    this.#unkept = []
    const loaded = await loadSource(source, index, fingerprint, this.#run)
    if ('excluded' in loaded) return this.#leaveOut(source, index, loaded.excluded)
    if ('bad' in loaded) return this.#leaveBadOut(source, index, loaded.bad)
    if (fingerprint === undefined) {
      const held = await this.#known.reasonToSkip(source, loaded.fingerprint, [loaded.content])
      if (held !== undefined) return this.#skip(source, index, held)
      await this.#keepWithFingerprint(loaded)
    }
    // Small ones are known since they were read.
    if (members === undefined) this.#known.add(source, loaded.fingerprint, loaded.content)
    for (const { source: member } of members ?? [{ source }])
      if (member.release) this.#pool.afterSuccess(loaded.jobs, member.release)
  }

  /** Takes over what an earlier attempt has loaded. */
  async #takeWhole(source: Source, fingerprint: Fingerprint, whole: readonly Finished[]): Promise<void> {
    this.#pool.throwIfStopped()
    for (const finished of whole) this.#finish(this.#names.bound(finished), 0)
    const [first] = whole
    if (first) this.#known.add(source, fingerprint, first.partition.content)
    await source.release?.()
  }

  /** Records what was loaded of a source whose fingerprint is known only now. */
  async #keepWithFingerprint({ fingerprint }: LoadedSource): Promise<void> {
    for (const one of this.#unkept)
      await this.#run.keep({ ...one, partition: withFingerprint(one.partition, fingerprint) })
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
    const excluded = leftOutFor(source, bad)
    this.#results.leaveOut(index, excluded)
    this.#options.onEvent?.({ kind: 'left-out', ...excluded })
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

/** Why a source need not be loaded. */
const reasonToSkip = async (
  { source, fingerprint, whole }: IdentifiedSource,
  known: KnownSources,
): Promise<string | undefined> => {
  if (fingerprint === undefined || isCutToNothing(source, fingerprint)) return undefined
  const content = whole?.[0]?.partition.content ?? source.content
  return known.reasonToSkip(source, fingerprint, content ? [content] : ['companies', 'relations'])
}

/** Identifies a source; gives its error where bad files are skipped. */
const identifySource = async (
  source: Source,
  index: number,
  { done, skipBadFiles }: SourceRun,
  signal: AbortSignal,
): Promise<Identified> => {
  try {
    // With a key there is no need to fetch what was loaded already, only to see that it was.
    const before = source.key === undefined ? undefined : wholeOf(source, undefined, index, done)
    const [first] = before ?? []
    if (first) {
      const { bytes, sha256 } = first.partition.source
      return { fingerprint: { bytes, sha256 }, whole: before }
    }
    const fingerprint = await source.fingerprint?.(signal)
    return { fingerprint, whole: fingerprint && wholeOf(source, fingerprint, index, done) }
  } catch (error) {
    const bad = skipBadFiles ? badFile(source, error) : undefined
    if (bad === undefined) throw error
    return { fingerprint: undefined, whole: undefined, bad }
  }
}

const wholeOf = (
  source: Source,
  fingerprint: Fingerprint | undefined,
  index: number,
  done: DonePartitions,
): readonly Finished[] | undefined => done.wholeSource(done.origin(source, fingerprint, index), index)
