/** A job of a run, ready to be loaded. */

import type { PartialListing, WholeListing } from '../commit/find-gone.ts'
import { ToolkitError } from '../core/errors.ts'
import type { PullEntry } from '../core/partition.ts'
import type { Source } from '../core/source.ts'
import type { JobOfRun } from '../manifest/runs/run-files.ts'
import type { RunScope } from './with-run.ts'

/** What a job is opened for: its run, and its place among the jobs of it. */
export type JobScope = RunScope & JobOfRun

/** Companies that a listing has, of which fewer came when they were asked for by their ids. */
export interface NotDelivered {
  readonly asked: number
  readonly came: number
}

/** Both numbers, where they differ. */
export const notDelivered = (asked: number, came: number): NotDelivered | undefined =>
  came < asked ? { asked, came } : undefined

export interface OpenedJob {
  readonly sources: readonly Source[]
  /** Asked for when all sources are loaded: what was pulled. A pull is committed also when nothing came. */
  readonly pulls?: () => readonly PullEntry[]
  /** Asked for when all sources are loaded: whether all companies of a search came; absent of what is no search. */
  readonly listing?: () => WholeListing | PartialListing | undefined
  /** Asked for when all sources are loaded: what a sync found, and did not get. It is committed without. */
  readonly notDelivered?: () => NotDelivered | undefined
}

/** Why a run cannot be resumed. */
export const notResumable = (run: string, state: string): ToolkitError =>
  new ToolkitError(
    'RUN_NOT_RESUMABLE',
    `Cannot resume run "${run}": ${state}; "firmlake gc" removes what it left`,
    { run },
  )
