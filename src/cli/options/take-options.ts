/** Options that declare what is taken of the records: of a lake, of a further sink, of an export. */

import { Option } from 'commander'
import { computedOf, masksOf, type Take } from '../../lake/take/declaration.ts'

/** Options of a lake and of an export. */
export interface TakeFlags {
  readonly onlyCountries?: readonly string[]
  readonly where?: string
  readonly whereRelations?: string
  readonly leaveOut?: readonly string[]
  readonly mask?: readonly string[]
  readonly hash?: readonly string[]
  readonly compute?: readonly string[]
}

/** The same of what `--sink` receives. */
export type SinkTakeFlags = {
  readonly [Name in keyof TakeFlags as `sink${Capitalize<Name>}`]?: TakeFlags[Name]
}

export interface LakeTakeFlags extends TakeFlags, SinkTakeFlags {
  readonly keepBadLines?: boolean
  readonly changeTaken?: true
}

const listed = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  ...value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== ''),
]

const several = (value: string, before: readonly string[] | undefined): readonly string[] => [
  ...(before ?? []),
  value,
]

/** @param prefix `sink-` for what sinks receive @param whose of what */
const declaring = (prefix: '' | 'sink-', whose: string): Option[] => [
  new Option(
    `--${prefix}only-countries <codes>`,
    `${whose} companies and relations of these countries alone`,
  ).argParser(listed),
  new Option(
    `--${prefix}where <sql>`,
    `${whose} companies alone for which this condition on their columns holds`,
  ),
  new Option(`--${prefix}where-relations <sql>`, `${whose} relations alone for which this condition holds`),
  new Option(
    `--${prefix}leave-out <names>`,
    `${whose} all but these tables and columns (roles, companies.email; persons: all personal data)`,
  ).argParser(listed),
  new Option(
    `--${prefix}mask <name=text>`,
    `${whose} this text in place of a column's values (repeatable)`,
  ).argParser(several),
  new Option(
    `--${prefix}hash <names>`,
    `${whose} hashes in place of these columns' values, with the key of $FIRMLAKE_HASH_KEY`,
  ).argParser(listed),
  new Option(
    `--${prefix}compute <table.column=sql>`,
    `${whose} this further column too, computed by SQL from the others (repeatable)`,
  ).argParser(several),
]

export const exportTakeOptions = (): Option[] => declaring('', 'write')

/** Of what `--sink` receives. */
export const sinkTakeOptions = (): Option[] => declaring('sink-', 'deliver to --sink')

/** Of the commands that load. */
export const lakeTakeOptions = (): Option[] => [
  ...declaring('', 'load'),
  new Option('--keep-bad-lines', 'keep the text of bad lines also where something is left out'),
  new Option('--change-taken', 'take what is declared here, whatever earlier loads of the lake took'),
]

/** The declaration that flags make; `undefined` without one. @throws {ToolkitError} USAGE */
export const takeOf = (flags: TakeFlags & Pick<LakeTakeFlags, 'keepBadLines'>): Take | undefined => {
  const {
    onlyCountries: countries,
    where,
    whereRelations,
    leaveOut,
    mask,
    hash,
    compute,
    keepBadLines,
  } = flags
  const texts = { mask: mask && masksOf(mask), compute: compute && computedOf(compute) }
  const take = { countries, where, whereRelations, leaveOut, hash, keepBadLines, ...texts }
  return Object.values(take).every((one) => one === undefined) ? undefined : take
}

/** The same of what sinks receive. */
export const sinkTakeOf = (flags: SinkTakeFlags): Take | undefined =>
  takeOf({
    ...(flags.sinkOnlyCountries && { onlyCountries: flags.sinkOnlyCountries }),
    ...(flags.sinkWhere !== undefined && { where: flags.sinkWhere }),
    ...(flags.sinkWhereRelations !== undefined && { whereRelations: flags.sinkWhereRelations }),
    ...(flags.sinkLeaveOut && { leaveOut: flags.sinkLeaveOut }),
    ...(flags.sinkMask && { mask: flags.sinkMask }),
    ...(flags.sinkHash && { hash: flags.sinkHash }),
    ...(flags.sinkCompute && { compute: flags.sinkCompute }),
  })
