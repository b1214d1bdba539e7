/**
 * Whether a run that was committed, but not removed, is what the same command is about: of a call that was killed behind its
 * snapshot nothing is loaded again. Anything else is new work.
 */

import type { Source } from '../core/source.ts'
import { readJournal } from '../manifest/runs/journal.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import { newestNumber, readRoot } from '../manifest/snapshots/snapshots.ts'
import type { RunPlan } from './run-plan.ts'
import { badFile, readOf } from './work/known-sources.ts'

/** Milliseconds after its commit in which the same command reports that run; later it asks a service for what is new. */
const SAME_WORK_MS = 12 * 3_600_000

/** Whether the lake does not keep a run of the plan from loading once more what it has. */
const loadsAnew = ({ again, jobs }: RunPlan): boolean => again || jobs.some(({ kind }) => kind === 'pull')

/** A source whose bytes are compared; it is released then, and stopped in the end. */
type ComparedSource = Pick<Source, 'kind' | 'excluded' | 'fingerprint' | 'release' | 'stop'>

/** The sources of a plan as they are now. */
export interface SourcesNow {
  /** Sources that are known by their bytes. @param run has a folder for what has to be fetched @default none */
  readonly sources?: ((run: Pick<RunLease, 'lake' | 'run'>) => Promise<readonly ComparedSource[]>) | undefined
  readonly signal?: AbortSignal | undefined
}

/** @param before what the run has read */
type Compare = (
  before: readonly string[],
  sources: readonly ComparedSource[],
  signal: AbortSignal | undefined,
) => Promise<boolean>

interface CommittedRun extends Pick<RunLease, 'lake' | 'run'> {
  /** The snapshot that shows it. */
  readonly committed: number
}

/** Whether the plan of a committed run may still be about it, as far as the lake shows: nothing was committed since. */
export const isOfNewest = async (
  { lake, committed }: Pick<CommittedRun, 'lake' | 'committed'>,
  plan: RunPlan,
  now: Date,
): Promise<boolean> => {
  if (!loadsAnew(plan) || (await newestNumber(lake)) !== committed) return false
  const { time } = await readRoot(lake, committed)
  return now.getTime() - Date.parse(time) < SAME_WORK_MS
}

/**
 * Whether the work of a committed run is what its plan asks for now: its sources are what they were, wherever they stand. Only
 * their bytes tell.
 */
export const isSameWork = async (
  { lake, run, committed }: CommittedRun,
  plan: RunPlan,
  now: Date,
  { sources = async () => [], signal }: SourcesNow,
): Promise<boolean> => {
  if (!(await isOfNewest({ lake, committed }, plan, now))) return false
  const { result } = await readJournal(lake, run).catch(() => ({ result: undefined }))
  if (result === undefined) return false
  const opened = await sources({ lake, run }).catch(() => undefined)
  if (opened === undefined) return false
  try {
    return await (plan.again ? isSameList : isWithin)(result.read, opened, signal)
  } finally {
    await Promise.allSettled(opened.map((source) => source.stop?.()))
  }
}

/** Equal to nothing that was read before: a new run says what is wrong with such a source. */
const NOT_READ = ['']

const readNow = async (
  source: ComparedSource,
  signal: AbortSignal | undefined,
): Promise<readonly string[]> => {
  try {
    return readOf(source, await source.fingerprint?.(signal), undefined)
  } catch (error) {
    signal?.throwIfAborted()
    const bad = badFile(source, error)
    return bad ? readOf(source, undefined, bad) : NOT_READ
  } finally {
    await source.release?.()
  }
}

/** Sources to be compared that are loaded afterwards. */
export const toBeLoaded = (sources: readonly Source[]): readonly ComparedSource[] =>
  sources.map((source) => ({
    ...{ kind: source.kind, ...(source.excluded !== undefined && { excluded: source.excluded }) },
    ...(source.fingerprint && { fingerprint: source.fingerprint.bind(source) }),
  }))

/** With `--again` the order of sources counts, too: what is loaded later is the later version. */
const isSameList: Compare = async (before, sources, signal) => {
  let at = 0
  for (const source of sources)
    for (const read of await readNow(source, signal)) if (before[at++] !== read) return false
  return at === before.length
}

/** Sources that the lake holds need not be named again. */
export const isWithin: Compare = async (before, sources, signal) => {
  const known = new Set(before)
  for (const source of sources)
    for (const read of await readNow(source, signal)) if (!known.has(read)) return false
  return true
}
