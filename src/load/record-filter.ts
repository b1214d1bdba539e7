/**
 * Which records of a part are loaded. A record that is left out counts as filtered: none of its rows is written, and
 * nothing of it is kept elsewhere.
 */

import type { Content } from '../contract/objects.ts'
import type { Engine } from '../lake/duckdb/engine.ts'
import type { CheckedPart } from './check-block.ts'

export interface PartToFilter {
  readonly engine: Engine
  readonly content: Content
  readonly part: CheckedPart
  /** The block's bytes. */
  readonly bytes: Buffer
}

/**
 * The numbers of the records that stay, ascending. The same part has to give the same ones each time: a resumed run does
 * not ask again for what is finished.
 */
export type RecordFilter = (part: PartToFilter) => Promise<readonly number[]>

/** Keeps the records whose InternalId passes. */
export const filterById =
  (passes: (id: bigint, content: Content) => boolean): RecordFilter =>
  async ({ part: { rows, members }, content }) =>
    members.filter((record) => passes(rows.id[record]!, content))
