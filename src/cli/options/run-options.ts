/**
 * Options of the commands that load: how strict, with how much of the machine, and with which `--mode` a new lake is
 * made.
 */

import { stat } from 'node:fs/promises'
import { Option } from 'commander'
import { ToolkitError } from '../../core/errors.ts'
import { isBucket } from '../../core/lake-address.ts'
import { DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../../core/memory-shares.ts'
import { TABLE_FORMAT_NAMES } from '../../core/table-formats.ts'
import { UNKNOWN_LIMITS } from '../../core/unknown-names.ts'
import { MAX_QUARANTINED } from '../../options/lake-jobs.ts'
import type { QuarantineLimit } from '../../options/value-types.ts'
import { passwordVariable, TARGET_FORMS } from '../../sink/targets.ts'
import { machineLimits } from '../../support/machine-limits.ts'
import { parseSize } from '../../support/quantities.ts'
import { optionOf } from '../add-command.ts'
import { note } from '../output/print.ts'
import { overwriteOption, repeated, wholeNumber } from './options.ts'

/** The targets that a run updates after loading. */
export interface TargetFlags {
  readonly sink?: readonly string[]
  readonly publish?: readonly string[]
  readonly adopt?: true
  readonly overwrite?: true
}

const SINK_FORMS = [...TARGET_FORMS.runFolders, ...TARGET_FORMS.databaseExamples].join(', ')

/** Arguments are seen by others: in the list of processes, in the shell's history, in logs of CI. @throws {ToolkitError} USAGE */
const withoutPassword = (address: string): string => {
  const variable = passwordVariable(address)
  if (variable === undefined) return address
  throw new ToolkitError(
    'USAGE',
    'Cannot use an address of a database with its password in it: the list of processes shows arguments to others; ' +
      `leave it out and set ${variable}, or put it into ~/.pgpass`,
  )
}

export const sinkOption = (about: string): Option =>
  new Option('--sink <url>', `${about}: ${SINK_FORMS} (repeatable)`).argParser(
    (address: string, before?: readonly string[]) => repeated(withoutPassword(address), before),
  )

export const toOption = (about: string): Option => new Option('--to <url>', about).argParser(withoutPassword)

export const adoptOption = (): Option =>
  new Option('--adopt', 'hand targets that hold the rows of another lake over to this one')

export const targetOptions = (): Option[] => [
  sinkOption('deliver runs there too'),
  adoptOption(),
  overwriteOption(),
  new Option(
    '--publish <format>',
    `publish the tables too: ${TABLE_FORMAT_NAMES.join(' or ')} (repeatable)`,
  ).argParser(repeated),
]

export interface LoadFlags extends TargetFlags {
  readonly maxQuarantined: QuarantineLimit
  readonly memory: number
  readonly threads?: number
  readonly changeCurrency?: true
}

/** Clamp typos: no machine has more threads. */
const MOST_THREADS = 1024

/** DuckDB keeps a thread of Node's pool busy for each partition; reading and decoding need theirs beside it. */
const makeRoomInPool = (threads: number): void => {
  if (threads > DEFAULT_THREADS) process.env.UV_THREADPOOL_SIZE ??= String(threads + 2)
}

const threadCount = (text: string): number => {
  const threads = Math.min(wholeNumber('--threads')(text), MOST_THREADS)
  makeRoomInPool(threads)
  return threads
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

/** The same on every machine. */
const DEFAULT_MEMORY_TEXT = '1GiB, or 70% of a container with less'

export const memoryOption = (): Option =>
  bytesOption('--memory <bytes>', 'most memory to use in all', DEFAULT_MEMORY_BYTES, DEFAULT_MEMORY_TEXT)

export const localBytesOption = (): Option =>
  new Option(
    '--local-bytes <bytes>',
    "most that files of a lake in a bucket take on this machine's disk at once (default: $FIRMLAKE_CACHE_BYTES, else 20GB)",
  ).argParser((value: string) => parseBytes(value, '--local-bytes'))

export const threadsOption = (): Option =>
  new Option('--threads <n>', 'threads of the queries').argParser(threadCount).default(DEFAULT_THREADS, '2')

/** Partitions loaded side by side; without it a run takes what the machine has. */
export const partitionsOption = (): Option => {
  makeRoomInPool(machineLimits().cpus)
  return new Option(
    '--threads <n>',
    'threads: partitions loaded side by side (default: one a core, as many as --memory is enough for)',
  ).argParser(threadCount)
}

export const changeCurrencyOption = (): Option =>
  new Option('--change-currency', 'let figures be replaced by figures in another currency')

export interface UnknownOptions {
  readonly maxUnknownPerRecord: number
  readonly maxUnknownNames: number
}

/** Limits for names that the contract does not know. */
export const unknownOptions = (): Option[] => [
  new Option('--max-unknown-per-record <n>', 'most names of a record that the contract does not know')
    .argParser(wholeNumber('--max-unknown-per-record'))
    .default(UNKNOWN_LIMITS.perRecord),
  new Option('--max-unknown-names <n>', 'most such names in the drift of a snapshot')
    .argParser(wholeNumber('--max-unknown-names'))
    .default(UNKNOWN_LIMITS.names),
]

export interface SkipBadFilesOption {
  readonly skipBadFiles?: true
}

export const skipBadFilesOption = (): Option =>
  new Option(
    '--skip-bad-files',
    'skip files that are damaged or unreadable, load the others, exit with 6 (default: one bad file stops all)',
  )

/** Options that a run may be given again when it is resumed. */
export const workOptions = (): Option[] => [
  optionOf('maxQuarantined', MAX_QUARANTINED),
  memoryOption(),
  partitionsOption(),
  changeCurrencyOption(),
  ...targetOptions(),
]

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
    `Cannot take --mode "${text}": expected one in octal with all rights for its owner and no writing for others, such as 0700 or 2770`,
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
