/** Opens a snapshot of a lake for questions, and closes it in every case. */

import { openQuery } from '../jobs/query.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import type { AroundFetch } from '../lake/views/lake-views.ts'
import type { OpenQueryOptions } from '../options/interfaces.ts'
import { interruptible } from './interrupt.ts'
import { noteAccess, noteHistory } from './output/lake-notes.ts'
import { ProgressLine } from './output/progress-line.ts'
import { showFetch } from './output/show-fetch.ts'

export interface LakeQueryRequest extends Omit<OpenQueryOptions, 'check' | 'aroundFetch'> {
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
