/**
 * Updates the publications of a lake to its newest snapshot, snapshot by snapshot: a published table has the
 * same past as the lake. Knows the formats by name only.
 */

import { rm } from 'node:fs/promises'
import { systemCode, ToolkitError, writeError } from '../../core/errors.ts'
import { orInterrupted } from '../../core/interrupted.ts'
import type { SnapshotHead } from '../../core/partition.ts'
import { Engine, type Session } from '../../lake/duckdb/engine.ts'
import { interruptOn } from '../../lake/duckdb/stoppable.ts'
import { defaultLocalBytes } from '../../lake/lake/files-in-turn.ts'
import { inLake, RUNS_FOLDER } from '../../lake/lake/layout.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { headOf, type SnapshotRoot } from '../../manifest/snapshot-root.ts'
import { listManifest, newestNumber, readKnownRoot } from '../../manifest/snapshots.ts'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import type {
  PublishContext,
  PublishFormat,
  ShownSnapshot,
  SnapshotToPublish,
  TablePublication,
} from '../../publish/publication.ts'
import { publishedTables } from '../../publish/table-files.ts'
import { makeFolder } from '../../support/durable-files.ts'
import { temporaryName } from '../../support/process-identity.ts'
import { queryMemory } from '../run/memory-shares.ts'
import { tableChanges, tableFilesOf } from './table-changes.ts'

/** The formats, each loaded only where it is used. */
const FORMATS = {
  delta: async (): Promise<PublishFormat> =>
    (await import('../../publish/delta/delta-format.ts')).deltaFormat,
  iceberg: async (catalog?: CatalogOptions): Promise<PublishFormat> => {
    const { icebergCatalogFormat, icebergFormat } = await import('../../publish/iceberg/iceberg-format.ts')
    return catalog === undefined ? icebergFormat : icebergCatalogFormat(catalog)
  },
} as const satisfies Readonly<Record<string, (catalog?: CatalogOptions) => Promise<PublishFormat>>>

/** A table format of other engines: `delta` or `iceberg`. */
export type TableFormatName = keyof typeof FORMATS

const isFormatName = (name: string): name is TableFormatName => name in FORMATS
export const TABLE_FORMAT_NAMES: readonly TableFormatName[] = Object.keys(FORMATS).filter(isFormatName)

/** What publishing changed in one table. */
export interface PublishedTable {
  readonly format: TableFormatName
  readonly table: string
  /** Versions written: one for each snapshot that changed the table. */
  readonly versions: number
  /** Files added and removed, over all of these. */
  readonly added: number
  readonly removed: number
  /** Whether it was published again because the lake was moved. */
  readonly moved: boolean
}

/** What is published now. */
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

/** Options of `publish`. */
export interface PublishOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  readonly formats: readonly TableFormatName[]
  /** The catalog that keeps the Iceberg tables' metadata. @default none: it stands in the lake */
  readonly catalog?: CatalogOptions | undefined
  /** Peak memory in all, in bytes. @default 1 GiB */
  readonly memoryBytes?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk at once, in bytes; a larger file by itself.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** @default 2 */
  readonly threads?: number | undefined
  readonly signal?: AbortSignal | undefined
  readonly onProgress?: ((progress: PublishProgress) => void) | undefined
  /** @default the clock */
  readonly now?: () => Date
}

/** A table on its way. */
interface Step {
  readonly format: TableFormatName
  readonly table: Table
  readonly publication: TablePublication
  /** The last snapshot that it was brought to, also where that did not change the table; 0: not known. */
  seen: number
  versions: number
  added: number
  removed: number
}

