/** A run whose process is gone between its commit and the removal of its folder. */

import { cpSync } from 'node:fs'
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inLake, RUNS_FOLDER, runPath } from '../../src/lake/files/layout.ts'
import { ownerName, ownerText } from '../../src/manifest/runs/run-lease.ts'
import { listRunIds } from '../../src/manifest/runs/runs.ts'
import type { RunEvent } from '../../src/run/work/progress.ts'

/** Does the work of a run to its end, and puts its folder back as it was when the commit began. @returns its id */
export const stoppedBehindCommit = async (
  lake: string,
  work: (onEvent: (event: RunEvent) => void) => Promise<unknown>,
): Promise<string> => {
  const kept = await mkdtemp(join(tmpdir(), 'firmlake-kept-'))
  const runs = inLake(lake, RUNS_FOLDER)
  let copied = false
  try {
    await work((event) => {
      if (event.kind !== 'committing') return
      cpSync(runs, kept, { recursive: true })
      copied = true
    })
    if (!copied) throw new Error('Nothing was committed')
    await cp(kept, runs, { recursive: true })
    const [run = ''] = await listRunIds(lake)
    // This process lives on, so the run is released.
    await writeFile(join(inLake(lake, runPath(run)), ownerName(9)), ownerText(0, null))
    return run
  } finally {
    await rm(kept, { recursive: true, force: true })
  }
}
