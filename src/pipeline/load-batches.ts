/**
 * The main job: sources → blocks → tables → one commit. Receives its parts ready made and knows none of them
 * by name. A run that is stopped at any point goes on at its last finished partition.
 */

import type { Content } from '../contract/objects.ts'
import type { Block } from '../core/block.ts'
import { ToolkitError } from '../core/errors.ts'
import type { PartitionEntry, Snapshot } from '../core/partition.ts'
import type { Sink } from '../core/sink.ts'
import type { Fingerprint, Source } from '../core/source.ts'
import { checkBlock, emptyPart, rejectedLine } from '../load/check-block.ts'
import type { RecordChecker } from '../load/check-record.ts'
import { detectContent } from '../load/detect-content.ts'
import type { Loader } from '../load/loader.ts'
import { commitRun } from '../manifest/commit.ts'
import { openJournal, readJournal } from '../manifest/journal.ts'
import { loadedSources } from '../manifest/loaded-sources.ts'
import { type RunClaim, releaseRun } from '../manifest/run-claims.ts'
import { removeRun } from '../manifest/runs.ts'
import { newestSnapshot } from '../manifest/snapshots.ts'
import type { RandomBytes } from '../support/run-ids.ts'
import { hashWhileReading } from './hashed-source.ts'
import { KnownSources } from './known-sources.ts'
import {
  byPlace,
  type Finished,
  lineAt,
  type PartOrigin,
  partitionEntry,
  partitionId,
  withFingerprint,
} from './partition-entry.ts'
import type { Progress, RunEvent } from './progress.ts'
import { type QuarantineLimit, withinLimit } from './quarantine-limit.ts'

export interface BatchParts {
  readonly sources: readonly Source[]
  /** Stored bytes of a source as blocks; `onRead` is told how many stored bytes were taken. */
  readonly decode: (source: Source, onRead: (bytes: number) => void) => AsyncIterable<Block>
  readonly checker: (content: Content) => RecordChecker
  readonly loader: Loader
  readonly sink: Sink
}

