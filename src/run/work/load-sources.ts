/**
 * The work of a run: sources → blocks → tables. Receives its parts ready made and knows none of them by name. What it
 * finishes is recorded partition by partition, and nothing else is handed on to the commit.
 */

import { createHash } from 'node:crypto'
import { NamesOfRun } from '../../commit/names.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { SinkRun } from '../../core/sink.ts'
import type { Fingerprint, Source } from '../../core/source.ts'
import type { JournalEntry } from '../../manifest/runs/journal-lines.ts'
import type { SourceIndex } from '../../manifest/snapshots/source-index.ts'
import { identified } from './identify-sources.ts'
import { KnownSources } from './known-sources.ts'
import { finish, type LoadParts, loadSource, type SourceRun } from './load-source.ts'
import { DonePartitions, type Finished, type WholeSource } from './partition-entry.ts'
import { type RunEvent, WorkProgress } from './progress.ts'
import { toBeLoaded } from './skip-sources.ts'
import { MIN_SHARED, type SourceToLoad, smallTogether } from './small-sources.ts'
import { followed, type SourceOutcome, SourceResults, type SourcesLoaded, settle } from './source-results.ts'
import { TaskPool } from './task-pool.ts'

export interface LoadSourcesParts extends LoadParts {
  readonly sink: SinkRun
  readonly sources: readonly Source[]
  /** Sources of the lake, by content; `null`: they are loaded all the same. */
  readonly inLake: SourceIndex | null
}

/** The journal in which a worker records what it has finished. */
export interface WorkRecord {
  /** Partitions that earlier attempts have finished, and that are whole. */
  readonly finished: readonly JournalEntry[]
  /** The source is recorded when the promise is fulfilled. */
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
export const loadSources = async (
  parts: LoadSourcesParts,
  options: LoadSourcesOptions,
): Promise<SourcesLoaded> => {
  const { sources } = parts
  const run = openRun(parts, options)
  const { pool, results } = run
  try {
    const all = followed(identified(sources, run, options.signal), run)
    const needed = toBeLoaded(all, run)
    const together = sources.length < MIN_SHARED ? needed : smallTogether(needed, run)
    for await (const one of together) {
      const outcome = await load(one, run)
      await settle(one, outcome, run)
    }
    await pool.waitForSuccess()
    return results.of(sources)
  } finally {
    // Whatever happened, nothing may still be reading or writing when the run is released.
    await pool.waitForEnd()
  }
}

const interrupted = (run: string): ToolkitError =>
  new ToolkitError('INTERRUPTED', `Run "${run}" was interrupted, "firmlake resume" resumes it`, { run })

/** The error of a run that one process owns: any but a named one may come from its signal. */
export const interruptedOr = (error: unknown, run: string, signal: AbortSignal | undefined): unknown =>
  signal?.aborted && !(error instanceof ToolkitError) ? interrupted(run) : error

const openRun = (parts: LoadSourcesParts, options: LoadSourcesOptions): SourceRun => {
  const { run, record, attempt, skipBadFiles = false, maxUnknownNames, signal, onEvent } = options
  const pool = new TaskPool(options.sideBySide ?? 2, () => (signal?.aborted ? interrupted(run) : undefined))
  return {
    ...{ run, attempt, skipBadFiles, parts, pool, onEvent, sink: parts.sink },
    done: new DonePartitions(run, record.finished),
    known: new KnownSources(parts.inLake),
    names: new NamesOfRun({ maxUnknownNames, listAllItems: parts.sink.stagedRows === undefined }),
    results: new SourceResults(),
    progress: new WorkProgress(parts.sources, onEvent),
    keep: ({ partition, layers, unknownItems }) => record.keep({ partition, layers, unknownItems }),
  }
}

/** Loads a source, where that is still to be done. */
const load = async (one: SourceToLoad, run: SourceRun): Promise<SourceOutcome> => {
  const { source, index, fingerprint, whole, bad } = one
  if (bad) return { kind: 'left-out', error: bad }
  if (whole) return takeWhole(source, whole, run)
  if (fingerprint === undefined) return loadOnce(source, index, run)
  const outcome = await loadSource(source, index, fingerprint, run)
  if (outcome.kind === 'loaded') run.known.add(source, fingerprint, outcome.content)
  return outcome
}

/** Takes over what an earlier attempt has loaded. */
const takeWhole = (source: Source, whole: WholeSource, run: SourceRun): SourceOutcome => {
  const { content, fingerprint, partitions } = whole
  run.pool.throwIfStopped()
  for (const finished of partitions) finish(run.names.bound(finished), 0, run)
  run.known.add(source, fingerprint, content)
  return { kind: 'loaded', content, jobs: [] }
}

/** @returns the source, and length and hash of what was read of it */
const hashWhileReading = (source: Source): readonly [Source, () => Fingerprint] => {
  const hash = createHash('sha256')
  let bytes = 0
  const open: Source['open'] = async function* (signal) {
    for await (const chunk of source.open(signal)) {
      hash.update(chunk)
      bytes += chunk.length
      yield chunk
    }
  }
  return [{ ...source, open }, () => ({ bytes, sha256: hash.copy().digest('hex') })]
}

/** Loads a source that can be read only once. It is known by its bytes when all of it is loaded: only then its partitions are recorded. */
const loadOnce = async (source: Source, index: number, run: SourceRun): Promise<SourceOutcome> => {
  const { pool, known } = run
  await pool.waitForSuccess()
  const [hashed, fingerprintOf] = hashWhileReading(source)
  const unkept: Finished[] = []
  const keep = async (finished: Finished): Promise<void> => void unkept.push(finished)
  const outcome = await loadSource(hashed, index, undefined, { ...run, keep })
  if (outcome.kind !== 'loaded') return outcome
  await pool.waitForSuccess()
  const fingerprint = fingerprintOf()
  const reason = await known.reasonToSkip(source, fingerprint, [outcome.content])
  if (reason !== undefined) return { kind: 'skipped', reason }
  for (const { partition, ...one } of unkept)
    await run.keep({ ...one, partition: { ...partition, source: { ...partition.source, ...fingerprint } } })
  known.add(source, fingerprint, outcome.content)
  return outcome
}
