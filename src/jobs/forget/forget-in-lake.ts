/**
 * Forgets companies and persons: their rows are gone from every file of a lake, and so is every snapshot from before. First
 * new files are written, then one snapshot shows them, then all that is older goes; killed anywhere, the same command
 * completes it.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { commitForget } from '../../commit/commit-forget.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import { inStage } from '../../core/stages.ts'
import { inLake, runPath } from '../../lake/files/layout.ts'
import { type LeftInFile, nextRefusals } from '../../manifest/form/forgotten.ts'
import { listRunIds } from '../../manifest/runs/runs.ts'
import { refreshLakeFile } from '../../manifest/snapshots/lake-file.ts'
import { listSnapshots, newestRoot, newestSnapshot } from '../../manifest/snapshots/snapshots.ts'
import { listMade } from '../../manifest/verify/lake-files.ts'
import { failedRewrite } from '../../run/rewriting-session.ts'
import { watchedSink } from '../../run/run-tools.ts'
import { type RunScope, withRun } from '../../run/with-run.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { discard, makeFolder } from '../../support/durable-files.ts'
import { TOOL } from '../../support/tool-version.ts'
import { finishDeadForgets, finishForget, listPublications, publicationText } from './finish-forget.ts'
import { type ForgetInLakeOptions, type ForgetSummary, notReached } from './forget-summary.ts'
import type { ForgetWork } from './forget-work.ts'
import { type Found, foundOf, lookThrough } from './look-through.ts'
import { planForget } from './plan-forget.ts'
import { refuseBusy } from './refuse-busy.ts'
import { type Rewritten, rewriteLake } from './rewrite-lake.ts'

/** Whether the lake is already as a forget leaves it. */
const isForgotten = async (
  { lake, later }: ForgetInLakeOptions,
  { snapshot, ids }: ForgetWork,
  { listed, written, files }: Rewritten,
): Promise<boolean> => {
  if (written.length + files.length > 0) return false
  // Its own run is there.
  if ((await listSnapshots(lake)).length > 1 || (await listRunIds(lake)).length > 1) return false
  const { partitions, files: runFiles, pulls = [], merged = [] } = snapshot
  const refusals = (await newestRoot(lake))?.refusals
  return (
    isDeepStrictEqual(listed, { partitions, files: runFiles, pulls, merged }) &&
    isDeepStrictEqual(nextRefusals(refusals, ids, later, randomBytes), refusals)
  )
}

/** @returns what was found, and the snapshot that was made; `null` where there was nothing to do */
const commitIn = async (
  options: ForgetInLakeOptions,
  run: RunScope,
  snapshot: Snapshot,
  completed: readonly number[],
): Promise<Found & { readonly made: number | null }> => {
  const { lake, nationalIds, later } = options
  const scratch = inLake(lake, `${runPath(run.run)}/scratch`)
  await makeFolder(scratch, { within: inLake(lake, '') })
  const sink = watchedSink(run.run, await parquetLake({ lake }).open(run.run))
  return lookThrough(options, snapshot, scratch, async (work, unresolved) => {
    const rewritten = await rewriteLake(work, nationalIds, sink)
    options.signal?.throwIfAborted()
    const { listed, written, names } = rewritten
    const found = await foundOf(work, rewritten, unresolved, completed)
    if (await isForgotten(options, work, rewritten)) return { ...found, made: null }
    const { companies, persons, files, linesCleared, left } = found
    const root = await inStage(
      { stage: 'commit', lake, run: run.run, pipeline: 'forget', attempt: run.number },
      () =>
        commitForget({
          ...{ lease: run, tool: TOOL, base: snapshot, listed, written, names },
          ids: work.ids,
          receipt: { companies, persons, files, linesCleared, ...(left.length > 0 && { left }), later },
          ...{ now: () => new Date(), random: randomBytes },
        }),
      (head) => ({ committed: { snapshot: head, partitions: [] } }),
    )
    return { ...found, made: root.snapshot }
  })
}

/** What forgets have left that were interrupted before they could say so. */
const leftBy = async (lake: string, completed: readonly number[]): Promise<readonly LeftInFile[]> =>
  completed.length === 0
    ? []
    : ((await newestRoot(lake))?.forgotten ?? []).flatMap(({ snapshot, left = [] }) =>
        completed.includes(snapshot) ? left : [],
      )

const NOTHING = { snapshots: [], runs: [], made: [], published: [] } as const

/**
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `RUN_LIVE` while other runs are at work, `IDS_UNKNOWN`, `COMMIT_CONFLICT`,
 *   `LAKE_DAMAGED`, `FORGET_IMPOSSIBLE`, `DISK_FULL`, `WRITE_FAILED`: the lake is as it was then, or the same call completes it
 */
export const forgetInLake = async (options: ForgetInLakeOptions): Promise<ForgetSummary> => {
  const { lake, dryRun, later, catalog } = options
  // A folder that is no lake must not become one.
  const first = await newestSnapshot(lake)
  if (first === null)
    throw new ToolkitError('SNAPSHOT_NOT_FOUND', `Cannot forget in lake "${lake}": it has no snapshot yet`, {
      lake,
    })
  if (dryRun) return planForget(options, first)
  const completed = await finishDeadForgets(options)
  const published = await listPublications(options)
  const plan = {
    jobs: [{ kind: 'forget', published: published.map(publicationText) }],
    again: false,
    limits: {},
  } as const
  return withRun({ lake, plan, fresh: true }, async (run) => {
    try {
      await refuseBusy(lake, run.run)
      const newest = await newestSnapshot(lake)
      const snapshot = newest ?? first
      const made = (await listMade(lake)).map(({ path }) => path)
      const { made: number, ...found } = await commitIn(options, run, snapshot, completed)
      const left = [...(await leftBy(lake, completed)), ...found.left]
      const always = { ...found, left, completed, later, notReached: notReached(lake, catalog !== undefined) }
      if (number === null) {
        // One before may have had no room for it.
        const noViews = await refreshLakeFile(lake)
        const views = noViews === undefined ? {} : { noViews }
        return { kind: 'nothing', snapshot: snapshot.snapshot, ...always, ...NOTHING, ...views }
      }
      run.keep()
      await discard(join(inLake(lake, runPath(run.run)), 'scratch'))
      const { garbage, noViews } = await finishForget(options, number, published)
      return {
        kind: 'forgotten',
        snapshot: number,
        ...always,
        snapshots: garbage.snapshots,
        runs: garbage.runs,
        made,
        published: published.map(publicationText),
        ...(noViews !== undefined && { noViews }),
      }
    } catch (error) {
      throw await failedRewrite(run, `Cannot forget in lake "${lake}"`, error)
    }
  })
}
