/**
 * Stages of runs as events for telemetry and lineage. The stages know no listener; without one nothing is made and nothing
 * is measured.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Content } from '../contract/objects.ts'
import type { PartitionEntry, SnapshotHead } from './partition.ts'

/** The commit of a run. */
export interface CommittedWork {
  /** Absent where there was nothing to commit. */
  readonly snapshot: SnapshotHead | undefined
  readonly partitions: readonly PartitionEntry[]
}

/** An attempt at a run, from its lease to its end. */
export interface RunStage {
  readonly stage: 'run'
  readonly run: string
  readonly lake: string
  readonly pipeline: string
  /** From 1; a resumed run has the next one. */
  readonly attempt: number
}

export type Stage =
  /** The whole of a program, such as a night. */
  | { readonly stage: 'program' }
  | RunStage
  | { readonly stage: 'source'; readonly run: string; readonly source: string }
  /** The next block of a source. */
  | { readonly stage: 'decode'; readonly run: string; readonly source: string }
  | { readonly stage: 'load'; readonly run: string; readonly partition: string; readonly content: Content }
  | { readonly stage: 'sink'; readonly run: string; readonly partition: string; readonly table: string }
  | (Omit<RunStage, 'stage'> & { readonly stage: 'commit' })

/** The outcome of a stage: each sets the fields that it knows. */
export interface StageOutcome {
  /** Content of a source, where it has records. */
  readonly content?: Content
  /** Decoded of a block; written to files of a table. */
  readonly bytes?: number
  readonly rows?: number
  readonly records?: number
  readonly quarantined?: number
  readonly filtered?: number
  readonly committed?: CommittedWork
}

/** Called when a stage ends, with its outcome or its error. */
export type StageEnd = (outcome: StageOutcome, error: unknown) => void

/** Called when a stage begins, with the stage that it is part of. */
export type StageListener = (stage: Stage, parent: Stage | undefined) => StageEnd | undefined

const listeners = new Set<StageListener>()
const current = new AsyncLocalStorage<Stage>()

/** @returns what stops listening */
export const listenToStages = (listener: StageListener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** Errors of listeners never reach the work. */
const ignoringErrors = <T>(call: () => T): T | undefined => {
  try {
    return call()
  } catch {
    return undefined
  }
}

/** Does the work of a stage. @param outcomeOf what is said of it, asked for only where somebody listens */
export const inStage = async <T>(
  stage: Stage,
  work: () => Promise<T>,
  outcomeOf: (result: T) => StageOutcome = () => ({}),
): Promise<T> => {
  if (listeners.size === 0) return work()
  const parent = current.getStore()
  const ends = [...listeners].map((listener) => ignoringErrors(() => listener(stage, parent)))
  const end = (outcome: StageOutcome, error?: unknown): void => {
    for (const one of ends) ignoringErrors(() => one?.(outcome, error))
  }
  try {
    const result = await current.run(stage, work)
    end(ignoringErrors(() => outcomeOf(result)) ?? {})
    return result
  } catch (error) {
    end({}, error)
    throw error
  }
}
