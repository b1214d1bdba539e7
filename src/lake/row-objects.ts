/** Which lists of the contract become rows of a table of their own; all other lists stay columns. */

import type { ObjectType } from '../contract/fields.ts'
import { BENEFICIAL_OWNERSHIP, OWNERSHIP, RELATION, ROLE } from '../contract/objects.ts'

const ROW_OBJECTS: ReadonlySet<ObjectType> = new Set([RELATION, OWNERSHIP, BENEFICIAL_OWNERSHIP, ROLE])

export const hasOwnTable = (object: ObjectType): boolean => ROW_OBJECTS.has(object)
