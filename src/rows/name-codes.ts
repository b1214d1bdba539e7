/**
 * Codes of names in the columns of a block: a name's place in its set; where the set had no room for it, its place in
 * the block's bytes. So columns hold no texts, however many names there are.
 */

import type { Names } from '../lake/duckdb/column-tables.ts'
import { JSON_BYTES } from '../support/json-bytes.ts'
import { enumNames, type NameSets } from './seen-sets.ts'

const { QUOTE, BACKSLASH } = JSON_BYTES

export const NO_NAME = -1
const FIRST_POSITION = -2

export const codeOfPosition = (position: number): number => FIRST_POSITION - position

/** What the codes of a set stand for in a block. */
export const namesOf = (set: NameSets[keyof NameSets], bytes: Buffer): Names => ({
  values: enumNames(set),
  textOf: (code) => (code >= 0 ? (set.names[code] ?? '') : textAt(bytes, FIRST_POSITION - code)),
})

/** The text that begins at `start`, behind its quote. */
const textAt = (bytes: Buffer, start: number): string => {
  let end = start
  while (end < bytes.length && bytes[end] !== QUOTE) end += bytes[end] === BACKSLASH ? 2 : 1
  const written = bytes.toString('utf8', start, end)
  return written.includes('\\') ? String(JSON.parse(`"${written}"`)) : written
}
