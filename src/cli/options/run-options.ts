/**
 * Options of the commands that load: how strict, with how much of the machine, and with which `--mode` a new lake is
 * made.
 */

import { stat } from 'node:fs/promises'
import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { isBucket } from '../../core/lake-address.ts'
import { MEMORY, THREADS } from '../../options/common.ts'
import { CONVERT } from '../../options/convert.ts'
import {
  CHANGE_CURRENCY,
  MAX_QUARANTINED,
  PARTITIONS,
  SKIP_BAD_FILES,
  UNKNOWN,
} from '../../options/lake-jobs.ts'
import { TARGETS } from '../../options/targets.ts'
import { makeRoomInPool, type QuarantineLimit } from '../../options/value-types.ts'
import { machineLimits } from '../../support/machine-limits.ts'
import { parseSize } from '../../support/quantities.ts'
import { optionOf, optionsOf } from '../add-command.ts'
import { note } from '../output/print.ts'

/** The targets that a run updates after loading. */
export interface TargetFlags {
  readonly sink?: readonly string[]
  readonly publish?: readonly string[]
  readonly adopt?: true
  readonly overwrite?: true
}

export const adoptOption = (): Option => optionOf('adopt', TARGETS.adopt)

export const targetOptions = (): Option[] => optionsOf(TARGETS).map(([, one]) => one)

export interface LoadFlags extends TargetFlags {
  readonly maxQuarantined: QuarantineLimit
  readonly memory: number
  readonly threads?: number
  readonly changeCurrency?: true
}

/** Reads `1GiB`, `512MB`, `800000000`. @throws {ToolkitError} USAGE naming the option */
const parseBytes = (text: string, option: string): number => {
  const bytes = Math.round(parseSize(text) ?? 0)
  if (Number.isSafeInteger(bytes) && bytes >= 1) return bytes
  throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected bytes such as 1GiB or 512MB`)
}

/** Bytes with a unit, such as 16MiB. */
export const bytesOption = (flags: string, about: string, bytes: number, text: string): Option =>
  new Option(flags, about)
    .argParser((value: string) => parseBytes(value, flags.split(' ')[0] ?? flags))
    .default(bytes, text)

export const memoryOption = (): Option => optionOf('memoryBytes', MEMORY)

export const threadsOption = (): Option => optionOf('threads', THREADS)

/** Partitions loaded side by side; without it a run takes what the machine has. */
export const partitionsOption = (): Option => {
  makeRoomInPool(machineLimits().cpus)
  return optionOf('threads', PARTITIONS)
}

export const changeCurrencyOption = (): Option => optionOf('changeCurrency', CHANGE_CURRENCY)

export interface UnknownOptions {
  readonly maxUnknownPerRecord: number
  readonly maxUnknownNames: number
}

export const unknownOptions = (): Option[] => optionsOf(UNKNOWN).map(([, one]) => one)

export interface SkipBadFilesOption {
  readonly skipBadFiles?: true
}

export const skipBadFilesOption = (): Option => optionOf('skipBadFiles', SKIP_BAD_FILES)

/** Options that a run may be given again when it is resumed. */
export const workOptions = (): Option[] => [
  optionOf('maxQuarantined', MAX_QUARANTINED),
  memoryOption(),
  partitionsOption(),
  changeCurrencyOption(),
  ...targetOptions(),
]

export interface ModeOption {
  readonly mode?: number | undefined
}

export const modeOption = (): Option => optionOf('mode', CONVERT.mode)

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
