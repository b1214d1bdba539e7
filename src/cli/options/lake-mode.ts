/** `--mode` of the commands that may make a lake. */

import { stat } from 'node:fs/promises'
import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { isBucket } from '../../core/lake-address.ts'
import { note } from '../output/print.ts'

export interface ModeOption {
  readonly mode?: number
}

/** Its owner must be able to work in it, and a folder into which everybody may write is no place for data. */
const [NEEDED, REFUSED] = [0o700, 0o5002]

/** Mode bits as `chmod` takes them. @throws {ToolkitError} USAGE */
const modeBits = (text: string): number => {
  const mode = /^[0-7]{3,4}$/.test(text) ? Number.parseInt(text, 8) : 0
  if ((mode & NEEDED) === NEEDED && (mode & REFUSED) === 0) return mode
  throw new ToolkitError(
    'USAGE',
    `Cannot read --mode "${text}": expected the mode of a folder in octal, such as 0700, 0750 or 2770`,
  )
}

export const modeOption = (): Option =>
  new Option('--mode <mode>', 'who may use a new lake, as for chmod (default: 0700, you alone)').argParser(
    modeBits,
  )

const octal = (mode: number): string => mode.toString(8).padStart(4, '0')

/** Warns where the mode cannot be set. @throws {ToolkitError} USAGE for a bucket */
export const checkMode = async ({ lake, mode }: ModeOption & { readonly lake: string }): Promise<void> => {
  if (mode === undefined) return
  if (isBucket(lake))
    throw new ToolkitError('USAGE', `Cannot use --mode for "${lake}": expected a folder as the lake`)
  const found = await stat(lake).catch(() => null)
  const bits = (found?.mode ?? mode) & 0o7777
  if (bits !== mode)
    note(`warning: "${lake}" exists with mode ${octal(bits)}, which --mode does not change; use chmod`)
}
