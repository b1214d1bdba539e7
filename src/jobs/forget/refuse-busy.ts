/** A forget waits for nobody: what is at work may hold what is to go. */

import { ToolkitError } from '../../core/errors.ts'
import { BATCHES_FOLDER, inLake, RUNS_FOLDER, SERVE_FOLDER } from '../../lake/files/layout.ts'
import { listRuns } from '../../manifest/runs/runs.ts'
import { listFolder } from '../../support/list-files.ts'
import { temporaryLiveness } from '../../support/process-identity.ts'

/** Folders where unfinished work of other processes may stand. */
const busyPlaces = async (lake: string): Promise<readonly string[]> => {
  const busy: string[] = []
  for (const folder of [RUNS_FOLDER, SERVE_FOLDER, BATCHES_FOLDER])
    for (const { name } of await listFolder(inLake(lake, folder))) {
      const liveness = temporaryLiveness(name)
      if (liveness === 'alive' || liveness === 'unknown') busy.push(`${folder}/${name}`)
    }
  return busy
}

/** @throws {ToolkitError} `RUN_LIVE`, naming the runs that are at work */
export const refuseBusy = async (lake: string, own: string): Promise<void> => {
  const runs = (await listRuns(lake, { now: new Date() })).filter(
    ({ run, state }) => run !== own && state !== 'gone',
  )
  const busy = [
    ...runs.map(({ run }) => `run "${run}"`),
    ...(await busyPlaces(lake)).map((one) => `"${one}"`),
  ]
  if (busy.length === 0) return
  throw new ToolkitError(
    'RUN_LIVE',
    `Cannot forget in lake "${lake}": ${busy.join(', ')} may be at work and hold what is to go; expected none, wait for it, or cancel a shared run`,
    { lake },
  )
}