const openSteps = async ({ formats, catalog }: PublishOptions, context: PublishContext): Promise<Step[]> => {
  const steps: Step[] = []
  for (const format of new Set(formats)) {
    const { open } = await FORMATS[format](catalog)
    for (const table of publishedTables()) {
      context.signal?.throwIfAborted()
      const publication = await open(context, table)
      steps.push({ format, table, publication, seen: 0, versions: 0, added: 0, removed: 0 })
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

const conflict = ({ format, table }: Step, what: string): ToolkitError =>
  new ToolkitError(
    'PUBLISH_CONFLICT',
    `Cannot publish "${table.name}" in format "${format}": ${what}; see docs/operations.md`,
    { table: table.name },
  )

/** A lake that replaced another must not continue the other's publication. */
const checkShown = (steps: readonly Step[], newest: number): void => {
  for (const step of steps) {
    const shown = step.publication.shown()
    if (shown && shown.snapshot > newest)
      throw conflict(step, `it shows snapshot ${shown.snapshot}, and the lake's newest is ${newest}`)
  }
}
const checkRun = (step: Step, snapshot: SnapshotHead): void => {
  const shown = step.publication.shown()
  if (shown?.snapshot === snapshot.snapshot && shown.run !== snapshot.run)
    throw conflict(
      step,
      `it shows snapshot ${shown.snapshot} of run "${shown.run}", which is not of this lake`,
    )
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

/** What a step is given of a snapshot. @param kept the snapshots that the lake had when publishing began */
const toPublish = (
  lake: string,
  step: Step,
  root: SnapshotRoot,
  kept: ReadonlySet<number>,
  rootOf: (number: number) => Promise<SnapshotRoot>,
): SnapshotToPublish => ({
  ...headOf(root),
  files: () => tableFilesOf(lake, root, step.table),
  changesSince: async (shown: ShownSnapshot) => {
    const from = [step.seen, shown.snapshot].find((number) => number >= shown.snapshot && kept.has(number))
    if (from === undefined) return null
    try {
      const before = await rootOf(from)
      if (from === shown.snapshot && before.run !== shown.run) return null
      return await tableChanges(lake, before, root, step.table)
    } catch (error) {
      // Removed by gc meanwhile.
      if ((await listManifest(lake)).oldest > from) return null
      throw error
    }
  },
})

const bringInStep = async (
  steps: readonly Step[],
  { lake, signal, onProgress }: PublishOptions,
): Promise<number> => {
  // After the logs were read: what they show is in the lake by now, whatever other processes do.
  const newest = await newestNumber(lake)
  checkShown(steps, newest)
  const { snapshots } = await listManifest(lake)
  const first = firstSnapshots(steps)
  const numbers = snapshots.filter((number) => number >= Math.min(...first.values()))
  const kept = new Set(snapshots)
  const rootOf = rootReader(lake)
  for (const [step, number] of first) step.seen = number - 1
  let files = 0
  const show = async (number: number, at: number): Promise<void> => {
    const snapshot = await rootOf(number)
    const behind = steps.filter((step) => (first.get(step) ?? 1) <= number)
    for (const step of behind) checkRun(step, snapshot)
    for (const step of behind) {
      onProgress?.({ snapshots: at, snapshotsTotal: numbers.length, files, table: step.table.name })
      const change = await step.publication.publish(toPublish(lake, step, snapshot, kept, rootOf))
      step.seen = number
      if (!change) continue
      step.versions += 1
      step.added += change.added
      step.removed += change.removed
      files += change.added + change.removed
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

/** An engine for one publication, stopped by the signal. */
const withSession = async <T>(
  { memoryBytes, threads, signal }: PublishOptions,
  scratch: string,
  use: (session: Session) => Promise<T>,
): Promise<T> => {
  const engine = await Engine.open({
    memoryBytes: queryMemory(memoryBytes),
    ...(threads !== undefined && { threads }),
    spillFolder: scratch,
  })
  const session = await engine.connect()
  const useEnded = interruptOn(session, signal)
  try {
    return await use(session)
  } finally {
    useEnded()
    session.close()
    engine.close()
  }
}

/** Whether the system refused something: `EACCES`, `ENOSPC`, … */
const isOfSystem = (error: unknown): boolean => /^E[A-Z0-9]+$/.test(systemCode(error) ?? '')

/**
 * Publishes every snapshot that is still kept and not published yet: a log or metadata beside the lake's own files, which
 * are not copied. May be stopped at any point, and called again, also by several at once: what is published stays, and
 * nothing is published twice.
 *
 * @throws {ToolkitError} LAKE_NOT_FOUND, SNAPSHOT_DAMAGED, LAKE_DAMAGED, PUBLISH_CONFLICT, DISK_FULL, WRITE_FAILED,
 *   STORAGE_REFUSED, STORAGE_FAILED, CATALOG_FAILED
 * @example
 * import { convert, publish } from 'firmlake'
 *
 * await convert({ from: ['batches/'], lake: './lake' })
 * const { snapshot } = await publish({ lake: './lake', formats: ['delta', 'iceberg'] })
 * console.log(snapshot) // 1
 */
export const publish = async (options: PublishOptions): Promise<PublishSummary> => {
  const { lake, localBytes = defaultLocalBytes(options.lake), signal, now = () => new Date() } = options
  if ((await newestNumber(lake)) === 0) return { snapshot: 0, tables: [] }
  const scratch = inLake(lake, `${RUNS_FOLDER}/${temporaryName()}`)
  try {
    await makeFolder(scratch, { within: inLake(lake, '') })
    return await orInterrupted('Publishing', signal, () =>
      withSession(options, scratch, async (session) => {
        const { oldest } = await listManifest(lake)
        const steps = await openSteps(options, { lake, session, scratch, localBytes, oldest, now, signal })
        const snapshot = await bringInStep(steps, options)
        return {
          snapshot,
          tables: steps.map(({ publication, seen: _seen, table, ...done }) => ({
            ...done,
            table: table.name,
            moved: publication.moved ?? false,
          })),
        }
      }),
    )
  } catch (error) {
    throw isOfSystem(error) ? writeError(`Cannot publish lake "${lake}"`, error) : error
  } finally {
    await rm(scratch, { recursive: true, force: true }).catch(() => undefined)
  }
}

/** The formats in which a lake is published already. @param catalog looks there for Iceberg, not in the lake */
export const publishedFormats = async (
  lake: string,
  catalog?: CatalogOptions,
): Promise<readonly TableFormatName[]> => {
  const found: TableFormatName[] = []
  for (const name of TABLE_FORMAT_NAMES) {
    const { isPublished } = await FORMATS[name](catalog)
    for (const table of publishedTables()) {
      if (!(await isPublished(lake, table))) continue
      found.push(name)
      break
    }
  }
  return found
}
