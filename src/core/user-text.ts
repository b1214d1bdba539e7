/** Small texts that people write: settings, lists of ids, tokens, searches, rules, rates. UTF-8, with or without the mark. */

import { readFile } from 'node:fs/promises'
import { buffer } from 'node:stream/consumers'
import { ToolkitError } from './errors.ts'

/** How a text begins that is UTF-16, by its mark or by a letter of ASCII. */
const UTF16 = /^(\u00ff\u00fe|\u00fe\u00ff|[^\0]\0[^\0]\0|\0[^\0]\0[^\0])/s

const formOf = (bytes: Uint8Array): string => {
  const head = Buffer.from(bytes.subarray(0, 4)).toString('latin1')
  if (UTF16.test(head)) return 'it is UTF-16'
  return bytes.includes(0) ? 'it holds NUL bytes' : 'it holds bytes that are no UTF-8'
}

/**
 * The text that bytes spell, without a byte order mark.
 *
 * @param name of the file, for the message
 * @throws {ToolkitError} `TEXT_NOT_UTF8`
 */
export const decodeUserText = (bytes: Uint8Array, name: string): string => {
  try {
    const text = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
    if (!text.includes('\0')) return text
  } catch {
    // The reason follows below.
  }
  throw new ToolkitError(
    'TEXT_NOT_UTF8',
    `Cannot read "${name}": ${formOf(bytes)}, expected UTF-8; save it anew, or convert it with iconv`,
    { path: name },
  )
}

/** A file of such a text. @throws {ToolkitError} `TEXT_NOT_UTF8`; the system's error where it cannot be read */
export const readUserText = async (path: string): Promise<string> =>
  decodeUserText(await readFile(path), path)

/** The same of standard input. @throws {ToolkitError} `TEXT_NOT_UTF8` */
export const readStdinText = async (): Promise<string> =>
  decodeUserText(await buffer(process.stdin), 'standard input')
