/** The end of a run: its work is committed, once; whoever comes later finds it in the lake. */

import type { CommitSummary } from '../commit/commit-summary.ts'
import { type CommitWorkOptions, commitWork } from '../commit/commit-work.ts'
import type { StagedRun } from '../commit/staged-files.ts'
import type { PartitionEntry, PullEntry } from '../core/partition.ts'
import { inStage } from '../core/stages.ts'
import { type LakeFilesAhead, refreshLakeFiles } from '../manifest/lake-file/lake-file.ts'
import { type AllWork, loadedPartitions } from '../manifest/runs/journal-lines.ts'
import type { SeenRun } from '../manifest/runs/run-lease.ts'
import type { NotDelivered, PullFacts } from './opened-job.ts'
import { pipelineOf, planOf, type RunPlan } from './run-plan.ts'
import { type ToolOptions, type WorkPlace, withTools } from './run-tools.ts'
import type { RunEvent } from './work/progress.ts'

export interface CommitOptions extends Omit<CommitWorkOptions, 'onCommitting' | 'listings'> {
  /** Whether its workers have put their files in place already. @default false */
  readonly isPlaced?: boolean
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

export interface LoadSummary extends CommitSummary {
  /** An earlier call had committed the run before it was stopped, with these pulls: nothing was loaded again. */
  readonly already?: { readonly pulls: readonly PullEntry[] }
  /** Pulls and syncs that did not get all that there is; absent where all came. */
  readonly missing?: readonly NotDelivered[]
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
}

/** The records that did not come, where some did not. */
export const missingOf = (facts: readonly (PullFacts | undefined)[]): Pick<LoadSummary, 'missing'> => {
  const missing = facts.flatMap((one) => one?.missing ?? [])
  return missing.length > 0 ? { missing } : {}
}

/** The partitions that count: a source may have been loaded in part before it changed. */
export const loadedIn = ({ sources, entries }: AllWork): readonly PartitionEntry[] => {
  const counted = loadedPartitions({ sources })
  return entries.flatMap(({ partition }) => (counted.has(partition.id) ? [partition] : []))
}

/** Commits what a run has loaded, by its plan. @param facts of the pulls among its jobs @throws {ToolkitError} as `commitWork` */
export const commitLoaded = async (
  tools: Pick<StagedRun, 'loader' | 'sink'>,
  seen: SeenRun,
  loaded: AllWork,
  facts: readonly (PullFacts | undefined)[],
  { isPlaced = false, onEvent, ...options }: CommitOptions,
): Promise<LoadSummary> => {
  const { lake, run, number } = seen
  const plan = await planOf(lake, run)
  const pipeline = pipelineOf(plan)
  const work = { ...loaded, pulls: facts.flatMap((one) => one?.entry ?? []) }
  const listings = facts.flatMap((one) => one?.listing ?? [])
  const summary = await inStage(
    { stage: 'commit', lake, run, pipeline, attempt: number },
    async () => {
      const onCommitting = (partitions: number): void => onEvent?.({ kind: 'committing', partitions })
      const done = { seen, plan: { ...plan, pipeline }, work, isPlaced }
      return commitWork(tools, done, { ...options, listings, onCommitting })
    },
    ({ snapshot, partitions }) => ({ committed: { snapshot, partitions } }),
  )
  return { ...summary, ...missingOf(facts) }
}

/**
 * Commits a run whose work is done, whoever has done it: its sources may be gone.
 *
 * @param plan with `take` where only a process may commit that could load, with the key of the run
 * @param factsOf of its jobs, by its partitions
 * @throws {ToolkitError} as `commitWork`
 */
export const commitDone = async (
  { scratch, ...seen }: SeenRun & Pick<WorkPlace, 'scratch'>,
  plan: Pick<RunPlan, 'limits' | 'take'>,
  work: AllWork,
  factsOf: (own: readonly PartitionEntry[]) => readonly (PullFacts | undefined)[],
  options: CommitOptions & ToolOptions,
): Promise<LoadSummary> => {
  const { lake, run } = seen
  const facts = factsOf(loadedIn(work))
  const summary = await withTools({ run, scratch }, plan, options, (tools) =>
    commitLoaded(tools, seen, work, facts, options),
  )
  return withViews(lake, summary)
}

/** Writes the views of a lake after a run, whose tools are closed by then: both take much memory. @param ahead where they were begun */
export const withViews = async (
  lake: string,
  summary: LoadSummary,
  ahead?: LakeFilesAhead,
): Promise<LoadSummary> => {
  const noViews = await refreshLakeFiles(lake, ahead)
  return { ...summary, ...(noViews !== undefined && { noViews }) }
}
