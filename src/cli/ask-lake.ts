/** Opens a snapshot of a lake for questions, and closes it in every case. */

import type { InPlaceOptions } from '../jobs/common/read-rows.ts'
import { openQuery } from '../jobs/query/query.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import type { AroundFetch } from '../lake/views/lake-views.ts'
import { interruptible } from './interrupt.ts'
import { noteAccess, noteHistory } from './output/lake-notes.ts'
import { ProgressLine } from './output/progress-line.ts'
import { showFetch } from './output/show-fetch.ts'

export interface LakeQueryRequest extends InPlaceOptions {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** One more folder, for files of answers. @default none */
  readonly outFolder?: string | undefined
  /** A folder whose files the statement may read. @default none */
  readonly files?: string | undefined
  /** In all. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  /** Whether a program reads the errors: then progress is shown on a terminal only. @default false */
  readonly json?: boolean | undefined
  /** Compares lengths only. @default false */
  readonly unchecked?: boolean | undefined
}

/** Shows how far a fetch is, and lets it be stopped. Statements are not: a signal ends them with the process. */
const shownFetch =
  (line: ProgressLine): AroundFetch =>
  (fetch) =>
    interruptible(
      (signal) => fetch({ signal, onProgress: showFetch(line) }),
      'fetched files stay for the next time',
    ).finally(() => line.clear())

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, and whatever `ask` throws */
export const askLake = async <T>(
  { lake, json = false, unchecked = false, ...options }: LakeQueryRequest,
  ask: (query: LakeQuery) => Promise<T>,
): Promise<T> => {
  const query = await openQuery({
    lake,
    ...options,
    check: unchecked ? 'never' : 'first-read',
    aroundFetch: shownFetch(new ProgressLine({ terminalOnly: json })),
  })
  try {
    const answer = await ask(query)
    noteAccess(query.report())
    noteHistory(query.historyBegins())
    return answer
  } finally {
    query.close()
  }
}
