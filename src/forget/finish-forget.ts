/**
 * The steps after the commit of a forget: everything older goes, and what is published is made anew. Nothing of it needs the
 * ids, so that whoever comes next can finish what was killed.
 */

import { rm } from 'node:fs/promises'
import { discardLoaded } from '../commit/files-of-run.ts'
import { ToolkitError } from '../core/errors.ts'
import {
  PUBLISHED_ROWS,
  type PublishedRows,
  TABLE_FORMAT_NAMES,
  type TableFormatName,
} from '../core/table-formats.ts'
import {
  currentFolder,
  HASHES_FOLDER,
  inLake,
  PUBLISHED_FOLDER,
  PUBLISHED_IN_TABLE,
} from '../lake/files/layout.ts'
import { type Garbage, removeGarbage } from '../manifest/gc/remove-garbage.ts'
import { removeLakeFiles, updateLakeFiles } from '../manifest/lake-file/lake-file.ts'
import { listRunIds, readPlan } from '../manifest/runs/runs.ts'
import { ensureRecord, listSnapshots, newestRoot } from '../manifest/snapshots/snapshots.ts'
import type { PublishOptions } from '../options/interfaces.ts'
import { publishedStorage } from '../publish/published-storage.ts'
import { publishedTables } from '../publish/table-files.ts'
import { planOf } from '../run/run-plan.ts'
import { withResumedRun } from '../run/with-run.ts'
import { storageOf } from '../storage/open-storage.ts'
import { memberOf } from '../support/json-form.ts'
import { publish } from '../targets/publish.ts'
import { CATALOG_FORMATS, FORMATS, publishedFormats } from '../targets/table-formats.ts'
import { type CommitHeld, holdAgain } from './hold-again.ts'

export type FinishOptions = Pick<
  PublishOptions,
  'lake' | 'memoryBytes' | 'localBytes' | 'threads' | 'signal' | 'now' | 'catalog'
>

/** A publication: a format, its rows, and where it is found. */
interface Publication {
  readonly format: TableFormatName
  readonly rows: PublishedRows
  readonly inCatalog: boolean
}

/** As a run's plan has it. */
export const publicationText = ({ format, rows, inCatalog }: Publication): string =>
  `${format} ${rows}${inCatalog ? ' catalog' : ''}`
const publicationOf = (text: string): readonly Publication[] => {
  const [format, rows, where] = text.split(' ')
  const [known, own] = [
    TABLE_FORMAT_NAMES.find((name) => name === format),
    PUBLISHED_ROWS.find((name) => name === rows),
  ]
  return known && own ? [{ format: known, rows: own, inCatalog: where === 'catalog' }] : []
}

/** The publications of a lake. */
export const listPublications = async ({ lake, catalog }: FinishOptions): Promise<readonly Publication[]> => {
  const found: Publication[] = []
  for (const rows of PUBLISHED_ROWS) {
    for (const format of await publishedFormats(lake, rows)) found.push({ format, rows, inCatalog: false })
    if (catalog === undefined) continue
    for (const format of await publishedFormats(lake, rows, catalog))
      found.push({ format, rows, inCatalog: true })
  }
  return found
}

const removeFolder = async (lake: string, folder: string): Promise<void> => {
  const paths = (await storageOf(lake).list(folder)).map(({ path }) => path)
  // Their hashes go first: a hash without its file would look like damage.
  const files = paths.filter((path) => !path.includes(`/${HASHES_FOLDER}/`))
  if (files.length > 0) await publishedStorage(lake).remove(files)
  if (paths.length > 0) await storageOf(lake).remove(paths)
  await rm(inLake(lake, folder), { recursive: true, force: true })
}

/** Logs and metadata have least and greatest values of columns, and files of removed rows: all of it goes. */
const dropPublications = async ({ lake, catalog }: FinishOptions): Promise<void> => {
  if (catalog !== undefined)
    for (const format of CATALOG_FORMATS)
      for (const rows of PUBLISHED_ROWS) {
        const { drop } = await FORMATS[format](rows, catalog)
        for (const table of publishedTables()) await drop(lake, table)
      }
  for (const { name } of publishedTables())
    for (const folder of PUBLISHED_IN_TABLE) await removeFolder(lake, `${name}/${folder}`)
  for (const folder of TABLE_FORMAT_NAMES.map(currentFolder)) await removeFolder(lake, folder)
  await removeFolder(lake, PUBLISHED_FOLDER)
}

const publishAgain = async (
  { lake, catalog, memoryBytes, localBytes, threads, signal, now }: FinishOptions,
  publications: readonly Publication[],
): Promise<void> => {
  for (const { format, rows, inCatalog } of publications)
    if (!inCatalog || catalog !== undefined)
      await publish({
        ...{ lake, formats: [format], rows: [rows], memoryBytes, localBytes, threads, signal, now },
        ...(inCatalog && { catalog }),
      })
}

interface FinishedForget {
  readonly garbage: Garbage
  /** The outcome of the load that was held back. */
  readonly held?: 'kept' | 'removed'
  /** Why `lake.duckdb` or `lake.ducklake` was not written; absent where those that the lake is to have were. */
  readonly noViews?: string
}

/** @param forget its run, and the snapshot that it has made: those before go */
export const finishForget = async (
  options: FinishOptions,
  forget: { readonly run: string; readonly snapshot: number },
  publications: readonly Publication[],
  commitHeld: CommitHeld,
): Promise<FinishedForget> => {
  const { lake, now = () => new Date() } = options
  const held = await holdAgain(lake, forget, commitHeld)
  await dropPublications(options)
  await removeLakeFiles(lake)
  const garbage = await removeGarbage({ lake, keep: 1, keepFrom: forget.snapshot, now: now() })
  const noViews = await updateLakeFiles(lake)
  await publishAgain(options, publications)
  return { garbage, ...(held && { held }), ...(noViews !== undefined && { noViews }) }
}

const isTaken = (error: unknown): boolean =>
  error instanceof ToolkitError && (error.code === 'RUN_LIVE' || error.code === 'RUN_NOT_FOUND')

/**
 * Finishes forgets whose process is gone: one that was not committed leaves nothing, any other is brought to its end.
 *
 * @returns the snapshots of those that were
 */
export const finishDeadForgets = async (
  options: FinishOptions,
  commitHeld: CommitHeld,
): Promise<readonly number[]> => {
  const { lake, now = () => new Date() } = options
  const finished: number[] = []
  for (const run of await listRunIds(lake)) {
    if (memberOf(await readPlan(lake, run).catch(() => undefined), 'pipeline') !== 'forget') continue
    try {
      await withResumedRun(lake, run, now(), async () => {
        const receipt = (await newestRoot(lake))?.forgotten?.find((one) => one.run === run)
        if (receipt === undefined) return discardLoaded(lake, run)
        if ((await listSnapshots(lake)).includes(receipt.snapshot)) await ensureRecord(lake, receipt.snapshot)
        const [job] = (await planOf(lake, run)).jobs
        const published = job.kind === 'forget' ? job.published.flatMap(publicationOf) : []
        await finishForget(options, receipt, published, commitHeld)
        finished.push(receipt.snapshot)
      })
    } catch (error) {
      if (!isTaken(error)) throw error
    }
  }
  return finished
}
