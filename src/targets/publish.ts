/**
 * Updates the publications of a lake to its newest snapshot: tables of all versions snapshot by snapshot, so that they
 * have the same past as the lake, tables of current rows at once. Knows the formats by name only.
 */

import { systemCode, writeError } from '../core/errors.ts'
import type { TableFormatName } from '../core/table-formats.ts'
import { PUBLISHED_ROWS, type PublishedRows } from '../core/table-formats.ts'
import { LISTINGS, type Table } from '../lake/tables/tables.ts'
import { versionFilesOf } from '../lake/views/current-versions.ts'
import { isOwnSnapshot } from '../manifest/snapshots/lake-past.ts'
import { headOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { listManifest, newestNumber, newestRoot, readKnownRoot } from '../manifest/snapshots/snapshots.ts'
import type { Read } from '../options/entry.ts'
import type { PublishOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { PUBLISH } from '../options/publish.ts'
import type {
  PublishContext,
  SnapshotToPublish,
  TableChange,
  TablePublication,
} from '../publish/publication.ts'
import { mainOf } from '../publish/superseded-rows.ts'
import { type FilesOfTable, publishedTables, type ShownSnapshot } from '../publish/table-files.ts'
import { withPublishContext } from './publish-session.ts'
import { tableChanges, tableFilesOf } from './table-changes.ts'
import { FORMATS, tableAhead } from './table-formats.ts'

/** Changes that publishing made in one table. */
export interface PublishedTable {
  readonly format: TableFormatName
  readonly table: string
  /** Every version of every record, or the current rows alone: two tables, each with a place of its own. */
  readonly rows: PublishedRows
  /** Versions written: of all versions one for each snapshot that changed the table, of the current rows one at most. */
  readonly versions: number
  /** Files added and removed, over all of these. */
  readonly added: number
  readonly removed: number
  /** Whether it was published again because the lake was moved. */
  readonly moved: boolean
}

/** The snapshot and the tables that are published now. */
export interface PublishSummary {
  /** The newest snapshot, which the tables show now; 0 for a lake without one. */
  readonly snapshot: number
  readonly tables: readonly PublishedTable[]
}

/** Progress: snapshots checked, files added and removed so far. */
export interface PublishProgress {
  readonly snapshots: number
  readonly snapshotsTotal: number
  readonly files: number
  readonly table: string
}

type Asked = Read<PublishOptions, typeof PUBLISH>

/** A table on its way. */
interface Step {
  readonly format: TableFormatName
  readonly rows: PublishedRows
  readonly table: Table
  readonly publication: TablePublication
  /** The last snapshot that it was brought to, also where that did not change the table; 0: not known. */
  seen: number
  versions: number
  added: number
  removed: number
}

const openSteps = async (
  { formats, rows: chosen = PUBLISHED_ROWS, catalog }: Asked,
  context: PublishContext,
): Promise<Step[]> => {
  const steps: Step[] = []
  for (const format of new Set(formats))
    for (const rows of new Set(chosen)) {
      const { open } = await FORMATS[format](rows, catalog)
      for (const table of publishedTables()) {
        context.signal?.throwIfAborted()
        const publication = await open(context, table)
        steps.push({ format, rows, table, publication, seen: 0, versions: 0, added: 0, removed: 0 })
      }
    }
  return steps
}

/**
 * The first snapshot that each table has to look at. A snapshot is brought to all tables of a format before the next
 * one is: what one table shows, all have seen, but for that snapshot itself.
 */
const firstSnapshots = (steps: readonly Step[]): ReadonlyMap<Step, number> => {
  const shownBy = (step: Step): number => step.publication.shown()?.snapshot ?? 0
  const seen = new Map<TableFormatName, number>()
  for (const step of steps) seen.set(step.format, Math.max(seen.get(step.format) ?? 0, shownBy(step)))
  return new Map(steps.map((step) => [step, shownBy(step) === 0 ? 1 : (seen.get(step.format) ?? 1)]))
}

/** A table that shows a snapshot which the lake does not have: another lake stood here, or a backup took its place. */
const foreignStep = async (lake: string, steps: readonly Step[]): Promise<Step | undefined> => {
  // After the logs were read: what they show is in the lake by now, whatever other processes do.
  const root = await newestRoot(lake)
  const own = new Set<string>()
  for (const step of steps) {
    const shown = step.publication.shown()
    if (shown === null || root === null) continue
    const key = `${shown.snapshot} ${shown.run}`
    if (!own.has(key) && !(await isOwnSnapshot(lake, root, shown))) return step
    own.add(key)
  }
  return undefined
}

/** The tables, of which none shows what is not the lake's. @throws {ToolkitError} `TARGET_AHEAD`, before anything is changed */
const openOwnSteps = async (options: Asked, context: PublishContext): Promise<Step[]> => {
  const { lake, catalog, overwrite = false } = options
  const steps = await openSteps(options, context)
  const first = await foreignStep(lake, steps)
  if (first === undefined) return steps
  const shown = first.publication.shown()
  if (shown && !overwrite) throw tableAhead(first.format, first.table, shown)
  // They are kept in step with each other, so all begin anew.
  for (const { format, rows, table } of steps) await (await FORMATS[format](rows, catalog)).drop(lake, table)
  return openSteps(options, context)
}

/** Reads roots of snapshots, each once: those of two neighbours are compared table by table. */
const rootReader = (lake: string): ((number: number) => Promise<SnapshotRoot>) => {
  const known = new Map<number, Promise<SnapshotRoot>>()
  return (number) => {
    const root = known.get(number) ?? readKnownRoot(lake, number)
    known.delete(number)
    known.set(number, root)
    const [oldest] = known.keys()
    if (known.size > ROOTS_AT_ONCE && oldest !== undefined) known.delete(oldest)
    return root
  }
}
const ROOTS_AT_ONCE = 4

const NO_FILES: FilesOfTable = {
  files: async () => [],
  changesSince: async () => ({ added: [], removed: [] }),
}

/** The lake as it is read while it is published. */
interface Reading {
  readonly lake: string
  /** The snapshots that it had when publishing began. */
  readonly kept: ReadonlySet<number>
  readonly rootOf: (number: number) => Promise<SnapshotRoot>
}

/** The part of a snapshot that a step is given. */
const toPublish = ({ lake, kept, rootOf }: Reading, step: Step, root: SnapshotRoot): SnapshotToPublish => {
  const listed = (table: Table): FilesOfTable => ({
    files: () => tableFilesOf(lake, root, table),
    changesSince: async (shown: ShownSnapshot) => {
      const from = [step.seen, shown.snapshot].find((number) => number >= shown.snapshot && kept.has(number))
      if (from === undefined) return null
      try {
        const before = await rootOf(from)
        if (from === shown.snapshot && before.run !== shown.run) return null
        return await tableChanges(lake, before, root, table)
      } catch (error) {
        // Removed by gc meanwhile.
        if ((await listManifest(lake)).oldest > from) return null
        throw error
      }
    },
  })
  const listings = step.table.content === LISTINGS.content ? listed(LISTINGS) : NO_FILES
  const main = mainOf(step.table)
  const superseded = versionFilesOf(root, 'superseded', main)
  return { ...headOf(root), ...listed(step.table), main: listed(main), superseded, listings }
}

const countChange = (step: Step, change: TableChange | null): void => {
  if (!change) return
  step.versions += 1
  step.added += change.added
  step.removed += change.removed
}

const bringInStep = async (steps: readonly Step[], { lake, signal, onProgress }: Asked): Promise<number> => {
  const newest = await newestNumber(lake)
  const { snapshots } = await listManifest(lake)
  const stepwise = steps.filter(({ rows }) => rows === 'all')
  const first = firstSnapshots(stepwise)
  const numbers = snapshots.filter((number) => number >= Math.min(newest, ...first.values()))
  const rootOf = rootReader(lake)
  const reading = { lake, kept: new Set(snapshots), rootOf }
  for (const [step, number] of first) step.seen = number - 1
  let files = 0
  const show = async (number: number, at: number): Promise<void> => {
    const snapshot = await rootOf(number)
    // The current rows have no past of their own.
    const behind = number === newest ? steps : stepwise.filter((step) => (first.get(step) ?? 1) <= number)
    for (const step of behind) {
      onProgress?.({ snapshots: at, snapshotsTotal: numbers.length, files, table: step.table.name })
      const change = await step.publication.publish(toPublish(reading, step, snapshot))
      if (step.rows === 'all') step.seen = number
      countChange(step, change)
      files += change ? change.added + change.removed : 0
    }
  }
  for (const [at, number] of numbers.entries()) {
    signal?.throwIfAborted()
    try {
      await show(number, at)
    } catch (error) {
      signal?.throwIfAborted()
      // Removed by gc meanwhile, possibly with its files: the next one holds all that has changed since.
      if ((await listManifest(lake)).oldest <= number) throw error
    }
  }
  return newest
}

/** Whether the system refused something: `EACCES`, `ENOSPC`, … */
const isOfSystem = (error: unknown): boolean => /^E[A-Z0-9]+$/.test(systemCode(error) ?? '')

const published = async (options: Asked): Promise<PublishSummary> => {
  if ((await newestNumber(options.lake)) === 0) return { snapshot: 0, tables: [] }
  try {
    return await withPublishContext(options, async (context) => {
      const steps = await openOwnSteps(options, context)
      const snapshot = await bringInStep(steps, options)
      return {
        snapshot,
        tables: steps.map(({ publication, seen: _seen, table, ...done }) => ({
          ...done,
          table: table.name,
          moved: publication.moved ?? false,
        })),
      }
    })
  } catch (error) {
    throw isOfSystem(error) ? writeError(`Cannot publish lake "${options.lake}"`, error) : error
  }
}

/**
 * Publishes every snapshot that is still kept and not published yet: a log or metadata beside the lake's own files, which
 * are not copied. May be stopped at any point, and called again, also by several at once: what is published stays, and
 * nothing is published twice.
 *
 * @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_DAMAGED, LAKE_DAMAGED, PUBLISH_CONFLICT, TARGET_AHEAD, DISK_FULL, WRITE_FAILED,
 *   STORAGE_REFUSED, STORAGE_FAILED, CATALOG_FAILED
 * @example
 * import { convert, publish } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot } = await publish({ lake: './lake', formats: ['delta', 'iceberg'] })
 * console.log(snapshot) // 1
 */
export const publish: (options: PublishOptions) => Promise<PublishSummary> = job(
  'publish',
  PUBLISH,
  published,
  'Publishing',
)
