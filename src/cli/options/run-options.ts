/** Options that several commands share, and the check of the `--mode` of a new lake. */

import { stat } from 'node:fs/promises'
import type { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { isBucket } from '../../core/lake-address.ts'
import { MEMORY, THREADS } from '../../options/common.ts'
import { TARGETS } from '../../options/targets.ts'
import { optionOf } from '../add-command.ts'
import { note } from '../output/print.ts'
import type { LakeOption } from './options.ts'

export const adoptOption = (): Option => optionOf('adopt', TARGETS.adopt)

export const memoryOption = (): Option => optionOf('memoryBytes', MEMORY)

export const threadsOption = (): Option => optionOf('threads', THREADS)

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
