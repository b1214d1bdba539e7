/**
 * Brings what earlier releases wrote to the newest form. What stood there is kept until the next commit. Readers see the
 * lake as it was or as it is then; one that was killed is finished by the next, or taken back.
 */

import { randomBytes } from 'node:crypto'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { commitUpgrade } from '../../manifest/commit-upgrade.ts'
import { refreshLakeFile } from '../../manifest/lake-file.ts'
import {
  newestNumber,
  newestRoot,
  readFormat,
  readSnapshotHash,
  TAKING_BACK,
} from '../../manifest/snapshots.ts'
import {
  type NumberedState,
  readUpgrade,
  takeUpgrade,
  type UpgradeState,
  writePhase,
} from '../../manifest/upgrade-state.ts'
import { TOOL } from '../../support/tool-version.ts'
import type { UpgradeJob } from '../run/run-plan.ts'
import { type RunScope, withRun } from '../run/with-run.ts'
import { publish } from '../targets/publish.ts'
import type { PublishSessionOptions } from '../targets/publish-session.ts'
import { keepBefore } from './before-image.ts'
import { earlierFormats, findEarlier, hashPublished, hashRates, type UpgradeChange } from './find-earlier.ts'

/** Options of `upgrade`. */
export interface UpgradeOptions extends Omit<PublishSessionOptions, 'now'> {
  /** Changes nothing and reports what would be changed. @default false */
  readonly dryRun?: boolean | undefined
}

/** What an upgrade has changed. */
export interface UpgradeSummary {
  /** `nothing`: all stands in the forms of this release, or the lake has no snapshot yet. */
  readonly kind: 'upgraded' | 'nothing'
  /** The newest snapshot now; 0 for a lake without one. */
  readonly snapshot: number
  readonly changes: readonly UpgradeChange[]
  /** Why the lake has no `lake.duckdb` of its newest snapshot; absent where it has one, or is in a bucket. */
  readonly noViews?: string
}

export const UPGRADE_RUN: { readonly jobs: readonly [UpgradeJob]; again: false; limits: object } = {
  jobs: [{ kind: 'upgrade' }],
  again: false,
  limits: {},
}

/** What an upgrade before has left, where that can still be finished or taken back. */
const standing = async (lake: string): Promise<NumberedState | null> => {
  const state = await readUpgrade(lake)
  const newest = await newestRoot(lake)
  if (state === null || newest === null) return null
  if (newest.pipeline === TAKING_BACK || state.phase === 'back' || state.phase === 'restored')
    throw new ToolkitError(
      'RUN_NOT_RESUMABLE',
      `Cannot upgrade lake "${lake}": an upgrade is being taken back; run "firmlake upgrade --back" to its end first`,
      { lake },
    )
  return newest.snapshot === state.from.snapshot || state.runs.includes(newest.run) ? state : null
}

const begin = async ({ lake, run }: RunScope): Promise<NumberedState> => {
  const judge = { now: new Date() }
  const before = await standing(lake)
  if (before !== null) return takeUpgrade(lake, run, before, before, judge)
  const stale = await readUpgrade(lake)
  const newest = await newestRoot(lake)
  const number = newest?.snapshot ?? 0
  const from = {
    snapshot: number,
    format: await readFormat(lake, number),
    sha256: await readSnapshotHash(lake, number),
  }
  const state: UpgradeState = { phase: 'saving', runs: [], tool: TOOL, from, files: [] }
  // In place of what is of no use any more, never after removing it: another may have begun meanwhile.
  return takeUpgrade(lake, run, stale, state, judge)
}

const work = async (scope: RunScope, options: UpgradeOptions): Promise<string | undefined> => {
  const { lake, signal } = options
  let state = await begin(scope)
  // A snapshot may be made whose record is not: whoever comes next finds the run.
  scope.keep()
  if (state.phase === 'saving')
    state = await writePhase(lake, state, { phase: 'changing', files: await keepBefore(lake) })
  signal?.throwIfAborted()
  await hashRates(lake)
  await commitUpgrade({ lease: scope, tool: TOOL, now: () => new Date(), random: randomBytes, signal })
  await hashPublished(lake)
  const formats = await earlierFormats(options)
  if (formats.length > 0) await publish({ ...options, formats, rows: ['all'] })
  const noViews = await refreshLakeFile(lake, { ofThisRelease: true })
  await writePhase(lake, state, { phase: 'done' })
  return noViews
}

const upgraded = async (options: UpgradeOptions): Promise<UpgradeSummary> => {
  const { lake, dryRun = false } = options
  const newest = await newestRoot(lake)
  if (newest === null) return { kind: 'nothing', snapshot: 0, changes: [] }
  const { snapshot } = newest
  const left = await standing(lake)
  const changes = await findEarlier(options, snapshot)
  if (changes.length === 0 && (left === null || left.phase === 'done'))
    return { kind: 'nothing', snapshot, changes }
  if (dryRun) return { kind: 'upgraded', snapshot, changes }
  const noViews = await withRun({ lake, plan: UPGRADE_RUN }, (scope) => work(scope, options))
  return {
    ...{ kind: 'upgraded', snapshot: await newestNumber(lake), changes },
    ...(noViews !== undefined && { noViews }),
  }
}

/**
 * Brings a lake to the newest format. Given again after a crash it goes on.
 *
 * @throws {ToolkitError} `LAKE_NOT_FOUND`, `LAKE_NEWER`, `SNAPSHOT_DAMAGED`, `LAKE_DAMAGED`, `PUBLISH_CONFLICT`, `RUN_LIVE`
 *   when another process upgrades it, `DISK_FULL`, `WRITE_FAILED`, `STORAGE_REFUSED`, `STORAGE_FAILED`
 */
export const upgradeLake = async (options: UpgradeOptions): Promise<UpgradeSummary> => {
  try {
    return await upgraded(options)
  } catch (error) {
    throw systemCode(error) === undefined ? error : writeError(`Cannot upgrade lake "${options.lake}"`, error)
  }
}
