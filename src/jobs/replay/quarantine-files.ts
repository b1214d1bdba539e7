/** Which quarantine files a person means: those of a snapshot, or those of a run. */

import { ToolkitError } from '../../core/errors.ts'
import { QUARANTINE } from '../../lake/tables/tables.ts'
import { listRunIds } from '../../manifest/runs/runs.ts'
import { readTableListed } from '../../manifest/snapshots/snapshot-root.ts'
import { holdsRun, readRoot } from '../../manifest/snapshots/snapshots.ts'
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
  const root = await readRoot(lake, number)
  const files = waitingFiles(await readTableListed(lake, root, QUARANTINE), lake)
  if (run === undefined) return files
  if (await holdsRun(lake, root, run)) return files.filter(({ partition }) => partition.run === run)
  throw new ToolkitError(
    'RUN_NOT_FOUND',
    `Cannot list the quarantine of run "${run}": it is neither unfinished nor in the lake`,
    { run },
  )
}
