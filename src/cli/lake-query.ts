/** Opens a snapshot of a lake for questions, and closes it in every case. */

import type { AroundFetch } from '../lake/lake-views.ts'
import { type LakeQuery, openLakeQuery } from '../lake/query.ts'
import { readSnapshot } from '../manifest/snapshots.ts'
import { fetchText } from './fetch-text.ts'
import { interruptible } from './interrupt.ts'
import { ProgressLine } from './progress-line.ts'

export interface LakeQueryRequest {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  readonly memoryBytes: number
  readonly threads: number
  /** Whether a program reads the errors: then progress is shown on a terminal only. @default false */
  readonly json?: boolean | undefined
}

/** Shows how far a fetch is, and lets it be stopped. Statements are not: a signal ends them with the process. */
const shownFetch =
  (line: ProgressLine): AroundFetch =>
  (fetch) =>
    interruptible(
      (signal) => fetch({ signal, onProgress: (progress) => line.show(() => fetchText(progress)) }),
      'files that are fetched stay for the next time',
    ).finally(() => line.clear())

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, and whatever `ask` throws */
export const askLake = async <T>(
  { lake, snapshot, memoryBytes, threads, json = false }: LakeQueryRequest,
  ask: (query: LakeQuery) => Promise<T>,
): Promise<T> => {
  const query = await openLakeQuery({
    lake,
    snapshot: await readSnapshot(lake, snapshot),
    memoryBytes,
    threads,
    aroundFetch: shownFetch(new ProgressLine({ terminalOnly: json })),
  })
  try {
    return await ask(query)
  } finally {
    query.close()
  }
}
