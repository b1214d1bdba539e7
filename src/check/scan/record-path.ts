/** The path in a record at which the checker stands, for the reasons of rejections; the check of numbers, which have to be finite. */

import { type JsonScan, notFinite, Rejection } from './json-scan.ts'

export class RecordPath {
  /** Names of objects and places in lists, from the record down. */
  readonly parts: (string | number)[] = []

  clear(): void {
    this.parts.length = 0
  }

  push(name: string | number): void {
    this.parts.push(name)
  }

  pop(): void {
    this.parts.pop()
  }

  /** `Parents[3].Name`: a member of where the checker stands. */
  where(...names: readonly (string | number)[]): string {
    return [...this.parts, ...names]
      .map((part) => (typeof part === 'number' ? `[${part}]` : part))
      .join('.')
      .replaceAll('.[', '[')
  }
}

export const wrongShape = (where: string, expected: string, found: string): Rejection =>
  found === 'not-finite'
    ? notFinite(where)
    : new Rejection('WRONG_SHAPE', `${where} is ${ARTICLE[found] ?? found}, expected ${expected}`)
const ARTICLE: Readonly<Record<string, string>> = {
  object: 'an object',
  list: 'a list',
  number: 'a number',
  boolean: 'a boolean',
}

/**
 * Steps over a finite number; in quotes it is read as the number.
 * @returns as `JsonScan.skipNumber`
 * @throws {Rejection} NOT_JSON, NOT_A_NUMBER, NOT_FINITE, WRONG_SHAPE, ID_NOT_WHOLE
 */
export const checkNumber = (
  scan: JsonScan,
  path: RecordPath,
  name: string,
): 'whole' | 'decimal' | 'check' => {
  const token = scan.token()
  if (token === 'text') return checkQuoted(scan, path, name)
  if (token === 'not-finite') throw notFinite(path.where(name))
  if (token === 'boolean') throw notANumber(path, name, 'a boolean')
  if (token !== 'number') throw wrongShape(path.where(name), 'a number', token)
  const start = scan.at
  const form = scan.skipNumber()
  if (form === 'check' && !scan.isFinite(start)) throw notFinite(path.where(name))
  return form
}

const checkQuoted = (scan: JsonScan, path: RecordPath, name: string): 'whole' | 'check' => {
  const start = scan.at
  const escaped = scan.skipText()
  const written = scan.buffer.toString('latin1', start + 1, scan.at - 1)
  if (escaped || !/^-?(0|[1-9]\d*)(\.\d+)?([eE][+-]?\d+)?$/.test(written))
    throw notANumber(path, name, 'text')
  if (!Number.isFinite(Number(written))) throw notFinite(path.where(name))
  return /^-?\d+$/.test(written) ? 'whole' : 'check'
}

const notANumber = (path: RecordPath, name: string, what: string): Rejection =>
  new Rejection(
    name === 'InternalId' ? 'ID_NOT_WHOLE' : 'NOT_A_NUMBER',
    `${path.where(name)} is ${what}, not a number`,
  )
