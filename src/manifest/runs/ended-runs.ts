/**
 * Runs of several machines that ended without a snapshot, as they found nothing new: a trace of each, so that whoever
 * commits one again learns that it has ended. gc removes it after a day.
 */

import { RUNS_FOLDER } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import type { StoredFile } from '../../storage/storage.ts'
import { DAY_MS, type LivenessRule } from './run-lease.ts'

/** No run has such an id. */
const ENDED_FOLDER = `${RUNS_FOLDER}/ended`

const tracePath = (run: string): string => `${ENDED_FOLDER}/${run}`

/** @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED` */
export const recordEnded = async (lake: string, run: string): Promise<void> => {
  await storageOf(lake).create(tracePath(run), '')
}

export const hasEnded = async (lake: string, run: string): Promise<boolean> =>
  (await storageOf(lake).stat(tracePath(run))) !== null

/** Traces that nobody needs any more. */
export const oldTraces = async (
  lake: string,
  { now, remoteIdleMs = DAY_MS }: LivenessRule,
): Promise<readonly StoredFile[]> =>
  (await storageOf(lake).list(ENDED_FOLDER)).filter(
    ({ changedMs }) => now.getTime() - changedMs > remoteIdleMs,
  )
