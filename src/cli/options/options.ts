/** Options that several commands share, and readers of option values. */

import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { BUCKET_FORM, isBucket } from '../../core/lake-address.ts'
import type { CsvDelimiter } from '../../sink/file-format.ts'
import { parseDuration } from '../../support/quantities.ts'
import { LAKE_HERE, LAKE_MISSING, lakeHere } from '../config/loaded-config.ts'

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

/** Collects the values of an option that may be given several times. */
export const repeated = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  value,
]

/** An option in its place means that the lake was forgotten: no lake is to be made in `--json` or in `http:`. */
export const readLakeAddress = (text: string, name = '--lake'): string => {
  if (text !== '' && !text.startsWith('-') && (isBucket(text) || !/^[^/]*:\/\//.test(text))) return text
  throw new ToolkitError(
    'USAGE',
    `Cannot read ${name} "${text}": expected a folder, such as ./lake, or ${BUCKET_FORM}`,
  )
}

/** The lake where nothing else names it. */
const LAKE_VARIABLE = 'FIRMLAKE_LAKE'

const namedLake = (about: string): Option =>
  new Option('-l, --lake <lake>', about).argParser((text: string) => readLakeAddress(text))

/** The lake of a command; FIRMLAKE_LAKE is its default. */
export const lakeOption = (): Option => {
  const about = `folder of the lake, or ${BUCKET_FORM}`
  // A variable that is set to nothing is none.
  return process.env[LAKE_VARIABLE]
    ? namedLake(about).env(LAKE_VARIABLE).makeOptionMandatory()
    : namedLake(`${about} (or ${LAKE_VARIABLE}; else ${LAKE_HERE})`).makeOptionMandatory()
}

/** The lake of a command that can do without one: an action checks it with `neededLake`. */
export const lakeOrTargetOption = (): Option => lakeOption().makeOptionMandatory(false)

/** @throws {ToolkitError} USAGE, as for an option that is mandatory */
export const neededLake = <Flags extends Partial<LakeOption>>(flags: Flags): Flags & LakeOption => {
  const { lake = lakeHere() } = flags
  if (lake !== undefined) return { ...flags, lake }
  throw new ToolkitError('USAGE', LAKE_MISSING)
}

/** A lake to play with: never the one that FIRMLAKE_LAKE names, which may hold real data. */
export const playLakeOption = (lake: string): Option =>
  namedLake(`folder of the lake; ${LAKE_VARIABLE} is ignored here`).default(lake)

export const jsonOption = (about = 'the result as one JSON document, errors as one line of JSON'): Option =>
  new Option('--json', about)

/** The option of commands that take SQL: DuckDB decodes what a person names and the lake does not list. */
export const filesOption = (): Option =>
  new Option(
    '--files <folder>',
    'SQL may read the files of this folder, too (default: those that the lake lists)',
  )

export const snapshotOption = (about = 'the lake as of this snapshot (default: the newest)'): Option =>
  new Option('--snapshot <n>', about).argParser(wholeNumber('--snapshot'))

export interface UncheckedOption {
  readonly unchecked?: true
}

/** The option of commands that remember which files this machine has hashed before. */
export const uncheckedOption = (): Option =>
  new Option('--unchecked', 'compare lengths only where files are read for the first time, no hashes')

export const contentOption = (about: string): Option =>
  new Option('--content <content>', about).choices(['companies', 'relations'])

export const tableOption = (): Option =>
  new Option('--table <name>', 'a table to export, may be repeated (default: all)').argParser(repeated)

export const namesOption = (): Option =>
  new Option('--names', 'names of companies, owners and persons beside their ids; for files')

export const overwriteOption = (): Option =>
  new Option(
    '--overwrite',
    'replace what a target has: files that are there, and rows that the lake has lost',
  )

export interface CsvFlags {
  readonly bom?: true
  readonly delimiter?: CsvDelimiter
}

const DELIMITERS: Readonly<Record<string, CsvDelimiter>> = { ',': ',', ';': ';', tab: '\t', '|': '|' }

/** How CSV is written for a spreadsheet that expects it otherwise. */
export const csvOptions = (): Option[] => [
  new Option('--bom', 'CSV: begin with a byte order mark, by which Excel knows UTF-8'),
  new Option('--delimiter <char>', 'CSV: between two cells, "," ";" "|" or tab (default: ",")').argParser(
    (text: string) => {
      const known = DELIMITERS[text]
      if (known !== undefined) return known
      throw new ToolkitError('USAGE', `Cannot read --delimiter "${text}": expected ",", ";", "|" or tab`)
    },
  ),
]

export interface CheckedFlag {
  readonly checked?: true
}

export const checkedOption = (): Option =>
  new Option('--checked', 'download and verify files before reading them (lakes in buckets)')

export interface YesOption {
  readonly yes?: true
}

export const yesOption = (): Option => new Option('--yes', 'at a terminal: ask nothing, do it')

/** Whether the person at a terminal is asked first: elsewhere, as under cron, nobody could answer. */
export const isAsked = ({
  yes,
  json,
}: {
  readonly yes?: boolean | undefined
  readonly json?: boolean | undefined
}): boolean => !yes && !json && process.stdin.isTTY === true && process.stderr.isTTY === true
