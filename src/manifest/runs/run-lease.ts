/**
 * The lease of an unfinished run: `owner-1.json`, `owner-2.json`, … in its folder, each created exclusively; the
 * highest counts. Taking a lease over is creating the next file, so of two takers exactly one wins.
 */

import { type Failure, failureOf, systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { runPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { seal, unseal } from '../../support/hash.ts'
import { anyText, count, fits, shapeOf } from '../../support/json-form.ts'
import { livenessOf, type ProcessIdentity, thisProcess } from '../../support/process-identity.ts'
import { DAY_MS } from '../../support/quantities.ts'

/** A run and who owned it when it was looked at: nobody has taken it over as long as that is so. */
export interface SeenRun {
  readonly lake: string
  readonly run: string
  /** Number of its owner: each that takes it over has the next one. */
  readonly number: number
  /** Newest snapshot when the run began, 0 for none: its commit can only be a later one. */
  readonly base: number
}

/** The right to work on a run: who holds it is its owner. Its holder may write the run's journal and remove it. */
export type RunLease = SeenRun

/** `unknown`: its process cannot be seen from here (another host or boot) and its folder was modified recently. */
export type RunState = 'live' | 'gone' | 'unknown'

/** When a process that cannot be seen from here counts as gone. */
export interface LivenessRule {
  readonly now: Date
  /**
   * A run of another host counts as gone when nothing in its folder was modified for so long, in milliseconds.
   * @default 86_400_000 (a day: far above the time of any partition)
   */
  readonly remoteIdleMs?: number | undefined
}

/**
 * A run of another boot of this host, or of another host of its name, counts as gone after so long without a change, in
 * milliseconds: six heartbeats, or less where `remoteIdleMs` is.
 */
const OTHER_BOOT_IDLE_MS = 30 * 60_000

interface Owner {
  readonly number: number
  readonly base: number
  /** `null`: released, or its file cannot be read; of a shared run too. */
  readonly process: ProcessIdentity | null
  readonly released: boolean
  /** Whether none owns the run: it counts as gone only when nothing below its folder was modified for a day. */
  readonly shared: boolean
  /** Why it was released, where its work failed. */
  readonly failure?: Failure
}

/** In place of a process: any number of them work on the run, on any machine, and none owns it. */
export const SHARED = 'shared'

export const PLAN_FILE = 'plan.json'
export const OWNER = /^owner-([1-9]\d*)\.json$/
const IDENTITY = shapeOf<ProcessIdentity>({
  ...{ host: anyText, boot: anyText, namespace: anyText, started: anyText },
  pid: count,
})
const FAILURE = shapeOf<Failure>({ code: anyText, message: anyText })

const parseOwner = (number: number, text: Buffer): Owner => {
  const read = unseal(text)
  const fields: Partial<Record<'base' | 'process' | 'failure', unknown>> =
    read.kind === 'damaged' ? {} : read.value
  const process = fits(IDENTITY, fields.process) ? fields.process : null
  const base = typeof fields.base === 'number' ? fields.base : 0
  const failure = fits(FAILURE, fields.failure) ? { failure: fields.failure } : {}
  const released = fields.process === null
  return { number, base, process, released, shared: fields.process === SHARED, ...failure }
}

/** The text of an owner's file; without a process it says that the run is released, and why, where that is known. */
export const ownerText = (
  base: number,
  process: ProcessIdentity | typeof SHARED | null,
  failure?: Failure,
): string => `${seal(JSON.stringify({ base, process, ...(failure && { failure }) }))}\n`
export const ownerName = (number: number): string => `owner-${number}.json`

/** The owner of a run; `null` when there is no such run, number 0 when its folder has lost its owners. */
const readOwner = async (lake: string, run: string): Promise<Owner | null> => {
  const storage = storageOf(lake)
  const entries = await storage.entries(runPath(run))
  if (entries.length === 0) return null
  const number = Math.max(0, ...entries.map(({ name }) => Number(OWNER.exec(name)?.[1] ?? 0)))
  const unreadable = { number, base: 0, process: null, released: false, shared: false }
  // A late worker of a run that was removed may have written there again.
  if (number === 0) return { ...unreadable, released: !entries.some(({ name }) => name === PLAN_FILE) }
  try {
    const text = await storage.read(`${runPath(run)}/${ownerName(number)}`)
    return text ? parseOwner(number, text) : unreadable
  } catch (error) {
    // A bucket that does not answer proves nothing about the owner, nor does a file that may not be opened now.
    if (error instanceof ToolkitError) throw error
    return unreadable
  }
}

/** Heartbeats are changes too: a run whose owner still sends some is not gone, whatever ids say. */
const stateOf = async (
  lake: string,
  run: string,
  owner: Owner,
  { now, remoteIdleMs = DAY_MS }: LivenessRule,
): Promise<RunState> => {
  if (owner.released) return 'gone'
  const liveness = owner.process ? livenessOf(owner.process) : 'unknown'
  if (liveness === 'alive') return 'live'
  if (liveness === 'gone') return 'gone'
  const idleMs = liveness === 'other-boot' ? Math.min(OTHER_BOOT_IDLE_MS, remoteIdleMs) : remoteIdleMs
  const files = await storageOf(lake).list(runPath(run))
  return files.every(({ changedMs }) => now.getTime() - changedMs > idleMs) ? 'gone' : 'unknown'
}

/** Whether a run is at work; `null` when there is no such run. */
export const runState = async (
  lake: string,
  run: string,
  judge: LivenessRule,
): Promise<{ readonly state: RunState; readonly owner: Owner } | null> => {
  const owner = await readOwner(lake, run)
  return owner && { state: await stateOf(lake, run, owner, judge), owner }
}

const notFound = (run: string): ToolkitError =>
  new ToolkitError('RUN_NOT_FOUND', `Cannot take over run "${run}": the lake has no such unfinished run`, {
    run,
  })

/** A run as it stands, whoever owns it. */
export interface StandingRun extends SeenRun {
  /**
   * `open`: any process may work on it, a plan in its folder says that it was not removed. `removed`: something of such a run
   * is left. `none`: one process owns it.
   */
  readonly shared: 'open' | 'removed' | 'none'
}

/** @returns `null` when there is no such run */
export const seeRun = async (lake: string, run: string): Promise<StandingRun | null> => {
  const owner = await readOwner(lake, run)
  if (owner === null) return null
  const { number, base } = owner
  const hasPlan = (await storageOf(lake).stat(`${runPath(run)}/${PLAN_FILE}`)) !== null
  // While a run is removed file by file, its owner may be gone first.
  const mayBeShared = owner.shared || (number === 0 && !hasPlan)
  return { lake, run, number, base, shared: mayBeShared ? (hasPlan ? 'open' : 'removed') : 'none' }
}

export const isSharedRun = async (lake: string, run: string): Promise<boolean> =>
  (await seeRun(lake, run))?.shared === 'open'

const nextOwner = async (
  { lake, run, number, base }: RunLease,
  process: ProcessIdentity | typeof SHARED | null,
  failure?: Failure,
): Promise<RunLease | null> => {
  const storage = storageOf(lake)
  const path = `${runPath(run)}/${ownerName(number + 1)}`
  try {
    if (!(await storage.create(path, ownerText(base, process, failure)))) return null
    // The run may have been removed just before: then nothing but this owner stands there.
    const left = await storage.entries(runPath(run))
    if (left.some(({ name }) => name !== ownerName(number + 1)))
      return { lake, run, number: number + 1, base }
    await storage.remove([path])
  } catch (error) {
    // Removed meanwhile, by gc or by the one who finished it.
    if (error instanceof ToolkitError && systemCode(error.cause) === 'ENOENT') throw notFound(run)
    throw writeError(`Cannot write the owner of run "${run}"`, error)
  }
  throw notFound(run)
}

/**
 * Takes over the lease of a run whose process is gone.
 *
 * @throws {ToolkitError} `RUN_NOT_FOUND`; `RUN_LIVE` when its process runs, may run, or another taker was first
 */
export const leaseRun = async (
  lake: string,
  run: string,
  judge: LivenessRule,
  process: ProcessIdentity = thisProcess(),
): Promise<RunLease> => {
  const found = await runState(lake, run, judge)
  if (!found) throw notFound(run)
  const { state, owner } = found
  const live = (why: string): ToolkitError =>
    new ToolkitError('RUN_LIVE', `Cannot take over run "${run}": ${why}`, { run })
  const who = owner.process ? `process ${owner.process.pid} on "${owner.process.host}"` : 'its owner'
  if (state === 'live') throw live(`${who} is running it`)
  if (state === 'unknown') throw live(`${who} cannot be seen from here and may be running it`)
  const lease = await nextOwner({ lake, run, number: owner.number, base: owner.base }, process)
  if (!lease) throw live('another process was first')
  return lease
}

/**
 * Releases a lease so that any process may take the run over at once. Does nothing when the run is gone or another's.
 *
 * @param error why, where its work failed: `status` and `resume` report it
 */
export const releaseRun = async (lease: RunLease, error?: unknown): Promise<void> => {
  const owner = await readOwner(lease.lake, lease.run)
  if (owner?.number === lease.number)
    await nextOwner(lease, null, error === undefined ? undefined : failureOf(error))
}

/**
 * Keeps commits of a run whose work is done from being made: those that are under way fail, one that many processes may commit
 * can be begun again.
 *
 * @throws as `leaseRun`
 */
export const stopCommits = async (lake: string, run: string, judge: LivenessRule): Promise<void> => {
  const owner = await readOwner(lake, run)
  if (!owner?.shared) await leaseRun(lake, run, judge)
  else await nextOwner({ lake, run, number: owner.number, base: owner.base }, SHARED)
}

/** Says that a run knows a later snapshot than when it began, and releases it. @throws {ToolkitError} `RUN_NOT_FOUND` */
export const rebaseRun = async (lake: string, run: string, base?: number): Promise<void> => {
  const owner = await readOwner(lake, run)
  if (owner === null) throw notFound(run)
  const { number, shared } = owner
  await nextOwner({ lake, run, number, base: base ?? owner.base }, shared ? SHARED : null)
}

/** @throws {ToolkitError} `RUN_NOT_FOUND` when the run is gone, `RUN_LIVE` when another process took it over */
export const assertOwner = async ({ lake, run, number }: SeenRun): Promise<void> => {
  const owner = await readOwner(lake, run)
  if (!owner) throw notFound(run)
  if (owner.number !== number)
    throw new ToolkitError('RUN_LIVE', `Cannot continue run "${run}": another process took it over`, { run })
}
