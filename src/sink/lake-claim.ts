/** Whose rows a target holds: it keeps the id of a lake, and takes no other one's rows. */

import { ToolkitError } from '../core/errors.ts'
import type { LakeClaim } from '../core/sink.ts'

/** The table of a database that holds the id, and the file of a folder. */
export const LAKE_TABLE = 'firmlake_lake'
export const LAKE_MARK = '_lake'

/**
 * Compares a target's mark with the lake that comes.
 *
 * @param found the id that the target holds; absent where it has none
 * @param target for the message, without a password
 * @returns whether the id of the lake is to be written into the target
 * @throws {ToolkitError} `TARGET_OF_ANOTHER_LAKE`
 */
export const isToMark = (claim: LakeClaim, found: string | undefined, target: string): boolean => {
  if (found === claim.lake) return false
  if (found !== undefined && !claim.adopt)
    throw new ToolkitError(
      'TARGET_OF_ANOTHER_LAKE',
      `Cannot write to ${target}: it holds the rows of another lake; name another target, or hand it over with --adopt`,
    )
  return claim.marks
}
