/** The lake of a command, and whether a person is asked before it works. */

import { ToolkitError } from '../../core/errors.ts'
import { LAKE_MISSING, lakeHere } from '../config/loaded-config.ts'

export interface LakeOption {
  readonly lake: string
}

/** @throws {ToolkitError} USAGE, as for an option that is mandatory */
export const neededLake = <Flags extends { readonly lake?: string | undefined }>(
  flags: Flags,
): Flags & LakeOption => {
  const { lake = lakeHere() } = flags
  if (lake !== undefined) return { ...flags, lake }
  throw new ToolkitError('USAGE', LAKE_MISSING)
}

/** Whether the person at a terminal is asked first: elsewhere, as under cron, nobody could answer. */
export const isAsked = ({
  yes,
  json,
}: {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}): boolean => !yes && !json && process.stdin.isTTY === true && process.stderr.isTTY === true
