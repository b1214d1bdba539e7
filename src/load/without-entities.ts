/** Takes entities out of the text of a relations record, with all that hangs on them. Everything else stays as it came. */

import { JSON_BYTES, skipSpace } from '../support/json-bytes.ts'
import { behindValue, membersAt } from './json-members.ts'

const { COMMA, OPEN_BRACKET, OPEN_BRACE, CLOSE_BRACKET } = JSON_BYTES

/** Lists of entities: those of a record, and that of an entity. */
const RECORD_LISTS: ReadonlySet<string> = new Set(['Parents', 'Children'])
const ENTITY_LISTS: ReadonlySet<string> = new Set(['History'])

export type IsForgotten = (id: bigint) => boolean

/** An id as JSON has it, in quotes or not; `undefined` for what is none. */
export const idAt = (json: Buffer, from: number, to: number): bigint | undefined => {
  const text = json.toString('latin1', from, to)
  const [, digits] = /^"?(-?\d+)(?:\.0+)?"?$/.exec(text) ?? []
  if (digits !== undefined) return BigInt(digits)
  const value = /^-?\d+(?:\.\d+)?[eE][-+]?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

/** Where the values of the list that begins at a place stand. */
const elementsAt = (json: Buffer, from: number): readonly (readonly [from: number, to: number])[] => {
  const elements: (readonly [number, number])[] = []
  for (let at = skipSpace(json, from + 1); at < json.length && json[at] !== CLOSE_BRACKET; ) {
    const to = behindValue(json, at)
    elements.push([at, to])
    const next = skipSpace(json, to)
    at = json[next] === COMMA ? skipSpace(json, next + 1) : next
  }
  return elements
}

const isForgottenAt = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  membersAt(json, from).some(({ name, valueFrom, to }) => {
    const id = name === 'InternalId' ? idAt(json, valueFrom, to) : undefined
    return id !== undefined && isForgotten(id)
  })

const listText = (json: Buffer, from: number, isForgotten: IsForgotten): string =>
  `[${elementsAt(json, from)
    .filter(([at]) => json[at] !== OPEN_BRACE || !isForgottenAt(json, at, isForgotten))
    .map(([at, to]) =>
      json[at] === OPEN_BRACE
        ? objectText(json, at, ENTITY_LISTS, isForgotten)
        : json.toString('utf8', at, to),
    )
    .join()}]`

const objectText = (
  json: Buffer,
  from: number,
  lists: ReadonlySet<string>,
  isForgotten: IsForgotten,
): string =>
  `{${membersAt(json, from)
    .map(({ name, from: at, valueFrom, to }) =>
      lists.has(name) && json[valueFrom] === OPEN_BRACKET
        ? `${JSON.stringify(name)}:${listText(json, valueFrom, isForgotten)}`
        : json.toString('utf8', at, to),
    )
    .join()}}`

/**
 * @param text a relations record in sound JSON
 * @returns the record without the entities of some ids, at any depth of histories
 */
export const withoutEntities = (text: string, isForgotten: IsForgotten): string => {
  const json = Buffer.from(text)
  const from = skipSpace(json, 0)
  return json[from] === OPEN_BRACE ? objectText(json, from, RECORD_LISTS, isForgotten) : text
}
