/** Finds the partitions that rows came with: opens the parts that have their runs. */

import type { CommittedPartition } from '../../core/partition.ts'
import { listOf, type SnapshotRoot } from './snapshot-root.ts'

/** The load of a row, by its columns in the history views. */
export interface RowLoad {
  readonly run: string
  readonly version: number
}

/**
 * In the order of versions; those too that a compaction has merged, which have no files any more.
 *
 * @throws {ToolkitError} as `listOf`
 */
export const partitionsOf = async (
  lake: string,
  root: Pick<SnapshotRoot, 'lists'>,
  loads: readonly RowLoad[],
): Promise<readonly CommittedPartition[]> => {
  const versions = new Set(loads.map(({ version }) => version))
  const runs = [...new Set(loads.map(({ run }) => run))]
  const found: CommittedPartition[] = []
  for (const name of ['merged', 'partitions'] as const) {
    const some = await listOf(lake, root, name, ({ runs: { least, greatest } }) =>
      runs.some((run) => least <= run && run <= greatest),
    )
    found.push(...some.filter(({ version }) => versions.has(version)))
  }
  return found.sort((a, b) => a.version - b.version)
}
