/**
 * `forget`: companies and persons erased from a lake, in one call. New files are written, one snapshot shows them, then all that is
 * older is removed.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { commitForget } from '../commit/commit-forget.ts'
import { versionsWithout } from '../commit/record-versions.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import { inStage } from '../core/stages.ts'
import { cleanName } from '../forget/clean-entries.ts'
import {
  finishDeadForgets,
  finishForget,
  listPublications,
  publicationText,
} from '../forget/finish-forget.ts'
import { type ForgetInLakeOptions, type ForgetSummary, notReached } from '../forget/forget-summary.ts'
import type { ForgetWork } from '../forget/forget-work.ts'
import { type Found, foundOf, lookThrough, planForget } from '../forget/plan-forget.ts'
import {
  type HeldLoad,
  letRelease,
  noteHeld,
  readHeldLoad,
  stopRelease,
  withHeld,
  withoutHeld,
} from '../forget/rewrite-held.ts'
import { type Rewritten, rewriteLake } from '../forget/rewrite-lake.ts'
import { BATCHES_FOLDER, inLake, RUNS_FOLDER, runPath, SERVE_FOLDER } from '../lake/files/layout.ts'
import { nextRefusals } from '../manifest/form/forgotten.ts'
import { listMade } from '../manifest/gc/lake-files.ts'
import { refreshLakeFiles } from '../manifest/lake-file/lake-file.ts'
import { listRunIds, listRuns } from '../manifest/runs/runs.ts'
import { cleanDiscarded } from '../manifest/snapshots/discarded.ts'
import { listSnapshots, newestRoot, newestSnapshot } from '../manifest/snapshots/snapshots.ts'
import type { Read } from '../options/entry.ts'
import { FORGET } from '../options/forget.ts'
import type { ForgetOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { failedRewrite } from '../run/rewriting-session.ts'
import { watchedSink } from '../run/run-tools.ts'
import { type RunScope, withRun } from '../run/with-run.ts'
import { parquetLake } from '../sink/parquet-lake.ts'
import { makeFolder, removeIfThere } from '../support/durable-files.ts'
import { exactId } from '../support/exact-numbers.ts'
import { listBusy } from '../support/list-files.ts'
import { TOOL } from '../support/own-package.ts'
import { holdBackAgain } from './resume.ts'

/** Each refusal has a mark in every snapshot. */
const MOST_IDS = 10_000

const checked = ({ companies = [], persons = [], nationalIds = [] }: ForgetOptions): void => {
  const ids = companies.length + persons.length + nationalIds.length
  if (ids >= 1 && ids <= MOST_IDS) return
  const text =
    ids === 0
      ? 'without ids: expected companies, persons or national ids'
      : `${ids} ids: expected at most ${MOST_IDS} in one call`
  throw new ToolkitError('USAGE', `Cannot forget ${text}`)
}

/** Whether the lake is already as a forget leaves it. */
const isForgotten = async (
  { lake, later }: ForgetInLakeOptions,
  { ids }: ForgetWork,
  snapshot: Snapshot,
  { listed, written, files }: Rewritten,
  load: HeldLoad | undefined,
): Promise<boolean> => {
  if (written.length + files.length > 0) return false
  // The run of this forget is there, and that of the load that is held back.
  const runs = (await listRunIds(lake)).filter((run) => run !== load?.held.run)
  if ((await listSnapshots(lake)).length > 1 || runs.length > 1) return false
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
  { snapshot, load }: { readonly snapshot: Snapshot; readonly load: HeldLoad | undefined },
  completed: readonly number[],
): Promise<Found & { readonly made: number | null }> => {
  const { lake, nationalIds, later } = options
  const scratch = inLake(lake, `${runPath(run.run)}/scratch`)
  await makeFolder(scratch, { within: inLake(lake, '') })
  const sink = watchedSink(run.run, await parquetLake({ lake }).open(run.run))
  return lookThrough(options, withHeld(snapshot, load), scratch, async (work, unresolved) => {
    const all = await rewriteLake(work, nationalIds, sink)
    options.signal?.throwIfAborted()
    const rewritten = withoutHeld(all, load)
    const { listed, written, names } = rewritten
    const found = await foundOf(work, rewritten, unresolved, completed)
    if (await isForgotten(options, work, snapshot, rewritten, load)) return { ...found, made: null }
    await noteHeld(work, run.run, load, all)
    await cleanDiscarded(lake, (name) => cleanName(name, all.identifiers))
    const { companies, persons, files, recordsStripped, linesCleared } = found
    const root = await inStage(
      { stage: 'commit', lake, run: run.run, pipeline: 'forget', attempt: run.number },
      () =>
        commitForget({
          ...{ lease: run, tool: TOOL, base: snapshot, listed, written, names },
          ids: work.ids,
          versions: (before, writer) =>
            versionsWithout({ lake, session: work.session }, [...work.ids.companies], {
              ...{ before, writer },
              files: listed.files,
            }),
          receipt: { companies, persons, files, recordsStripped, linesCleared, later },
          ...{ now: () => new Date(), random: randomBytes },
        }),
      (head) => ({ committed: { snapshot: head, partitions: [] } }),
    )
    return { ...found, made: root.snapshot }
  })
}

const NOTHING = { snapshots: [], runs: [], made: [], published: [] } as const

