/** Versions of a lake that are as of another instant than the lists of versions say. */

import type { Content } from '../contract/objects.ts'
import { literal } from '../lake/duckdb/sql.ts'

/** Records of a version that are as of another instant than it says. */
export interface MovedVersion {
  readonly version: number
  readonly content: Content
  readonly from: string
  readonly to: string
}

/** The instant of a version in SQL, where some are moved. */
export const movedAsOf = (moved: readonly MovedVersion[]): string => {
  const cases = moved.map(
    ({ version, from, to }) =>
      `WHEN version = ${version} AND as_of = TIMESTAMPTZ ${literal(from)} THEN TIMESTAMPTZ ${literal(to)}`,
  )
  return cases.length === 0 ? 'as_of' : `CASE ${cases.join(' ')} ELSE as_of END`
}
