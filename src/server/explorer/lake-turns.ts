/**
 * A lake that is asked in turns: one work at a time, within a time limit, over the snapshot that is current when its turn comes, in
 * an engine of its own that is opened with the first work. An engine whose statement does not obey is left, and another one opened.
 */

import { ToolkitError } from '../../core/errors.ts'
import { interruptOn, LeftBehind, orLeftBehind } from '../../lake/duckdb/stoppable.ts'
import { type LakeQuery, type LakeQueryOptions, openLakeQuery } from '../../lake/query/lake-query.ts'
import { computedOfLake } from '../../manifest/form/projections.ts'
import { readFactsOf } from '../../manifest/snapshots/read-facts.ts'
import { readTableListed, type SnapshotRoot } from '../../manifest/snapshots/snapshot-root.ts'
import { readRoot } from '../../manifest/snapshots/snapshots.ts'
import { leftBehind, mostLeftBehind } from '../../support/left-behind.ts'
import { fairTurns } from './fair-turns.ts'

export interface LakeTurnsSettings
  extends Pick<LakeQueryOptions, 'lake' | 'memoryBytes' | 'threads' | 'inPlace' | 'files' | 'opens'> {
  /** Number of the snapshot that is to be asked. */
  readonly served: () => number | Promise<number>
  /** Longest time of a work, the wait for its turn included, in milliseconds. */
  readonly timeoutMs: number
}

export interface OpenedSnapshot {
  readonly lake: LakeQuery
  readonly snapshot: number
  readonly root: SnapshotRoot
}

/** With how many engines left behind it was opened, which decides its memory. */
interface Current extends OpenedSnapshot {
  readonly left: number
}

export interface LakeTurns {
  /**
   * Works when its turn comes. After the signal no statement gets far, whatever becomes of the work.
   *
   * @param caller of whose works one at most waits for its turn beside those of others
   * @param work is given the snapshot, and the signal that fires at the end of its time too
   * @throws {ToolkitError} `QUERY_FAILED` after the time limit; what opening the snapshot and the work throw
   */
  readonly take: <T>(
    caller: string,
    signal: AbortSignal,
    work: (opened: OpenedSnapshot, ends: AbortSignal) => Promise<T>,
  ) => Promise<T>
  readonly close: () => Promise<void>
}

/** Memory with which an engine can answer at all. */
const MIN_BYTES = 64 * 1024 ** 2

/** Engines that were left behind may hold all their memory: the next one has half as much, so that all have less than twice. */
const openSnapshot = async (
  { lake, memoryBytes: allBytes, threads, inPlace, files, opens }: LakeTurnsSettings,
  snapshot: number,
): Promise<Current> => {
  const left = leftBehind()
  if (left >= mostLeftBehind())
    throw new ToolkitError(
      'QUERY_FAILED',
      `Cannot answer: ${left} statements that DuckDB cannot stop are still running, expected them to end first; ask again later`,
    )
  const memoryBytes = Math.min(allBytes, Math.max(MIN_BYTES, Math.floor(allBytes / 2 ** left)))
  const root = await readRoot(lake, snapshot)
  const query = await openLakeQuery({
    ...{ lake, memoryBytes, threads, inPlace, files, opens },
    snapshot: (table, withMerged) => readTableListed(lake, root, table, withMerged),
    facts: readFactsOf(lake, root),
    computed: await computedOfLake(root),
  })
  return { lake: query, snapshot, root, left }
}

const isUsable = async (lake: LakeQuery): Promise<boolean> => {
  try {
    await Array.fromAsync((await lake.run('SELECT 1')).rows)
    return true
  } catch {
    return false
  }
}

/** Fails when the signal fires, whatever becomes of the work. */
const orAborted = <T>(work: Promise<T>, signal: AbortSignal): Promise<T> =>
  new Promise((resolve, reject) => {
    signal.addEventListener('abort', () => reject(signal.reason), { once: true })
    work.then(resolve, reject)
  })

/** No name of a caller, for the turn of the close. */
const CLOSER = ''
const NEVER = new AbortController().signal

/** Opens nothing before the first work. */
export const newLakeTurns = (settings: LakeTurnsSettings): LakeTurns => {
  const { served, timeoutMs } = settings
  const tooLong = (): ToolkitError =>
    new ToolkitError('QUERY_FAILED', `Cannot answer: it took longer than ${timeoutMs} ms`)
  const inTurn = fairTurns(timeoutMs, tooLong)
  let opened: Current | undefined
  const close = (): void => {
    opened?.lake.close()
    opened = undefined
  }

  const current = async (): Promise<Current> => {
    const snapshot = await served()
    // With more memory again where one that was left behind has ended.
    if (opened?.snapshot === snapshot && opened.left <= leftBehind()) return opened
    close()
    opened = await openSnapshot(settings, snapshot)
    return opened
  }

  const obey = async <T>(
    one: Current,
    signal: AbortSignal,
    work: (opened: OpenedSnapshot, ends: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    const ended = interruptOn(one.lake, signal)
    try {
      return await work(one, signal)
    } catch (error) {
      ended()
      // A fatal error makes a whole engine useless: another one takes its place.
      if (!(await isUsable(one.lake)) && opened === one) close()
      throw error
    } finally {
      ended()
    }
  }

  const takeTurn = async <T>(
    signal: AbortSignal,
    work: (opened: OpenedSnapshot, ends: AbortSignal) => Promise<T>,
  ): Promise<T> => {
    signal.throwIfAborted()
    const one = await current()
    try {
      return await orLeftBehind(obey(one, signal, work), signal, () => one.lake.close())
    } catch (error) {
      if (error instanceof LeftBehind) opened = undefined
      throw signal.aborted ? signal.reason : error
    }
  }

  return {
    take: async (caller, signal, work) => {
      const late = new AbortController()
      const timer = setTimeout(() => late.abort(tooLong()), timeoutMs)
      const ends = AbortSignal.any([signal, late.signal])
      try {
        return await orAborted(
          inTurn(caller, (turn) => takeTurn(turn, work), ends),
          ends,
        )
      } finally {
        clearTimeout(timer)
      }
    },
    close: () => inTurn(CLOSER, async () => close(), NEVER),
  }
}