/**
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `RUN_LIVE` while other runs are at work, `IDS_UNKNOWN`, `COMMIT_CONFLICT`,
 *   `LAKE_DAMAGED`, `FORGET_IMPOSSIBLE`, `DISK_FULL`, `WRITE_FAILED`: the lake is as it was then, or the same call completes it
 */
const forgetInLake = async (options: ForgetInLakeOptions): Promise<ForgetSummary> => {
  const { lake, dryRun, later, catalog } = options
  // A folder that is no lake must not become one.
  const first = await newestSnapshot(lake)
  if (first === null)
    throw new ToolkitError('SNAPSHOT_NOT_FOUND', `Cannot forget in lake "${lake}": it has no snapshot yet`, {
      lake,
    })
  if (dryRun) return planForget(options, first)
  const completed = await finishDeadForgets(options, holdBackAgain)
  const published = await listPublications(options)
  const plan = {
    jobs: [{ kind: 'forget', published: published.map(publicationText) }],
    again: false,
    limits: {},
  } as const
  return withRun({ lake, plan, fresh: true }, async (run) => {
    const load = await readHeldLoad(lake)
    try {
      await refuseBusy(lake, [run.run, ...(load ? [load.held.run] : [])])
      await stopRelease(lake, load)
      const newest = await newestSnapshot(lake)
      const snapshot = newest ?? first
      const made = (await listMade(lake)).map(({ path }) => path)
      const { made: number, ...found } = await commitIn(options, run, { snapshot, load }, completed)
      const always = { ...found, completed, later, notReached: notReached(lake, catalog !== undefined) }
      if (number === null) {
        // A forget before may have had no room for it.
        const noViews = await refreshLakeFiles(lake)
        const views = noViews === undefined ? {} : { noViews }
        await letRelease(lake, load)
        return { kind: 'nothing', snapshot: snapshot.snapshot, ...always, ...NOTHING, ...views }
      }
      run.keep()
      await removeIfThere(join(inLake(lake, runPath(run.run)), 'scratch'))
      const forget = { run: run.run, snapshot: number }
      const { garbage, noViews, held } = await finishForget(options, forget, published, holdBackAgain)
      return {
        kind: 'forgotten',
        snapshot: number,
        ...always,
        snapshots: garbage.snapshots,
        runs: [...garbage.runs, ...(held === 'removed' && load ? [load.held.run] : [])],
        ...(held && { held }),
        made,
        published: published.map(publicationText),
        ...(noViews !== undefined && { noViews }),
      }
    } catch (error) {
      if ((await newestRoot(lake))?.run !== run.run) await letRelease(lake, load).catch(() => undefined)
      throw await failedRewrite(run, `Cannot forget in lake "${lake}"`, error)
    }
  })
}

/** Folders where unfinished work of other processes may stand. */
const busyPlaces = async (lake: string): Promise<readonly string[]> => {
  const busy: string[] = []
  for (const folder of [RUNS_FOLDER, SERVE_FOLDER, BATCHES_FOLDER])
    for (const name of await listBusy(inLake(lake, folder))) busy.push(`${folder}/${name}`)
  return busy
}

/** @throws {ToolkitError} `RUN_LIVE`, naming the runs that are at work */
const refuseBusy = async (lake: string, own: readonly string[]): Promise<void> => {
  const runs = (await listRuns(lake, { now: new Date() })).filter(
    ({ run, state }) => !own.includes(run) && state !== 'gone',
  )
  const busy = [
    ...runs.map(({ run }) => `run "${run}"`),
    ...(await busyPlaces(lake)).map((one) => `"${one}"`),
  ]
  if (busy.length === 0) return
  throw new ToolkitError(
    'RUN_LIVE',
    `Cannot forget in lake "${lake}": ${busy.join(', ')} may be at work and hold what is to go; expected none, wait for it, or cancel a shared run`,
    { lake },
  )
}

/**
 * Erases companies and persons from a lake: from its tables with their history, the quarantine, publications, serving
 * indexes and batch files. Files that held something of theirs are written again, and older snapshots are gone. Killed at
 * any moment, the same call completes it.
 *
 * @returns what was found and removed, without personal data, and what was not reached
 * @throws {ToolkitError} `USAGE`, `LAKE_NOT_FOUND`, `SNAPSHOT_NOT_FOUND`, `RUN_LIVE` while other runs are at work,
 *   `IDS_UNKNOWN`, `COMMIT_CONFLICT`, `LAKE_DAMAGED`, `FORGET_IMPOSSIBLE`, `DISK_FULL`, `WRITE_FAILED`, `INTERRUPTED`
 * @example
 * import { convert, forget } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot, later } = await forget({ lake: './lake', companies: [1] })
 * console.log(snapshot, later) // 2 refused
 */
export const forget: (options: ForgetOptions) => Promise<ForgetSummary> = job(
  'forget',
  FORGET,
  async (options: Read<ForgetOptions, typeof FORGET>) => {
    checked(options)
    const { companies = [], persons = [], nationalIds = [], allowLater = false, dryRun = false } = options
    return forgetInLake({
      ...options,
      ids: { companies: new Set(companies.map(exactId)), persons: new Set(persons.map(exactId)) },
      nationalIds,
      later: allowLater ? 'allowed' : 'refused',
      dryRun,
    })
  },
  'The forget',
)
