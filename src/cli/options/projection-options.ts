/** Options that declare what is taken of the records, of a lake and of an export. */

import type { Option } from 'commander'
import { computedOf, masksOf, type Projection } from '../../lake/projection/projection.ts'
import { CONVERT } from '../../options/convert.ts'
import type { ValuesOf } from '../../options/entry.ts'
import { TAKEN_BY_LOADS, type taking } from '../../options/projection.ts'
import { optionOf, optionsOf } from '../add-command.ts'

/** Options of a lake and of an export. */
export type ProjectionFlags = ValuesOf<ReturnType<typeof taking>>

export type LakeProjectionFlags = ValuesOf<typeof TAKEN_BY_LOADS> & {
  readonly changeTaken?: boolean | undefined
}

/** The options of the commands that load. */
export const projectionOptions = (): Option[] => [
  ...optionsOf(TAKEN_BY_LOADS).map(([, one]) => one),
  optionOf('changeTaken', CONVERT.changeTaken),
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
