/** Options that declare what is taken of the records, of a lake and of an export. */

import { Option } from 'commander'
import { computedOf, masksOf, type Projection } from '../../lake/projection/projection.ts'
import { repeated } from './options.ts'

/** Options of a lake and of an export. */
export interface ProjectionFlags {
  readonly onlyCountries?: readonly string[]
  readonly where?: string
  readonly whereRelations?: string
  readonly leaveOut?: readonly string[]
  readonly mask?: readonly string[]
  readonly hash?: readonly string[]
  readonly compute?: readonly string[]
}

export interface LakeProjectionFlags extends ProjectionFlags {
  readonly keepBadLines?: boolean
  readonly changeTaken?: true
}

const listed = (value: string, before: readonly string[] = []): readonly string[] => [
  ...before,
  ...value
    .split(',')
    .map((one) => one.trim())
    .filter((one) => one !== ''),
]

/** @param what is done with what is declared */
const declaring = (what: string): Option[] => [
  new Option(
    `--only-countries <codes>`,
    `${what} companies and relations of these countries alone`,
  ).argParser(listed),
  new Option(`--where <sql>`, `${what} companies alone for which this condition on their columns holds`),
  new Option(`--where-relations <sql>`, `${what} relations alone for which this condition holds`),
  new Option(
    `--leave-out <names>`,
    `${what} all but these tables and columns (roles, companies.email; persons: all personal data)`,
  ).argParser(listed),
  new Option(`--mask <name=text>`, `${what} this text in place of a column's values (repeatable)`).argParser(
    repeated,
  ),
  new Option(
    `--hash <names>`,
    `${what} hashes in place of these columns' values, with the key of $FIRMLAKE_HASH_KEY`,
  ).argParser(listed),
  new Option(
    `--compute <table.column=sql>`,
    `${what} this further column too, computed by SQL from the others (repeatable)`,
  ).argParser(repeated),
]

export const exportProjectionOptions = (): Option[] => declaring('write')

/** The options of the commands that load. */
export const projectionOptions = (): Option[] => [
  ...declaring('load'),
  new Option('--keep-bad-lines', 'keep the text of bad lines also where something is left out'),
  new Option('--change-taken', 'take what is declared here, whatever earlier loads of the lake took'),
]

/** The declaration that flags make; `undefined` without one. @throws {ToolkitError} USAGE */
export const projectionOf = (
  flags: ProjectionFlags & Pick<LakeProjectionFlags, 'keepBadLines'>,
): Projection | undefined => {
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
