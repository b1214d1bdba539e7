/** How the manifest records companies that a listing no longer had. */

import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import { LISTINGS } from '../lake/tables/tables.ts'
import { sumOf } from '../manifest/form/totals.ts'
import type { GoneCompanies } from './commit-summary.ts'

/** A partition without records. @param name the search, in words */
export const listingEntry = (
  run: string,
  name: string,
  asOf: string,
  files: readonly FileEntry[],
): PartitionEntry => ({
  id: LISTINGS.name,
  run,
  content: LISTINGS.content,
  source: {
    ...{ kind: 'listing', name, bytes: 0, sha256: files[0]?.sha256 ?? '' },
    ...{ block: 0, firstLine: 1, offset: 0, last: true },
  },
  asOf,
  range: { field: 'ContentUpdatedAt', requested: null, observed: null },
  counts: {
    ...{ lines: 0, records: 0, quarantined: 0 },
    rows: { [LISTINGS.name]: sumOf(files, ({ rows }) => rows) },
  },
  files,
  drift: [],
})

/** The companies that such entries mark, by search: a listing has rows of no other table. */
export const markedIn = (entries: readonly PartitionEntry[]): readonly GoneCompanies[] =>
  entries.flatMap(({ source, counts }) => {
    const marked = counts.rows[LISTINGS.name]
    return marked === undefined ? [] : [{ search: source.name, marked }]
  })
