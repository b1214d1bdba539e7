/**
 * The load that is held back, without the forgotten. Its files are written again with those of the lake, before the forget is
 * committed. One that tells of them by more than its rows is given up: by the name of a source, a search, or its plan.
 */

import { isDeepStrictEqual } from 'node:util'
import { withoutKeys } from '../commit/commit-forget.ts'
import { ToolkitError } from '../core/errors.ts'
import type { Identifiers } from '../core/identifiers.ts'
import type { CommittedPartition, FileEntry, PartitionEntry, Snapshot } from '../core/partition.ts'
import { pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { runPath } from '../lake/files/layout.ts'
import { journalText, readJournals } from '../manifest/runs/journal.ts'
import type { RecordedWork } from '../manifest/runs/journal-lines.ts'
import { OWNER, rebaseRun, stopCommits } from '../manifest/runs/run-lease.ts'
import { type HeldSnapshot, readHeld } from '../manifest/snapshots/held.ts'
import { storageOf } from '../storage/open-storage.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import { type HeldRewrite, noteRewrite, staysInRun } from './hold-again.ts'
import type { Rewritten } from './rewrite-lake.ts'

/** A load that is held back, as a forget looks through it. */
export interface HeldLoad {
  readonly held: HeldSnapshot
  /** Journals of its run by their paths; absent where they are damaged. */
  readonly journals?: ReadonlyMap<string, RecordedWork> | undefined
  readonly partitions: readonly CommittedPartition[]
}

/** No version of a lake is so high: its partitions have none before their commit. */
const FIRST_VERSION = 1_000_000_000

/** @returns `undefined` where none is held back @throws as `readHeld` */
export const readHeldLoad = async (lake: string): Promise<HeldLoad | undefined> => {
  const held = await readHeld(lake)
  if (held === null) return undefined
  const journals = await readJournals(lake, held.run).catch((error: unknown) => {
    if (error instanceof ToolkitError && error.code === 'RUN_NOT_RESUMABLE') return undefined
    throw error
  })
  const entries = [...(journals?.values() ?? [])].flatMap((work) => work.entries)
  return {
    ...{ held, journals },
    partitions: entries.map(({ partition }, at) => ({
      ...{ ...partition, asOf: partition.asOf ?? held.at, version: FIRST_VERSION + at },
      committed: { snapshot: held.root.snapshot, time: held.at },
    })),
  }
}

/** A snapshot with the partitions of the load that is held back behind its own. */
export const withHeld = (snapshot: Snapshot, load: HeldLoad | undefined): Snapshot =>
  load ? { ...snapshot, partitions: [...snapshot.partitions, ...load.partitions] } : snapshot

/** The entries of the lake alone. */
export const withoutHeld = ({ listed, ...rewritten }: Rewritten, load: HeldLoad | undefined): Rewritten => ({
  ...rewritten,
  listed: { ...listed, partitions: listed.partitions.filter(({ run }) => run !== load?.held.run) },
})

/** The facts of the sources of a partition, without counts and instants. */
const sourcesOf = ({ source, sources = [] }: PartitionEntry): readonly object[] => [
  source,
  ...sources.map(({ counts: _, asOf: __, ...one }) => one),
]

/** A shorter number in a plan or journal is a count or a size. */
const MIN_DIGITS = 6

/** Whether a file of a run's folder that stays tells of the forgotten. */
const folderTells = async (lake: string, run: string, identifiers: Identifiers): Promise<boolean> => {
  const storage = storageOf(lake)
  const folder = `${runPath(run)}/`
  for (const { path } of await storage.list(runPath(run))) {
    const name = path.slice(folder.length)
    if (!staysInRun(name) || OWNER.test(name)) continue
    const text = (await storage.read(path))?.toString() ?? ''
    if (identifiers.standIn(text) || identifiers.idStandsIn(text, MIN_DIGITS)) return true
  }
  return false
}

/** Unknown line items that figures of a partition still have. */
const itemsIn = async (work: ForgetWork, files: readonly FileEntry[]): Promise<ReadonlySet<string>> => {
  const figures = files.filter(({ table, rows }) => table === 'financials' && rows > 0)
  if (figures.length === 0) return new Set()
  return withLakeFiles(work, figures, async (placeOf) => {
    const from = readParquet(pathsSql(figures.map(({ path }) => placeOf(path))))
    const rows = await work.session.rows(`SELECT DISTINCT category || ' ' || line_item AS item FROM ${from}`)
    return new Set(rows.map(({ item }) => String(item)))
  })
}

/** The journals of the load without the forgotten; `undefined` where it tells of them by more than its rows. */
const rewrittenJournals = async (
  work: ForgetWork,
  { held: { run }, journals }: HeldLoad,
  { listed, identifiers }: Rewritten,
): Promise<HeldRewrite['journals']> => {
  if (journals === undefined || (await folderTells(work.lake, run, identifiers))) return undefined
  const byId = new Map(listed.partitions.filter((one) => one.run === run).map((one) => [one.id, one]))
  const strings: { path: string; text: string }[] = []
  for (const [path, { entries, result }] of journals) {
    const left: RecordedWork['entries'][number][] = []
    for (const entry of entries) {
      const { partition, unknownItems } = entry
      const found = byId.get(partition.id)
      if (found === undefined || !isDeepStrictEqual(sourcesOf(found), sourcesOf(partition))) return undefined
      const { committed: _, version: __, asOf, ...own } = found
      const isSame = isDeepStrictEqual(own.files, partition.files)
      const items = isSame ? undefined : await itemsIn(work, own.files)
      left.push({
        ...entry,
        partition: { ...own, ...(partition.asOf !== undefined && { asOf }) },
        ...(items && {
          unknownItems: {
            ...unknownItems,
            items: unknownItems.items.filter((one) => items.has(`${one.category} ${one.lineItem}`)),
          },
        }),
      })
    }
    const text = journalText({ entries: left, result })
    if (identifiers.standIn(text)) return undefined
    strings.push({ path, text })
  }
  return strings
}

/**
 * Notes in the folder of a forget what becomes of the load that is held back.
 *
 * @param rewritten with the partitions of the load
 * @throws {ToolkitError} `DISK_FULL`, `WRITE_FAILED`
 */
export const noteHeld = async (
  work: ForgetWork,
  run: string,
  load: HeldLoad | undefined,
  rewritten: Rewritten,
): Promise<HeldRewrite | undefined> => {
  if (load === undefined) return undefined
  const journals = await rewrittenJournals(work, load, rewritten)
  const { run: heldRun, results } = load.held
  const left = results && withoutKeys(results, work.ids)
  const rewrite = { run: heldRun, ...(journals && { journals }), ...(left && { results: left }) }
  await noteRewrite({ lake: work.lake, run }, rewrite)
  return rewrite
}

/** Keeps a release of it from committing. @throws {ToolkitError} `RUN_LIVE` while it is released */
export const stopRelease = async (lake: string, load: HeldLoad | undefined): Promise<void> => {
  if (load) await stopCommits(lake, load.held.run, { now: new Date() })
}

/** Lets a release commit it: nothing was forgotten. */
export const letRelease = async (lake: string, load: HeldLoad | undefined): Promise<void> => {
  if (load) await rebaseRun(lake, load.held.run)
}
