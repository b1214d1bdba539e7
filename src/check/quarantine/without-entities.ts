/** Takes entities out of the text of a record, with all that hangs on them. Everything else stays as it came. */

import { elementsAt, JSON_BYTES, membersAt, skipSpace } from '../../support/json-bytes.ts'

const { OPEN_BRACKET, OPEN_BRACE } = JSON_BYTES

export type IsForgotten = (id: bigint) => boolean

/** An id as JSON has it, in quotes or not; `undefined` for what is none. */
export const idAt = (json: Buffer, from: number, to: number): bigint | undefined => {
  const text = json.toString('latin1', from, to)
  const [, digits] = /^"?(-?\d+)(?:\.0+)?"?$/.exec(text) ?? []
  if (digits !== undefined) return BigInt(digits)
  const value = /^-?\d+(?:\.\d+)?[eE][-+]?\d+$/.test(text) ? Number(text) : Number.NaN
  return Number.isSafeInteger(value) ? BigInt(value) : undefined
}

const isForgottenAt = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  membersAt(json, from).some(({ name, valueFrom, to }) => {
    const id = name === 'InternalId' ? idAt(json, valueFrom, to) : undefined
    return id !== undefined && isForgotten(id)
  })

/** Whether a member or element is an object of theirs. */
const isTheirs = (json: Buffer, from: number, isForgotten: IsForgotten): boolean =>
  json[from] === OPEN_BRACE && isForgottenAt(json, from, isForgotten)

const listText = (json: Buffer, from: number, isForgotten: IsForgotten): string =>
  `[${elementsAt(json, from)
    .filter(([at]) => !isTheirs(json, at, isForgotten))
    .map(([at, to]) => valueText(json, at, to, isForgotten))
    .join()}]`

const objectText = (json: Buffer, from: number, isForgotten: IsForgotten): string =>
  `{${membersAt(json, from)
    .filter(({ valueFrom }) => !isTheirs(json, valueFrom, isForgotten))
    .map(({ name, from: at, valueFrom, to }) =>
      json[valueFrom] === OPEN_BRACE || json[valueFrom] === OPEN_BRACKET
        ? `${JSON.stringify(name)}:${valueText(json, valueFrom, to, isForgotten)}`
        : json.toString('utf8', at, to),
    )
    .join()}}`

const valueText = (json: Buffer, from: number, to: number, isForgotten: IsForgotten): string =>
  json[from] === OPEN_BRACE
    ? objectText(json, from, isForgotten)
    : json[from] === OPEN_BRACKET
      ? listText(json, from, isForgotten)
      : json.toString('utf8', from, to)

/**
 * @param text a record of others, in sound JSON
 * @returns the record without objects that have the InternalId of some ids, at any depth: entities of relations, those of
 *   histories, and such as stand in fields that the contract does not know
 */
export const withoutEntities = (text: string, isForgotten: IsForgotten): string => {
  const json = Buffer.from(text)
  const from = skipSpace(json, 0)
  return json[from] === OPEN_BRACE ? objectText(json, from, isForgotten) : text
}
