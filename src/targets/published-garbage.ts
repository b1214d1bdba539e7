/** Files of published tables of current rows that no version of theirs needs any more, and those that a crash has left. */

import { TABLE_FORMAT_NAMES } from '../core/table-formats.ts'
import { inLake, RUNS_FOLDER } from '../lake/files/layout.ts'
import type { Table } from '../lake/tables/tables.ts'
import type { CatalogOptions } from '../publish/iceberg/catalog-client.ts'
import type { OwnFiles, PublishContext } from '../publish/publication.ts'
import { publishedStorage } from '../publish/published-storage.ts'
import { publishedTables } from '../publish/table-files.ts'
import type { StoredFile } from '../storage/storage.ts'
import { listBusy, statPath } from '../support/list-files.ts'
import { withPublishContext } from './publish-session.ts'
import { CATALOG_FORMATS, FORMATS } from './table-formats.ts'

/** A file that no table names may be one of a publisher on another machine: so long it is left alone. */
const LEFT_ALONE_MS = 24 * 3600 * 1000

export interface PublishedGarbageRequest {
  readonly lake: string
  /** The oldest snapshot that the lake keeps: of each table the versions from that on stay which shows it. */
  readonly oldest: number
  /** A catalog that shows the lake's Iceberg tables. @default none: its files are left alone */
  readonly catalog?: CatalogOptions | undefined
  readonly dryRun: boolean
  readonly now: () => Date
  readonly signal?: AbortSignal | undefined
}

export interface PublishedGarbage {
  readonly files: readonly string[]
  readonly freedBytes: number
}

/** Whether somebody else on this machine, or on another in the same folder, is possibly publishing. */
const isPublishing = async ({ lake, scratch }: PublishContext): Promise<boolean> =>
  (await listBusy(inLake(lake, RUNS_FOLDER))).some((name) => !scratch.endsWith(name))

const ownFiles = async ({ catalog }: PublishedGarbageRequest): Promise<readonly OwnFiles[]> => {
  const formats = await Promise.all([
    ...TABLE_FORMAT_NAMES.map((name) => FORMATS[name]('current')),
    ...(catalog === undefined ? [] : CATALOG_FORMATS.map((name) => FORMATS[name]('current', catalog))),
  ])
  return formats.flatMap((format) => format.ownFiles ?? [])
}

/** The files of a table's own folder, without hashes and logs. */
const listOwn = async (lake: string, folder: string): Promise<readonly StoredFile[]> => {
  const files = await publishedStorage(lake).list(folder)
  return files.filter(({ path }) => !path.slice(folder.length).includes('/_'))
}

/** Bytes that removing a file frees: none where it has another name. */
const roomOf = async (lake: string, { path, bytes }: StoredFile): Promise<number> =>
  ((await statPath(inLake(lake, path)))?.names ?? 1) > 1 ? 0 : bytes

/** @throws {ToolkitError} `PUBLISH_CONFLICT`, `WRITE_FAILED`, `STORAGE_FAILED`, `CATALOG_FAILED` */
export const removePublishedGarbage = async (request: PublishedGarbageRequest): Promise<PublishedGarbage> => {
  const { lake, oldest, dryRun, now, signal } = request
  const candidates: { own: OwnFiles; table: Table; files: readonly StoredFile[] }[] = []
  const isOld = ({ changedMs }: StoredFile): boolean => now().getTime() - changedMs > LEFT_ALONE_MS
  for (const own of await ownFiles(request))
    for (const table of publishedTables()) {
      const files = (await listOwn(lake, own.folder(table))).filter(isOld)
      if (files.length > 0) candidates.push({ own, table, files })
    }
  if (candidates.length === 0) return { files: [], freedBytes: 0 }
  return withPublishContext({ lake, now, signal }, async (context) => {
    // The order matters: whoever began after the files were listed has none among them, whoever has ended is in a log.
    if (await isPublishing(context)) return { files: [], freedBytes: 0 }
    const garbage: StoredFile[] = []
    for (const { own, table, files } of candidates) {
      const needed = await own.needed({ ...context, oldest }, table)
      if (needed) garbage.push(...files.filter(({ path }) => !needed.has(path)))
    }
    let freedBytes = 0
    for (const file of garbage) freedBytes += await roomOf(lake, file)
    if (!dryRun) await publishedStorage(lake).remove(garbage.map(({ path }) => path))
    return { files: garbage.map(({ path }) => path), freedBytes }
  })
}
