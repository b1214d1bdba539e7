/** Where in a record the checker stands, for the reasons of what it refuses. */

import { notFinite, Rejection } from './json-scan.ts'

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
