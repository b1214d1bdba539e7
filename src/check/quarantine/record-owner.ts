/** The company that a line is of. Pure. */

import type { Content } from '../../contract/objects.ts'
import { type JsonMember, membersAt, skipSpace } from '../../support/json-bytes.ts'
import { idAt } from './without-entities.ts'

/** JSON that may be none: `undefined` then. */
export const parsedRecord = (text: string): unknown => {
  try {
    return JSON.parse(text)
  } catch {
    return undefined
  }
}

const idIn = (members: readonly JsonMember[]): bigint | undefined => {
  const member = members.findLast(({ name }) => name === 'InternalId')
  return member && idAt(member.json, member.valueFrom, member.to)
}

/** Its InternalId, where it says so as it should. Read from its bytes: a number of JavaScript rounds. @param text sound JSON */
export const ownerOf = (content: Content, text: string): bigint | undefined => {
  const json = Buffer.from(text)
  const members = membersAt(json, skipSpace(json, 0))
  if (content === 'relations') return idIn(members)
  const within = (object: string): bigint | undefined => {
    const member = members.findLast(({ name }) => name === object)
    return member && idIn(membersAt(json, member.valueFrom))
  }
  return within('BasicDetails') ?? within('MinifiedInfo')
}
