/**
 * Forgets companies and persons: their rows are gone from every file of a lake, and so is every snapshot from before. First
 * new files are written, then one snapshot shows them, then all that is older goes; killed anywhere, the same command
 * completes it.
 */

import { randomBytes } from 'node:crypto'
import { join } from 'node:path'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import type { Snapshot } from '../../core/partition.ts'
import { inStage } from '../../core/stages.ts'
import { engineError } from '../../lake/duckdb/engine.ts'
import { defaultLocalBytes } from '../../lake/lake/files-in-turn.ts'
import { BATCHES_FOLDER, inLake, RUNS_FOLDER, runPath, SERVE_FOLDER } from '../../lake/lake/layout.ts'
import { commitForget } from '../../manifest/commit-forget.ts'
import type { ForgetReceipt, ForgottenIds } from '../../manifest/forgotten.ts'
import { withCommits } from '../../manifest/lake-facts.ts'
import { listMade } from '../../manifest/lake-files.ts'
import { listRuns } from '../../manifest/runs.ts'
import { listSnapshots, newestSnapshot } from '../../manifest/snapshots.ts'
import { parquetLake } from '../../sink/parquet-lake.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { discard, makeFolder } from '../../support/durable-files.ts'
import { listFolder } from '../../support/list-files.ts'
import { temporaryLiveness, temporaryName } from '../../support/process-identity.ts'
import { TOOL } from '../../support/tool-version.ts'
import { watchedSink } from '../run/run-tools.ts'
import { undoRewrite } from '../run/undo-rewrite.ts'
import { type RunScope, withRun } from '../run/with-run.ts'
import {
  type FinishOptions,
  finishDeadForgets,
  finishForget,
  listPublications,
  publicationText,
} from './finish-forget.ts'
import { COMPANY_IDS, ENTITY_IDS, type ForgetWork, makeIdTable, withForgetWork } from './forget-work.ts'
import { resolveIds } from './resolve-ids.ts'
import { type Rewritten, rewriteLake } from './rewrite-lake.ts'

export interface ForgetInLakeOptions extends FinishOptions {
  readonly ids: ForgottenIds
  readonly nationalIds: readonly string[]
  readonly country?: string | undefined
  readonly later: ForgetReceipt['later']
  readonly dryRun: boolean
}

/** What a forget has done, or would do. */
export interface ForgetSummary {
  readonly kind: 'forgotten' | 'planned'
  /** The snapshot that was made; of a plan the one it is about. */
  readonly snapshot: number
  /** Ids that were asked for, those found by national ids among them. */
  readonly companies: number
  readonly persons: number
  /** National ids that the lake does not know. */
  readonly unresolved: number
  /** Files that held something of theirs, and rows that were removed or written again, by kind. */
  readonly files: ForgetReceipt['files']
  /** Quarantined lines that could not be read as records: their text was removed. */
  readonly linesCleared: number
  /** Numbers of snapshots that are gone. */
  readonly snapshots: readonly number[]
  /** Interrupted runs that were removed: they might have held something. */
  readonly runs: readonly string[]
  /** Serving indexes and batch files that are gone, until they are made again. */
  readonly made: readonly string[]
  /** What was published anew: `delta all`, `iceberg current`, … */
  readonly published: readonly string[]
  readonly later: ForgetReceipt['later']
  /** What may hold something of theirs and was not reached. */
  readonly notReached: readonly string[]
  /** Why `lake.duckdb` was not written; absent where it was, or the lake is in a bucket. */
  readonly noViews?: string
}

const notReached = (lake: string, catalog: boolean): readonly string[] => [
  'databases, files and folders that it was delivered or exported to',
  'copies of the lake, and backups of its disk',
  'processes that have read it before, a running "firmlake serve" too, until they end',
  'work folders of other machines',
  ...(catalog ? [] : ['tables in an Iceberg REST catalog, unless it is named']),
  ...(storageOf(lake).isRemote ? ['earlier versions of objects, where the bucket keeps them'] : []),
]

/** Folders where unfinished work of other processes may stand. */
const busyPlaces = async (lake: string): Promise<readonly string[]> => {
  const busy: string[] = []
  for (const folder of [RUNS_FOLDER, SERVE_FOLDER, BATCHES_FOLDER])
    for (const { name } of await listFolder(inLake(lake, folder))) {
      const liveness = temporaryLiveness(name)
      if (liveness === 'alive' || liveness === 'unknown') busy.push(`${folder}/${name}`)
    }
  return busy
}

