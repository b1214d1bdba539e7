/** The check of the `--mode` of a new lake. */

import { stat } from 'node:fs/promises'
import { ToolkitError } from '../../core/errors.ts'
import { isBucket } from '../../core/lake-address.ts'
import { note } from '../output/print.ts'
import type { LakeOption } from './options.ts'

const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

/** Warns where the mode cannot be set. @throws {ToolkitError} USAGE for a bucket */
export const checkMode = async ({
  lake,
  mode,
}: LakeOption & { readonly mode?: number | undefined }): Promise<void> => {
  if (mode === undefined) return
  if (isBucket(lake))
    throw new ToolkitError('USAGE', `Cannot use --mode for "${lake}": expected a folder as the lake`)
  const found = await stat(lake).catch(() => null)
  const bits = (found?.mode ?? mode) & 0o7777
  if (bits !== mode)
    note(`warning: "${lake}" exists with mode ${octal(bits)}, which --mode does not change; use chmod`)
}
