/** Which quarantine files a person means: those of a snapshot, or those of a run. */

import { ToolkitError } from '../../core/errors.ts'
import { listRunIds } from '../../manifest/runs.ts'
import { readSnapshot } from '../../manifest/snapshots.ts'
import { type QuarantineFile, waitingFiles, waitingFilesOfRun } from './quarantine.ts'

export interface QuarantineChoice {
  readonly lake: string
  /** @default the newest */
  readonly snapshot?: number | undefined
  /** A run of the newest snapshot, or one that was refused and waits. */
  readonly run?: string | undefined
}

/** @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_NOT_FOUND, RUN_NOT_FOUND */
export const quarantineFiles = async ({
  lake,
  snapshot: number,
  run,
}: QuarantineChoice): Promise<readonly QuarantineFile[]> => {
  if (run !== undefined && (await listRunIds(lake)).includes(run)) return waitingFilesOfRun(lake, run)
  const snapshot = await readSnapshot(lake, number)
  const files = waitingFiles(snapshot, lake)
  if (run === undefined) return files
  if ([...(snapshot.merged ?? []), ...snapshot.partitions].some((partition) => partition.run === run))
    return files.filter(({ partition }) => partition.run === run)
  throw new ToolkitError(
    'RUN_NOT_FOUND',
    `Cannot list the quarantine of run "${run}": it is neither unfinished nor in the lake`,
    { run },
  )
}