/** @throws {ToolkitError} `RUN_LIVE`, naming the runs that are at work */
const refuseBusy = async (lake: string, own: string): Promise<void> => {
  const runs = (await listRuns(lake, { now: new Date() })).filter(
    ({ run, state }) => run !== own && state !== 'gone',
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

/** Looks up national ids and then uses all ids. */
const withIds = async <T>(
  work: ForgetWork,
  { nationalIds, country }: ForgetInLakeOptions,
  use: (work: ForgetWork, unresolved: number) => Promise<T>,
): Promise<T> => {
  const { ids, unresolved } = await resolveIds(work, nationalIds, country)
  await makeIdTable(work.session, COMPANY_IDS, ids.companies)
  await makeIdTable(work.session, ENTITY_IDS, [...ids.companies, ...ids.persons])
  const isEntity = (id: bigint): boolean => ids.companies.has(id) || ids.persons.has(id)
  return use({ ...work, ids, isEntity }, unresolved)
}

type Found = Pick<ForgetSummary, 'companies' | 'persons' | 'unresolved' | 'files' | 'linesCleared'>

const foundOf = ({ ids }: ForgetWork, { files, linesCleared }: Rewritten, unresolved: number): Found => ({
  companies: ids.companies.size,
  persons: ids.persons.size,
  ...{ unresolved, files, linesCleared },
})

const workOptions = (options: ForgetInLakeOptions, snapshot: Snapshot, scratch: string) => {
  const { lake, ids, memoryBytes, threads, signal, localBytes = defaultLocalBytes(lake) } = options
  return { lake, ids, memoryBytes, threads, signal, localBytes, snapshot, scratch }
}

const planForget = async (options: ForgetInLakeOptions, snapshot: Snapshot): Promise<ForgetSummary> => {
  const { lake, nationalIds, catalog } = options
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  const dead = (await listRuns(lake, { now: new Date() })).filter(({ state }) => state === 'gone')
  try {
    const found = await withForgetWork(workOptions(options, snapshot, scratch), (work) =>
      withIds(work, options, async (known, unresolved) =>
        foundOf(known, await rewriteLake(known, nationalIds), unresolved),
      ),
    )
    return {
      kind: 'planned',
      snapshot: snapshot.snapshot,
      ...found,
      snapshots: await listSnapshots(lake),
      runs: dead.map(({ run }) => run),
      made: (await listMade(lake)).map(({ path }) => path),
      published: (await listPublications(options)).map(publicationText),
      later: options.later,
      notReached: notReached(lake, catalog !== undefined),
    }
  } finally {
    await discard(scratch)
  }
}

const commitIn = async (
  options: ForgetInLakeOptions,
  run: RunScope,
  snapshot: Snapshot,
): Promise<Found & { readonly snapshot: number }> => {
  const { lake, nationalIds, later } = options
  const scratch = inLake(lake, `${runPath(run.run)}/scratch`)
  await makeFolder(scratch, { within: inLake(lake, '') })
  const sink = watchedSink(run.run, await parquetLake({ lake }).open(run.run))
  return withForgetWork(workOptions(options, snapshot, scratch), (opened) =>
    withIds(opened, options, async (work, unresolved) => {
      const rewritten = await rewriteLake(work, nationalIds, sink)
      options.signal?.throwIfAborted()
      const { listed, written } = rewritten
      const found = foundOf(work, rewritten, unresolved)
      const { companies, persons, files, linesCleared } = found
      const root = await inStage(
        { stage: 'commit', lake, run: run.run, pipeline: 'forget', attempt: run.number },
        () =>
          commitForget({
            ...{ lease: run, tool: TOOL, base: snapshot, listed, written, ids: work.ids },
            receipt: { companies, persons, files, linesCleared, later },
            ...{ now: () => new Date(), random: randomBytes },
          }),
        (head) => ({ committed: { snapshot: head, partitions: [] } }),
      )
      return { ...found, snapshot: root.snapshot }
    }),
  )
}

/**
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `RUN_LIVE` while other runs are at work, `COMMIT_CONFLICT`, `LAKE_DAMAGED`,
 *   `FORGET_IMPOSSIBLE`, `DISK_FULL`, `WRITE_FAILED`: the lake is as it was then, or the same call completes it
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
  await finishDeadForgets(options)
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
      const snapshot = await withCommits(lake, newest ?? first)
      const made = (await listMade(lake)).map(({ path }) => path)
      const { snapshot: number, ...found } = await commitIn(options, run, snapshot)
      run.keep()
      await discard(join(inLake(lake, runPath(run.run)), 'scratch'))
      const { garbage, noViews } = await finishForget(options, number, published)
      return {
        kind: 'forgotten',
        snapshot: number,
        ...found,
        snapshots: garbage.snapshots,
        runs: garbage.runs,
        made,
        published: published.map(publicationText),
        later,
        notReached: notReached(lake, catalog !== undefined),
        ...(noViews !== undefined && { noViews }),
      }
    } catch (error) {
      if (!(await undoRewrite(run, error))) run.keep()
      const action = `Cannot forget in lake "${lake}"`
      throw systemCode(error) === undefined ? engineError(action, error) : writeError(action, error)
    }
  })
}
