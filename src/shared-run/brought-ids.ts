/**
 * The companies that the windows of a run have brought, for the windows that close its gap: each unit leaves its ids in
 * the run's folder, under a name of its attempt, before its journal says that it is done.
 */

import { readFile } from 'node:fs/promises'
import { systemCode, ToolkitError } from '../core/errors.ts'
import { runPath } from '../lake/files/layout.ts'
import { readUnitWork } from '../manifest/runs/journal.ts'
import { IdSet, idsIn } from '../pull/windows/id-set.ts'
import { storageOf } from '../storage/open-storage.ts'

const idsPath = (run: string, unit: number, attempt: string): string =>
  `${runPath(run)}/ids/${String(unit).padStart(7, '0')}.${attempt}.ids`

const noIds = (error: unknown): Buffer => {
  if (systemCode(error) === 'ENOENT') return Buffer.alloc(0)
  throw error
}

/** Takes the file of ids of a window into the run's folder. */
export const storeIds = async (
  { lake, run }: { readonly lake: string; readonly run: string },
  unit: number,
  attempt: string,
  path: string,
): Promise<void> => {
  await storageOf(lake).create(idsPath(run, unit, attempt), await readFile(path).catch(noIds))
}

/** @param units ids of the units that bring some. @throws {ToolkitError} RUN_INCOMPLETE */
export const broughtIds = async (
  { lake, run }: { readonly lake: string; readonly run: string },
  units: readonly number[],
): Promise<IdSet> => {
  const parts: BigInt64Array[] = []
  for (const unit of units) {
    const done = await readUnitWork(lake, run, unit)
    const bytes = done && (await storageOf(lake).read(idsPath(run, unit, done.result.attempt)))
    if (bytes === null)
      throw new ToolkitError(
        'RUN_INCOMPLETE',
        `Cannot close the gap of run "${run}": unit ${unit} is not done`,
        { run, unit },
      )
    parts.push(idsIn(bytes))
  }
  return IdSet.of(parts)
}
