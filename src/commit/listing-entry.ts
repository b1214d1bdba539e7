/** How the manifest records companies that a listing no longer had. */

import type { FileEntry, PartitionEntry } from '../core/partition.ts'
import { LISTINGS } from '../lake/tables/tables.ts'

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
    rows: { [LISTINGS.name]: files.reduce((sum, { rows }) => sum + rows, 0) },
  },
  files,
  drift: [],
})
