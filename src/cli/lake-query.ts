/** Opens a snapshot of a lake for questions, and closes it in every case. */

import { type LakeQuery, openLakeQuery } from '../lake/query.ts'
import { readSnapshot } from '../manifest/snapshots.ts'

export interface LakeQueryRequest {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  readonly memoryBytes: number
  readonly threads: number
}

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, and whatever `ask` throws */
export const askLake = async <T>(
  { lake, snapshot, memoryBytes, threads }: LakeQueryRequest,
  ask: (query: LakeQuery) => Promise<T>,
): Promise<T> => {
  const query = await openLakeQuery({
    lake,
    snapshot: await readSnapshot(lake, snapshot),
    memoryBytes,
    threads,
  })
  try {
    return await ask(query)
  } finally {
    query.close()
  }
}
