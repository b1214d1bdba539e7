/**
 * Reads a small JSON file of settings strictly: unknown and missing fields are errors that name their place. The
 * file's own text is never quoted, since it may hold tokens.
 */

import { readFile } from 'node:fs/promises'
import { type ErrorCode, systemCode, ToolkitError } from '../core/errors.ts'

/** A value that is not what is wanted, by its place in the document. */
export class FormError extends Error {
  readonly place: string
  constructor(place: string, wanted: string) {
    super(`${place}: expected ${wanted}`)
    this.place = place
  }
}

export type Fields = Readonly<Record<string, unknown>>

const isFields = (value: unknown): value is Fields =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object, of the given fields only where they are named. @throws {FormError} */
export const objectAt = (place: string, value: unknown, names?: readonly string[]): Fields => {
  if (!isFields(value)) throw new FormError(place, 'an object')
  const unknown = names && Object.keys(value).findIndex((name) => !names.includes(name))
  // By its number: a token pasted in the wrong place may have become a field's name.
  if (unknown !== undefined && unknown >= 0)
    throw new FormError(`${place}, field ${unknown + 1}`, `one of ${names?.join(', ')}`)
  return value
}

/** A list with something in it. @throws {FormError} */
export const listAt = (place: string, value: unknown): readonly unknown[] => {
  if (Array.isArray(value) && value.length > 0) return value
  throw new FormError(place, 'a list with at least one entry')
}

/** A text of a form. @throws {FormError} */
export const textAt = (place: string, value: unknown, form: RegExp, wanted: string): string => {
  if (typeof value === 'string' && form.test(value)) return value
  throw new FormError(place, wanted)
}

/** A number above 0, whole where asked for. @throws {FormError} */
export const positiveAt = (place: string, value: unknown, { whole = false } = {}): number => {
  const fits = typeof value === 'number' && Number.isFinite(value) && value > 0
  if (fits && (!whole || Number.isSafeInteger(value))) return value
  throw new FormError(place, whole ? 'a whole number from 1' : 'a number above 0')
}

/** One of a closed set. @throws {FormError} */
export const memberAt = <T extends string>(place: string, value: unknown, set: readonly T[]): T => {
  const found = set.find((one) => one === value)
  if (found !== undefined) return found
  throw new FormError(place, `one of ${set.map((one) => `"${one}"`).join(', ')}`)
}

/** Reads and decodes a file. @throws {ToolkitError} `code`, naming the file and the place */
export const readStrictJson = async <T>(
  path: string,
  code: ErrorCode,
  decode: (document: unknown) => T,
): Promise<T> => {
  const refuse = (problem: string): ToolkitError =>
    new ToolkitError(code, `Cannot read "${path}": ${problem}`, { path })
  let text: string
  try {
    text = await readFile(path, 'utf8')
  } catch (error) {
    throw refuse(systemCode(error) ?? 'the file cannot be opened')
  }
  let document: unknown
  try {
    document = JSON.parse(text)
  } catch {
    // Without the parser's own words: they quote the text.
    throw refuse('it is no JSON, expected one JSON object')
  }
  try {
    return decode(document)
  } catch (error) {
    throw error instanceof FormError ? refuse(error.message) : error
  }
}
