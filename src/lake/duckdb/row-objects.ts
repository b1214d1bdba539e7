/** Which lists of the contract become rows of a table of their own; all other lists stay columns. */

import type { ObjectType } from '../../contract/fields.ts'
import { BENEFICIAL_OWNERSHIP, OWNERSHIP, RELATION, ROLE } from '../../contract/objects.ts'

const ROW_OBJECTS: ReadonlySet<ObjectType> = new Set([RELATION, OWNERSHIP, BENEFICIAL_OWNERSHIP, ROLE])

/**
 * Key in the `extra` column of relations below which the record's own members stand whose names begin with `/`:
 * all other keys that begin so point to rows.
 */
export const POINTER_LIKE = '/'

export const hasOwnTable = (object: ObjectType): boolean => ROW_OBJECTS.has(object)
