/** What a target of an export must be, before anything is read or made. */

import { ToolkitError } from '../../core/errors.ts'
import { DATABASES } from '../../sink/targets.ts'
import { refuseLake } from '../../sink/with-loaded.ts'
import type { TargetAddress } from '../open-sink.ts'
import { type Export, type OutFile, outFiles } from './plan-exports.ts'
import { checkFolderOf, checkTarget } from './write-rows.ts'

/** Whether a second DuckDB loads the target at the same time. */
export const isDatabaseFile = (to: TargetAddress): to is Extract<TargetAddress, { kind: 'database' }> =>
  to.kind === 'database' && DATABASES[to.database].isFile

/**
 * Refuses a target that cannot be used.
 *
 * @returns the files that will be written; none of a database
 * @throws {ToolkitError} USAGE, TARGET_REFUSED
 */
export const checkExport = async (
  to: TargetAddress,
  exports: readonly Export[],
  {
    names = false,
    overwrite = false,
  }: { readonly names?: boolean | undefined; readonly overwrite?: boolean | undefined },
): Promise<readonly OutFile[]> => {
  if (names && to.kind === 'database')
    throw new ToolkitError(
      'USAGE',
      'Cannot put names into tables of a database: they have the columns of the lake, join companies there',
    )
  const files = to.kind === 'database' ? [] : outFiles(to, exports)
  if (to.kind === 'folder') await refuseLake(to.directory)
  for (const { path } of files) await checkTarget(path, overwrite)
  if (to.kind === 'file') await checkFolderOf(to.path)
  if (isDatabaseFile(to)) await checkFolderOf(to.at)
  return files
}
