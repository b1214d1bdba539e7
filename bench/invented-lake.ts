/** A lake with any number of partitions in its manifest and no data: what a commit and the commands cost that read it. */

import { randomBytes } from 'node:crypto'
import { extendList, PartWriter } from '../src/commit/extend-list.ts'
import type { CommittedPartition, FileEntry } from '../src/core/partition.ts'
import { loadPath } from '../src/lake/files/layout.ts'
import { addTotals, NO_TOTALS, totalsOf } from '../src/manifest/form/totals.ts'
import { makeLake } from '../src/manifest/runs/runs.ts'
import type { SnapshotRoot } from '../src/manifest/snapshots/snapshot-root.ts'
import { createSnapshot, ensureRecord } from '../src/manifest/snapshots/snapshots.ts'
import { sha256Of } from '../src/support/hash.ts'
import { newRunId } from '../src/support/run-ids.ts'

const TABLES = ['companies', 'financials', 'employees'] as const
const LINES = 10_000
/** Partitions that a run has made. */
const PARTITIONS_OF_RUN = 1000
const DAY_MS = 86_400_000
const FIRST_MS = Date.UTC(2020, 0, 1)

/** A partition like those of a conversion: the whole of a file, about 1.3 kB in the manifest. */
export const inventedPartition = (
  run: string,
  number: number,
  files: readonly FileEntry[],
): CommittedPartition => {
  const day = new Date(FIRST_MS + number * 60_000).toISOString()
  return {
    id: `batch-${String(number).padStart(7, '0')}-0`,
    run,
    content: 'companies',
    asOf: day,
    source: {
      kind: 'file',
      name: `batches/batch-${String(number).padStart(7, '0')}.jsonl.br`,
      bytes: 2_000_000 + number,
      sha256: sha256Of(`source ${number}`),
      block: 0,
      firstLine: 1,
      offset: 0,
      last: true,
    },
    range: { field: 'ContentUpdatedAt', requested: null, observed: { least: day, greatest: day } },
    counts: {
      ...{ lines: LINES, records: LINES, quarantined: 0 },
      rows: Object.fromEntries(files.map(({ table, rows }) => [table, rows])),
    },
    files,
    drift: [],
    committed: { snapshot: 1, time: day },
    version: number + 1,
  }
}

const inventedFiles = (run: string, number: number): readonly FileEntry[] =>
  TABLES.map((table) => ({
    table,
    path: `${loadPath(table, run)}/batch-${String(number).padStart(7, '0')}-0.parquet`,
    rows: LINES,
    bytes: 1_000_000 + number,
    sha256: sha256Of(`${table} ${number}`),
  }))

/** Writes one snapshot that lists so many partitions, of a run for each thousand. */
export const makeInventedLake = async (lake: string, partitions: number): Promise<void> => {
  await makeLake(lake)
  const last = newRunId(new Date(FIRST_MS + Math.ceil(partitions / PARTITIONS_OF_RUN) * DAY_MS), randomBytes)
  const writer = new PartWriter({ lake, run: last }, randomBytes)
  let lists: SnapshotRoot['lists'] = { partitions: [], files: [], pulls: [], merged: [], checks: [] }
  let totals = NO_TOTALS
  for (let from = 0; from < partitions; from += PARTITIONS_OF_RUN) {
    const run = newRunId(new Date(FIRST_MS + (from / PARTITIONS_OF_RUN) * DAY_MS), randomBytes)
    const count = Math.min(PARTITIONS_OF_RUN, partitions - from)
    const own = Array.from({ length: count }, (_, at) =>
      inventedPartition(run, from + at, inventedFiles(run, from + at)),
    )
    totals = addTotals(totals, totalsOf({ partitions: own, files: [] }), () => 0)
    lists = { ...lists, partitions: await extendList(writer, 'partitions', lists.partitions, own) }
  }
  const head = { snapshot: 1, parent: null, run: last, pipeline: 'convert', tool: 'firmlake bench' }
  await createSnapshot(lake, {
    ...head,
    time: new Date(FIRST_MS).toISOString(),
    totals,
    lists,
    versions: [],
    nextVersion: partitions + 5,
  })
  await ensureRecord(lake, 1)
}
