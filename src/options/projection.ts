/** Options of the command line and keys of the file that declare what is taken of the records, of a lake and of an export. */

import { type OptionTable, option } from './entry.ts'
import { commaList, manyOf, plainText, trueOrFalse } from './value-types.ts'

const OF_COMMANDS = { section: 'take', only: 'commands' } as const

/** @param what is done with what is declared */
export const taking = (what: string) =>
  ({
    onlyCountries: option(
      commaList('<codes>'),
      `${what} companies and relations of these countries alone`,
      OF_COMMANDS,
    ),
    where: option(
      plainText('<sql>'),
      `${what} companies alone for which this condition on their columns holds`,
      OF_COMMANDS,
    ),
    whereRelations: option(
      plainText('<sql>'),
      `${what} relations alone for which this condition holds`,
      OF_COMMANDS,
    ),
    leaveOut: option(
      commaList('<names>'),
      `${what} all but these tables and columns (roles, companies.email; persons: all personal data)`,
      OF_COMMANDS,
    ),
    mask: option(
      manyOf(plainText('<name=text>')),
      `${what} this text in place of a column's values (repeatable)`,
      OF_COMMANDS,
    ),
    hash: option(
      commaList('<names>'),
      `${what} hashes in place of these columns' values, with the key of $FIRMLAKE_HASH_KEY`,
      OF_COMMANDS,
    ),
    compute: option(
      manyOf(plainText('<table.column=sql>')),
      `${what} this further column too, computed by SQL from the others (repeatable)`,
      OF_COMMANDS,
    ),
  }) as const satisfies OptionTable

/** Options of the commands that load. */
export const TAKEN_BY_LOADS = {
  ...taking('load'),
  keepBadLines: option(
    trueOrFalse,
    'keep the text of bad lines also where something is left out',
    OF_COMMANDS,
  ),
} as const satisfies OptionTable
