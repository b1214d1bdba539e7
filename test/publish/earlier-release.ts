/** Publications as an earlier release made them: tables of all versions with fewer partition columns. */

import type { Column } from '../../src/lake/tables/columns.ts'
import { EARLIER_PARTITION_COLUMNS, PARTITION_COLUMNS } from '../../src/publish/partition-columns.ts'

/** Runs some work in which the columns are those of an earlier release. Nothing else may publish meanwhile. */
export const asEarlierRelease = async <T>(work: () => Promise<T>): Promise<T> => {
  const columns = PARTITION_COLUMNS as Column[]
  const later = columns.splice(EARLIER_PARTITION_COLUMNS.length)
  try {
    return await work()
  } finally {
    columns.push(...later)
  }
}
