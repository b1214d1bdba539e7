/** Reads small JSON files of settings. A file's own text is never quoted, since it may hold tokens. */

import { type ErrorCode, readReason, ToolkitError } from '../../core/errors.ts'
import { readUserText } from '../../core/user-text.ts'
import { FormError } from '../../support/json-form.ts'

/** Reads and decodes a file. @throws {ToolkitError} `code`, naming the file and the place; `TEXT_NOT_UTF8` */
export const readStrictJson = async <T>(
  path: string,
  code: ErrorCode,
  decode: (document: unknown) => T,
): Promise<T> => {
  const refuse = (problem: string): ToolkitError =>
    new ToolkitError(code, `Cannot read "${path}": ${problem}`, { path })
  let text: string
  try {
    text = await readUserText(path)
  } catch (error) {
    if (error instanceof ToolkitError) throw error
    throw refuse(readReason(error))
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
