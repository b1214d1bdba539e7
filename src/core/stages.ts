/**
 * What a run is at work on, for whoever listens: telemetry, lineage. The stages know no listener; without one nothing is
 * made and nothing is measured.
 */

import { AsyncLocalStorage } from 'node:async_hooks'
import type { Content } from '../contract/objects.ts'
import type { PartitionEntry, SnapshotHead } from './partition.ts'

/** What a run has made visible. */
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

/** What a stage has done: each says what it knows. */
export interface StageOutcome {
  /** Of a source, where it has records. */
  readonly content?: Content
  /** Decoded of a block; written to files of a table. */
  readonly bytes?: number
  readonly rows?: number
  readonly records?: number
  readonly quarantined?: number
  readonly filtered?: number
  readonly committed?: CommittedWork
}

/** Hears of the end of a stage: what it has done, or what it failed with. */
export type StageEnd = (outcome: StageOutcome, error: unknown) => void

/** Hears of a stage when it begins, with the one that it is part of. */
export type StageListener = (stage: Stage, parent: Stage | undefined) => StageEnd | undefined

const listeners = new Set<StageListener>()
const current = new AsyncLocalStorage<Stage>()

/** @returns what stops listening */
export const listenToStages = (listener: StageListener): (() => void) => {
  listeners.add(listener)
  return () => listeners.delete(listener)
}

/** The work does not hear of what its listeners throw. */
const unheard = <T>(call: () => T): T | undefined => {
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
  const ends = [...listeners].map((listener) => unheard(() => listener(stage, parent)))
  const end = (outcome: StageOutcome, error?: unknown): void => {
    for (const one of ends) unheard(() => one?.(outcome, error))
  }
  try {
    const result = await current.run(stage, work)
    end(unheard(() => outcomeOf(result)) ?? {})
    return result
  } catch (error) {
    end({}, error)
    throw error
  }
}
