/**
 * How the files of a lake reach a session of DuckDB: as copies on this machine, which are compared with their hashes, or
 * where they stand in a bucket, range by range, which are not.
 */

import { storageOf } from '../../storage/open-storage.ts'
import type { FetchOptions, FileFacts, RangeCounts, RangeServer } from '../../storage/storage.ts'
import type { Session } from '../duckdb/engine.ts'
import { loadHttpfs } from '../duckdb/httpfs.ts'
import { STORED_TABLES } from '../tables/past-tables.ts'
import { type FetchTablesOptions, fetchFiles, type PlaceOf } from './fetch-tables.ts'
import { inLake, PARTS_FOLDER } from './layout.ts'

/** The cost of reading a lake so far, for a closing note. */
export type AccessReport =
  | ({ readonly kind: 'in place' } & RangeCounts)
  /** `withoutHttpfs`: why they were not read in place, where that could have been. */
  | { readonly kind: 'copies'; readonly fetchedBytes: number; readonly withoutHttpfs?: string | undefined }

export interface FileAccess {
  /** Whether Parquet files stand on this machine. */
  readonly isLocal: boolean
  readonly placeOf: PlaceOf
  /** Folders and address prefixes that DuckDB must be allowed to open. */
  readonly allowed: readonly string[]
  /** Lets DuckDB read files. @throws {ToolkitError} as `fetchFiles` */
  readonly makeReadable: (files: readonly FileFacts[], options?: Omit<FetchOptions, 'known'>) => Promise<void>
  /** The error of a statement: where a file could not be read, that. */
  readonly errorOf: (error: unknown) => unknown
  readonly report: () => AccessReport
  readonly close: () => void
}

/** The folders of a lake, on this machine, with files that DuckDB reads. */
export const foldersOfTables = (lake: string): readonly string[] =>
  [...STORED_TABLES.map(({ name }) => name), PARTS_FOLDER].map((folder) => inLake(lake, folder))

/** Copies on this machine; of a lake in a folder its own files. */
export const copiesOfLake = (
  lake: string,
  { check, known }: Pick<FetchTablesOptions, 'check' | 'known'>,
  withoutHttpfs?: string,
): FileAccess => {
  let fetchedBytes = 0
  return {
    isLocal: true,
    placeOf: (path) => inLake(lake, path),
    allowed: foldersOfTables(lake),
    makeReadable: async (files, options = {}) => {
      let bytes = 0
      const onProgress: FetchOptions['onProgress'] = (progress) => {
        if (progress.phase === 'fetching') bytes = progress.bytes
        options.onProgress?.(progress)
      }
      await fetchFiles(lake, files, { ...options, onProgress, check, known })
      fetchedBytes += bytes
    },
    errorOf: (error) => error,
    report: () => ({ kind: 'copies', fetchedBytes, withoutHttpfs }),
    close: () => undefined,
  }
}

/** Only these are read by ranges; files of lines are read whole, and so fetched and hashed. */
const isRanged = ({ path }: FileFacts): boolean => path.endsWith('.parquet')

const inPlace = (lake: string, server: RangeServer, copies: FileAccess): FileAccess => ({
  isLocal: false,
  placeOf: (path) => server.urlOf(path) ?? copies.placeOf(path),
  allowed: [server.url, ...copies.allowed],
  makeReadable: async (files, options) => {
    server.offer(files.filter(isRanged))
    const whole = files.filter((file) => !isRanged(file))
    if (whole.length > 0) await copies.makeReadable(whole, options)
  },
  errorOf: (error) => server.takeFailure() ?? named(error, server, storageOf(lake).uri),
  report: () => ({ kind: 'in place', ...server.counts() }),
  close: () => server.close(),
})

/** Messages name the lake and not the address on the loopback, which is gone when they are read. */
const named = (error: unknown, { url }: RangeServer, uri: string): unknown => {
  if (error instanceof Error && error.message.includes(url))
    error.message = error.message.replaceAll(url, `${uri}/`)
  return error
}

export interface AccessOptions extends Pick<FetchTablesOptions, 'check' | 'known'> {
  /** Reads a lake in a bucket in place where DuckDB's httpfs is there. @default copies */
  readonly inPlace?: boolean | undefined
}

/**
 * Opens a lake's files to a session whose settings are not locked yet.
 *
 * @throws {ToolkitError} `USAGE` as `loadHttpfs`
 */
export const openAccess = async (
  session: Session,
  lake: string,
  { inPlace: isInPlace = false, ...checks }: AccessOptions,
): Promise<FileAccess> => {
  const { serveRanges } = storageOf(lake)
  if (!isInPlace || serveRanges === undefined) return copiesOfLake(lake, checks)
  const missing = await loadHttpfs(session)
  const copies = copiesOfLake(lake, checks, missing)
  return missing === undefined ? inPlace(lake, await serveRanges(), copies) : copies
}
