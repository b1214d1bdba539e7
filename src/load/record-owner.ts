/** The company that a parsed line is of. Pure. */

import type { Content } from '../contract/objects.ts'
import { memberOf } from '../support/json-form.ts'
import { idAt } from './without-entities.ts'

/** JSON that may be none: `undefined` then. */
export const parsedRecord = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const idOf = (value: unknown): bigint | undefined => {
  const text = Buffer.from(String(value))
  return typeof value === 'number' || typeof value === 'string' ? idAt(text, 0, text.length) : undefined
}

/** Its InternalId, where it says so as it should. */
export const ownerOf = (content: Content, record: unknown): bigint | undefined =>
  content === 'relations'
    ? idOf(memberOf(record, 'InternalId'))
    : (idOf(memberOf(memberOf(record, 'BasicDetails'), 'InternalId')) ??
      idOf(memberOf(memberOf(record, 'MinifiedInfo'), 'InternalId')))