export interface BatchOptions {
  /** The run to work on, made or taken over by the caller. Released here when it cannot finish. */
  readonly claim: RunClaim
  readonly pipeline: string
  readonly tool: string
  /** Content of all sources; detected for each when absent. */
  readonly content?: Content | undefined
  readonly limit: QuarantineLimit
  /** Loads sources that the lake holds already. @default false */
  readonly again?: boolean | undefined
  /** Leaves a source out of the commit when none of its lines could be loaded. @default false */
  readonly dropEmpty?: boolean | undefined
  /** Partitions loaded side by side. @default 2 */
  readonly sideBySide?: number | undefined
  readonly now: () => Date
  readonly random: RandomBytes
  readonly signal?: AbortSignal | undefined
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

export interface BatchSummary {
  readonly run: string
  /** The snapshot that shows the run; absent when there was nothing to commit. */
  readonly snapshot: Snapshot | undefined
  readonly partitions: readonly PartitionEntry[]
  readonly skipped: readonly { readonly source: string; readonly reason: string }[]
}

/** Records a finished partition so that a resumed run need not repeat it. */
type Keep = (partition: PartitionEntry) => Promise<void>

const NO_RECORDS_FOUND = 'it lies in the folder but holds neither companies nor relations'

/**
 * Loads all sources and commits them at once.
 *
 * @throws {ToolkitError} QUARANTINE_LIMIT (the run stays and can be resumed with a higher limit), INTERRUPTED,
 *   and whatever the parts throw; nothing of the run is then visible
 */
export const loadBatches = async (parts: BatchParts, options: BatchOptions): Promise<BatchSummary> => {
  const run = new BatchRun(parts, options)
  try {
    const summary = await run.work()
    await removeRun(options.claim)
    return summary
  } catch (error) {
    await releaseRun(options.claim).catch(() => undefined)
    throw options.signal?.aborted && !(error instanceof ToolkitError) ? interrupted(options.claim.run) : error
  }
}

const interrupted = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Run "${run}" was stopped, "firmlake resume" goes on with it`, { run })

/**
 * An empty source has no content to tell, and it does not matter; a file that only lies in the folder named is
 * left out. @throws {ToolkitError} CONTENT_UNKNOWN for a source that was named itself
 */
const contentOfNothing = (source: Source, block: Block): Content | undefined => {
  if (block.bytes.length === 0 && block.overlong.length === 0) return 'companies'
  if (source.found) return undefined
  throw new ToolkitError(
    'CONTENT_UNKNOWN',
    `Cannot tell whether "${source.name}" holds companies or relations: its first lines are neither, give --content`,
    { source: source.name },
  )
}

class BatchRun {
  readonly #parts: BatchParts
  readonly #options: BatchOptions
  readonly #finished: Finished[] = []
  readonly #skipped: { source: string; reason: string }[] = []
  readonly #working = new Set<Promise<void>>()
  readonly #failures: unknown[] = []
  #progress: Progress

  constructor(parts: BatchParts, options: BatchOptions) {
    this.#parts = parts
    this.#options = options
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

  async work(): Promise<BatchSummary> {
    const { claim, onEvent } = this.#options
    const { sources, sink } = this.#parts
    const done = new Map(
      (await readJournal(claim.lake, claim.run)).map((entry) => [entry.partition.id, entry.partition]),
    )
    onEvent?.({ kind: 'started', run: claim.run, resumed: claim.number > 1, finished: done.size })
    await sink.open(claim.run)
    const newest = await newestSnapshot(claim.lake)
    const known = new KnownSources(this.#options.again ? new Set() : loadedSources(newest))
    const journal = await openJournal(claim)
    const keep: Keep = (partition) => journal.append({ partition, moves: [] })
    let storedBytes = 0
    try {
      for (const [index, source] of sources.entries()) {
        await this.#source(source, index, known, done, keep)
        storedBytes += source.sizeBytes ?? 0
        this.#tell({ sourcesDone: index + 1, bytesRead: Math.max(this.#progress.bytesRead, storedBytes) })
      }
    } finally {
      // Whatever happened, nobody may still be writing when the run is given up.
      await Promise.all(this.#working)
      await journal.close()
    }
    this.#throwIfStopped()
    return await this.#commit()
  }

  async #source(
    source: Source,
    index: number,
    known: KnownSources,
    done: ReadonlyMap<string, PartitionEntry>,
    keep: Keep,
  ): Promise<void> {
    const { signal, onEvent } = this.#options
    const wanted = this.#options.content ?? source.content
    const fingerprint = await source.fingerprint?.(signal)
    const skip = (reason: string): void => {
      this.#skipped.push({ source: source.name, reason })
      onEvent?.({ kind: 'skipped', source: source.name, reason })
    }
    if (fingerprint) {
      const held = known.reasonToSkip(fingerprint, wanted ? [wanted] : ['companies', 'relations'])
      if (held !== undefined) return skip(held)
    }

    if (!fingerprint) await this.#idle()
    const before = this.#finished.length
    const read = await this.#blocks(source, index, fingerprint, done, keep)
    if (read === undefined) return skip(NO_RECORDS_FOUND)
    if (fingerprint === undefined) {
      const held = known.reasonToSkip(read.fingerprint, [read.content])
      if (held !== undefined) {
        this.#finished.length = before
        return skip(held)
      }
      for (const [at, finished] of this.#finished.entries()) {
        if (at < before) continue
        const partition = withFingerprint(finished.partition, read.fingerprint)
        this.#finished[at] = { ...finished, partition }
        await keep(partition)
      }
    }
    known.add(read.fingerprint, read.content, source.name)
  }

  /** Loads a source block by block: the next is decoded while DuckDB works on those before. */
  async #blocks(
    source: Source,
    index: number,
    known: Fingerprint | undefined,
    done: ReadonlyMap<string, PartitionEntry>,
    keep: Keep,
  ): Promise<{ content: Content; fingerprint: Fingerprint } | undefined> {
    const { onEvent } = this.#options
    const hashed = hashWhileReading(source)
    const blocks = this.#parts.decode(known ? source : hashed.source, (bytes) =>
      this.#tell({ bytesRead: this.#progress.bytesRead + bytes }),
    )
    const iterator = blocks[Symbol.asyncIterator]()
    try {
      let next = settled(iterator.next())
      let content = this.#options.content ?? source.content
      let checker: RecordChecker | undefined
      for (let number = 0; ; number++) {
        const step = (await next)()
        if (step.done && number > 0) break
        const block = step.done ? NO_LINES : step.value
        next = step.done ? next : settled(iterator.next())
        if (content === undefined || checker === undefined) {
          content ??= detectContent(block, source.name) ?? contentOfNothing(source, block)
          if (content === undefined) return undefined
          checker = this.#parts.checker(content)
          onEvent?.({ kind: 'source', source: source.name, content })
        }
        const checked = checkBlock(block, checker)
        const upcoming = next
        const isLast = async (): Promise<boolean> => step.done === true || (await upcoming)().done === true
        await this.#room()
        const origin = { run: this.#options.claim.run, source, fingerprint: known, content, block, checked }
        this.#start(this.#block(origin, [index, number], isLast, done, known ? keep : undefined))
        if (step.done) break
      }
      // What can be read only once gets its fingerprint when all of it is loaded; else the next source may begin.
      if (known) this.#throwIfStopped()
      else await this.#idle()
      return {
        content: content ?? 'companies',
        fingerprint: known ?? hashed.fingerprint(),
      }
    } catch (error) {
      this.#failures.push(error)
      await this.#idle()
      throw error
    } finally {
      await iterator.return?.()
    }
  }

  async #block(
    origin: Omit<PartOrigin, 'last'>,
    [index, number]: readonly [source: number, block: number],
    isLast: () => Promise<boolean>,
    done: ReadonlyMap<string, PartitionEntry>,
    keep: Keep | undefined,
  ): Promise<void> {
    const { loader, sink } = this.#parts
    const { source, fingerprint, content, block, checked } = origin
    const parts = checked.parts.length > 0 ? checked.parts : [emptyPart()]
    for (const [layer, part] of parts.entries()) {
      const place = [index, number, layer] as const
      const partition = partitionId(fingerprint, place)
      const before = done.get(partition)
      if (before) {
        this.#finish({ place, partition: before }, block)
        continue
      }
      const loaded = await loader.load(
        {
          partition,
          content,
          bytes: block.bytes,
          part,
          rejected: layer === 0 ? checked.rejected : [],
          source: source.name,
          reject: ([from, to], code, reason) =>
            rejectedLine(block, lineAt(block, from), from, to - 1, code, reason),
        },
        sink,
      )
      const finished = {
        place,
        partition: partitionEntry({ ...origin, last: await isLast() }, place, part, loaded),
      }
      await keep?.(finished.partition)
      this.#finish(finished, block)
    }
    block.release?.()
  }

  #finish(finished: Finished, block: Block): void {
    this.#finished.push(finished)
    const { counts } = finished.partition
    this.#tell({
      decodedBytes: this.#progress.decodedBytes + (finished.place[2] === 0 ? block.bytes.length : 0),
      records: this.#progress.records + counts.records,
      quarantined: this.#progress.quarantined + counts.quarantined,
      rows: this.#progress.rows + Object.values(counts.rows).reduce((a, b) => a + b, 0),
    })
  }

  #start(work: Promise<void>): void {
    const tracked: Promise<void> = work
      .catch((error: unknown) => {
        this.#failures.push(error)
      })
      .finally(() => this.#working.delete(tracked))
    this.#working.add(tracked)
  }

  /** Waits until another partition may start. @throws the first failure, or INTERRUPTED */
  async #room(): Promise<void> {
    while (this.#working.size >= (this.#options.sideBySide ?? 2)) await Promise.race(this.#working)
    this.#throwIfStopped()
  }

  async #idle(): Promise<void> {
    await Promise.all(this.#working)
    this.#throwIfStopped()
  }

  #throwIfStopped(): void {
    if (this.#failures.length > 0) throw this.#failures[0]
    if (this.#options.signal?.aborted) throw interrupted(this.#options.claim.run)
  }

  #tell(change: Partial<Progress>): void {
    this.#progress = { ...this.#progress, ...change }
    this.#options.onEvent?.({ kind: 'progress', progress: this.#progress })
  }

  #worthKeeping(partitions: readonly PartitionEntry[]): readonly PartitionEntry[] {
    if (!this.#options.dropEmpty) return partitions
    const loaded = new Set(
      partitions.flatMap(({ source, counts }) => (counts.records > 0 ? [source.sha256] : [])),
    )
    return partitions.filter(({ source }) => loaded.has(source.sha256))
  }

  async #commit(): Promise<BatchSummary> {
    const { claim, limit, onEvent, pipeline, tool, now, random, signal } = this.#options
    const { sink, loader } = this.#parts
    const partitions = this.#worthKeeping(this.#finished.sort(byPlace).map(({ partition }) => partition))
    const lines = partitions.reduce((sum, { counts }) => sum + counts.lines, 0)
    const quarantined = partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0)
    if (!withinLimit(limit, quarantined, lines)) {
      throw new ToolkitError(
        'QUARANTINE_LIMIT',
        `Cannot commit run "${claim.run}": ${quarantined} of ${lines} lines are bad, more than --max-quarantined allows; ` +
          `see "firmlake quarantine list --lake ${claim.lake} --run ${claim.run}"`,
        { run: claim.run, quarantined, lines },
      )
    }
    if (partitions.length === 0)
      return { run: claim.run, snapshot: undefined, partitions, skipped: this.#skipped }
    onEvent?.({ kind: 'committing', partitions: partitions.length })
    const dictionary = await loader.loadLineItems('line_items', sink)
    await sink.commit([...partitions.flatMap(({ files }) => files), ...dictionary.files])
    const outcome = await commitRun({
      claim,
      pipeline,
      tool,
      partitions,
      runFiles: dictionary.files,
      moves: [],
      again: this.#options.again ?? false,
      now,
      random,
      signal,
    })
    const dropped = new Set(outcome.dropped.map(({ id }) => id))
    for (const name of new Set(outcome.dropped.map(({ source }) => source.name))) {
      this.#skipped.push({ source: name, reason: 'another run loaded it meanwhile' })
    }
    return {
      run: claim.run,
      snapshot: outcome.kind === 'nothing' ? undefined : outcome.snapshot,
      partitions: partitions.filter(({ id }) => !dropped.has(id)),
      skipped: this.#skipped,
    }
  }
}

const NO_LINES: Block = { bytes: Buffer.alloc(0), firstLine: 1, offset: 0, overlong: [] }

/** A promise whose failure waits until it is asked for, so that a read ahead never fails unheard. */
const settled = <T>(promise: Promise<T>): Promise<() => T> =>
  promise.then(
    (value) => () => value,
    (error: unknown) => () => {
      throw error
    },
  )
