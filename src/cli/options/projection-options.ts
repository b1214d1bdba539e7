/** Options that declare what is taken of the records, of a lake and of an export. */

import { computedOf, masksOf, type Projection } from '../../lake/projection/projection.ts'
import type { ValuesOf } from '../../options/entry.ts'
import type { TAKEN_BY_LOADS, taking } from '../../options/projection.ts'

/** Options of a lake and of an export. */
export type ProjectionFlags = ValuesOf<ReturnType<typeof taking>>

export type LakeProjectionFlags = ValuesOf<typeof TAKEN_BY_LOADS> & {
  readonly changeTaken?: boolean | undefined
}

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
  const strings = { mask: mask && masksOf(mask), compute: compute && computedOf(compute) }
  const take = { countries, where, whereRelations, leaveOut, hash, keepBadLines, ...strings }
  return Object.values(take).every((one) => one === undefined) ? undefined : take
}
