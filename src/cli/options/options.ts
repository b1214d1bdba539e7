/** Options that several commands share, and readers of option values. */

import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { LAKE } from '../../options/common.ts'
import { TARGETS } from '../../options/targets.ts'
import { lakeAddress } from '../../options/value-types.ts'
import { parseDuration } from '../../support/quantities.ts'
import { optionOf } from '../add-command.ts'
import { LAKE_MISSING, lakeHere } from '../config/loaded-config.ts'

export interface LakeOption {
  readonly lake: string
}
export interface JsonOption {
  readonly json?: true
}
export interface SnapshotOption {
  readonly snapshot?: number
}

/** Reads a whole number. @throws {ToolkitError} USAGE naming the option */
export const wholeNumber =
  (option: string, least = 1) =>
  (text: string): number => {
    const number = /^\d{1,15}$/.test(text) ? Number(text) : Number.NaN
    if (number >= least) return number
    throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected a whole number from ${least}`)
  }

/** Reads `15m`, `90s`, `500ms`, `1.5h` as milliseconds. @throws {ToolkitError} USAGE naming the option */
export const durationOf =
  (option: string) =>
  (text: string): number => {
    const ms = parseDuration(text)
    if (ms !== undefined) return ms
    throw new ToolkitError('USAGE', `Cannot read ${option} "${text}": expected a time such as 90s, 15m or 1h`)
  }

/** @throws {ToolkitError} USAGE naming the option */
export const readLakeAddress = (text: string, name = '--lake'): string => {
  const read = lakeAddress.parse(text)
  if (read !== undefined) return read
  throw new ToolkitError('USAGE', `Cannot read ${name} "${text}": expected ${lakeAddress.expected}`)
}

/** The lake of a command; FIRMLAKE_LAKE is its default. */
export const lakeOption = (): Option => optionOf('lake', LAKE)

/** @throws {ToolkitError} USAGE, as for an option that is mandatory */
export const neededLake = <Flags extends { readonly lake?: string | undefined }>(
  flags: Flags,
): Flags & LakeOption => {
  const { lake = lakeHere() } = flags
  if (lake !== undefined) return { ...flags, lake }
  throw new ToolkitError('USAGE', LAKE_MISSING)
}

export const jsonOption = (about = 'the result as one JSON document, errors as one line of JSON'): Option =>
  new Option('--json', about)

export const snapshotOption = (about = 'the lake as of this snapshot (default: the newest)'): Option =>
  new Option('--snapshot <n>', about).argParser(wholeNumber('--snapshot'))

export const contentOption = (about: string): Option =>
  new Option('--content <content>', about).choices(['companies', 'relations'])

export const overwriteOption = (): Option => optionOf('overwrite', TARGETS.overwrite)

/** Whether the person at a terminal is asked first: elsewhere, as under cron, nobody could answer. */
export const isAsked = ({
  yes,
  json,
}: {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}): boolean => !yes && !json && process.stdin.isTTY === true && process.stderr.isTTY === true
