/** Runs of invented partitions, staged as a pipeline stages them. Knows nothing of vitest: children use it too. */

import { randomBytes } from 'node:crypto'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { basename, dirname } from 'node:path'
import { type CommitOutcome, type CommitRequest, commitPartitions } from '../../src/commit/commit-run.ts'
import type { Content } from '../../src/contract/objects.ts'
import type { FileEntry, PartitionEntry } from '../../src/core/partition.ts'
import { inLake, loadPath, stagingPath } from '../../src/lake/files/layout.ts'
import { openJournal } from '../../src/manifest/runs/journal.ts'
import type { JournalEntry } from '../../src/manifest/runs/journal-lines.ts'
import { type RunLease, releaseRun } from '../../src/manifest/runs/run-lease.ts'
import { createRun, removeRun } from '../../src/manifest/runs/runs.ts'
import { storageOf } from '../../src/storage/open-storage.ts'
import { sha256Of } from '../../src/support/hash.ts'
import { type ProcessIdentity, thisProcess } from '../../src/support/process-identity.ts'

/** A process that cannot be alive: pids end far below. */
export const DEAD: ProcessIdentity = { ...thisProcess(), pid: 2 ** 30, started: '1' }

export const NOW = new Date('2026-11-21T09:45:00.000Z')

/** What `countRows` is for these tests: rows are lines. */
export const countLines = async (_table: string, path: string): Promise<number> =>
  (await readFile(path, 'latin1')).split('\n').length - 1

export interface Staged {
  readonly lease: RunLease
  readonly entries: readonly JournalEntry[]
  readonly runFiles: readonly FileEntry[]
}

/** Where a file stands until its sink puts it into place. */
export const stagedPath = ({ lake, run }: RunLease, { table, path }: FileEntry): string =>
  inLake(lake, `${stagingPath(run)}/${table}/${basename(path)}`)

const stageFile = async (
  lease: RunLease,
  table: string,
  name: string,
  rows: readonly string[],
): Promise<FileEntry> => {
  const text = rows.map((row) => `${row}\n`).join('')
  const path = `${loadPath(table, lease.run)}/${name}`
  const file = { table, path, rows: rows.length, bytes: text.length, sha256: sha256Of(text) }
  const staged = stagedPath(lease, file)
  await mkdir(dirname(staged), { recursive: true })
  await writeFile(staged, text)
  return file
}

/** One partition: the whole of a source, two good lines and a bad one. */
export const stagePartition = async (
  lease: RunLease,
  source: string,
  content: Content,
): Promise<JournalEntry> => {
  const id = `${source}-0`
  const good = await stageFile(lease, content, `${id}.parquet`, [`${source} one`, `${source} two`])
  const bad = await stageFile(lease, 'quarantine', `${id}.jsonl`, [JSON.stringify({ source })])
  const partition: PartitionEntry = {
    id,
    run: lease.run,
    content,
    source: {
      kind: 'file',
      name: `${source}.jsonl`,
      bytes: 100,
      sha256: sha256Of(source),
      block: 0,
      firstLine: 1,
      offset: 0,
      last: true,
    },
    range: { field: 'ContentUpdatedAt', requested: null, observed: null },
    counts: { lines: 3, records: 2, quarantined: 1, rows: { [content]: 2 } },
    files: [good, bad],
    drift: [],
  }
  return { partition, layers: 1, unknownItems: { items: [], more: false } }
}

/** Begins a run that stages and journals a partition for each source. */
export const stageRun = async (
  lake: string,
  sources: readonly string[],
  process: ProcessIdentity = thisProcess(),
): Promise<Staged> => {
  const lease = await createRun({ lake, plan: { sources }, now: new Date(), random: randomBytes, process })
  const entries: JournalEntry[] = []
  const journal = await openJournal(lease)
  for (const source of sources) {
    const entry = await stagePartition(lease, source, 'companies')
    await journal.append(entry)
    entries.push(entry)
  }
  await journal.close()
  const items = await stageFile(lease, 'line_items', 'line_items.parquet', ['NetSales', 'EBITDA'])
  return { lease, entries, runFiles: [items] }
}

export const requestOf = ({ lease, entries, runFiles }: Staged): CommitRequest => ({
  lease,
  pipeline: 'convert',
  tool: 'firmlake 0.1.0',
  partitions: entries.map(({ partition }) => partition),
  runFiles,
  // Its files are no Parquet: no list of versions.
  rules: [],
  now: () => NOW,
  random: randomBytes,
})

/** Puts staged files into place as a sink does, all or the first few; what an earlier try has moved is fine. */
export const placeStaged = async (
  { lease, entries, runFiles }: Staged,
  count = Number.POSITIVE_INFINITY,
): Promise<void> => {
  const files = [...entries.flatMap(({ partition }) => partition.files), ...runFiles].slice(0, count)
  await storageOf(lease.lake).publish(files.map((file) => ({ from: stagedPath(lease, file), to: file.path })))
}

export const commitStaged = async (
  staged: Staged,
  more: Partial<CommitRequest> = {},
): Promise<CommitOutcome> => {
  await placeStaged(staged)
  return commitPartitions({ ...requestOf(staged), ...more })
}

/** A whole run: stages, commits and ends it. */
export const loadSources = async (lake: string, sources: readonly string[]): Promise<CommitOutcome> => {
  const staged = await stageRun(lake, sources)
  const outcome = await commitStaged(staged)
  await removeRun(staged.lease)
  return outcome
}

/** A run whose process has died before its commit. */
export const deadRun = (lake: string, sources: readonly string[]): Promise<Staged> =>
  stageRun(lake, sources, DEAD)

/** A run that its process has given up. */
export const releasedRun = async (lake: string, sources: readonly string[]): Promise<Staged> => {
  const staged = await stageRun(lake, sources)
  await releaseRun(staged.lease)
  return staged
}
