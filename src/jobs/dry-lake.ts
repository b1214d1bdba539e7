/** A dry run: a load into a lake that begins as the one that is meant, in a temporary folder, and how the two differ. */

import { queryMemory } from '../core/memory-shares.ts'
import { newSpillFolder } from '../lake/duckdb/database-files.ts'
import { mayHoldRun } from '../manifest/form/part-summary.ts'
import { knownByBytes } from '../manifest/form/sources.ts'
import { listOf, readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { rootIfAny } from '../manifest/snapshots/snapshots.ts'
import type { WouldChange } from '../run/run-report.ts'
import { openOverlay } from '../storage/open-storage.ts'

export interface DryLake {
  /** Takes its place in this process. */
  readonly lake: string
  readonly changes: (machine: Machine) => Promise<WouldChange>
  readonly close: () => void
}

interface Machine {
  readonly memoryBytes?: number | undefined
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
}

/** Counts the companies of a country that stand in no file of a run; of the windows of a service its listing says it. */
const notAmong = async (lake: string, root: SnapshotRoot, machine: Machine): Promise<number> => {
  const { run } = root
  const own = (await listOf(lake, root, 'partitions', mayHoldRun(run))).filter((one) => one.run === run)
  if (own.length === 0 || !own.every(({ source }) => knownByBytes(source))) return 0
  const { query } = await import('./query.ts')
  const { memoryBytes, threads, signal } = machine
  const [row] = await query<{ companies: number }>({
    ...{ lake, memoryBytes, threads, signal },
    sql: `WITH came AS (SELECT internal_id, country_code FROM companies_history WHERE run = '${run}')
SELECT count(*)::INTEGER AS companies FROM companies
WHERE coalesce(country_code, '') IN (SELECT coalesce(country_code, '') FROM came)
  AND internal_id NOT IN (SELECT internal_id FROM came)`,
  })
  return row?.companies ?? 0
}

/** @param over the lake that stays as it is */
export const openDryLake = async (over: string): Promise<DryLake> => {
  const folder = await newSpillFolder()
  const lake = `${over} (dry run)`
  const forget = await openOverlay(lake, over, folder.path)
  const before = await rootIfAny(over)
  return {
    lake,
    changes: async (machine) => {
      const { memoryBytes, threads, signal } = machine
      const root = await rootIfAny(lake)
      if (root === null || root.snapshot === before?.snapshot) return { snapshot: null, more: 0 }
      const { openComparison } = await import('../lake/diff/open-comparison.ts')
      const found = { snapshot: root.snapshot, more: await notAmong(lake, root, machine) }
      if (before === null) return found
      const [from, to] = [await readAllListed(over, before), await readAllListed(lake, root)]
      const compared = await openComparison({
        ...{ lake, from, to, threads, signal, memoryBytes: queryMemory(memoryBytes) },
      })
      try {
        return { ...found, changes: compared.summary }
      } finally {
        compared.close()
      }
    },
    close: () => {
      forget()
      folder.remove()
    },
  }
}
