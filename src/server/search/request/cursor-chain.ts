/** One step of a cursor chain: what a request's Cursor means, and which page and token follow from it. */

import { FIRST_CURSOR } from '../../../contract/limits.ts'
import type { Content } from '../../../contract/objects.ts'
import type { Caller } from '../../access/caller.ts'
import type { SearchParts } from '../shared/answer.ts'
import { type ChainPosition, makeCursor, readCursor } from './cursor.ts'
import type { ExactObject } from './exact-json.ts'
import { areValues } from './read-filters.ts'

/** What a cursor belongs to: used with anything else, it does not verify. */
export const bindingOf = (
  content: Content,
  { index }: SearchParts,
  caller: Caller,
  parameters: Readonly<ExactObject>,
  options: readonly (string | number)[],
): string => {
  const folded = Object.entries(parameters)
    .filter(([, values]) => values !== null)
    // No cursor is made for values of another form, and nested thousands deep they could not be written.
    .map(([name, values]): readonly [string, unknown] => [
      name.toLowerCase(),
      areValues(values) ? values : null,
    ])
    .toSorted(([a], [b]) => (a < b ? -1 : a > b ? 1 : 0))
  const { snapshot, snapshotSha256 } = index.description
  return JSON.stringify([content, snapshot, snapshotSha256, caller.name, options, folded])
}

export type ChainStep =
  /** `after` is `null` for the first page. */
  | { readonly kind: 'go on'; readonly after: ChainPosition | null }
  | { readonly kind: 'invalid' }
  | { readonly kind: 'cap reached' }

export const chainStep = (
  { cursorKey, cursorCap }: SearchParts,
  binding: string,
  cursor: string,
): ChainStep => {
  if (cursor === FIRST_CURSOR) return { kind: 'go on', after: null }
  const after = readCursor(cursorKey, binding, cursor)
  if (after === undefined) return { kind: 'invalid' }
  return after.delivered >= cursorCap ? { kind: 'cap reached' } : { kind: 'go on', after }
}

/** Records that the next page may hold: the page that would pass the cap ends at it. */
export const pageLimit = (
  { cursorCap }: SearchParts,
  pageSize: number,
  after: ChainPosition | null,
): number => Math.max(0, Math.min(pageSize, cursorCap - (after?.delivered ?? 0)))

/**
 * Divides the rows found, one more than the page may hold, into the page and the token for the next one: `null` where
 * this page is the last.
 */
export const cutPage = <T>(
  { cursorKey }: SearchParts,
  binding: string,
  after: ChainPosition | null,
  limit: number,
  rows: readonly T[],
  idOf: (row: T) => bigint,
): { readonly page: readonly T[]; readonly cursor: string | null } => {
  const page = rows.slice(0, limit)
  const last = page.at(-1)
  if (rows.length <= limit || last === undefined) return { page, cursor: null }
  const delivered = (after?.delivered ?? 0) + page.length
  return { page, cursor: makeCursor(cursorKey, binding, { lastId: idOf(last), delivered }) }
}
