/** From the address of a target to what it is, and to the sink that feeds it. */

import { extname } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import type { DeliverySink } from '../../core/sink.ts'
import { duckdbFile } from '../../sink/duckdb-file.ts'
import { FILE_FORMATS, type FileFormatName, FORMAT_NAMES, isFileFormat } from '../../sink/formats.ts'
import { refuseLake, withLoaded } from '../../sink/with-loaded.ts'
import { storageOf } from '../../storage/open-storage.ts'

export type TargetAddress =
  | { readonly kind: 'file'; readonly format: FileFormatName; readonly path: string }
  | { readonly kind: 'folder'; readonly format: FileFormatName; readonly directory: string }
  | { readonly kind: 'duckdb'; readonly file: string }
  | { readonly kind: 'postgres'; readonly url: string }

const DATABASE_SUFFIXES = ['.duckdb', '.ddb']

/** An address may hold a password, and that any character: only the scheme and what follows the last `@` is told. */
const told = (address: string): string => address.replace(/^([a-z][a-z0-9+.-]*:(\/\/)?)?.*@/is, '$1…@')

/**
 * Reads an address: `out.csv`, `csv:folder`, `lake.duckdb`, `duckdb:file`, `postgres://…`.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const readAddress = (address: string): TargetAddress => {
  if (/^postgres(ql)?:\/\//i.test(address)) return { kind: 'postgres', url: address }
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9]+):(.+)$/is.exec(address) ?? []
  if (isFileFormat(scheme) && (!rest.includes('://') || /^s3:\/\//i.test(rest)))
    return { kind: 'folder', format: scheme, directory: rest }
  if (scheme === 'duckdb') return { kind: 'duckdb', file: rest }
  const suffix = extname(address).toLowerCase()
  const format = suffix.slice(1)
  if (!address.includes('://')) {
    if (isFileFormat(format)) return { kind: 'file', format, path: address }
    if (DATABASE_SUFFIXES.includes(suffix)) return { kind: 'duckdb', file: address }
  }
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot use "${told(address)}" as a target: expected a file (${FORMAT_NAMES.map((one) => `.${one}`).join(', ')}, ` +
      `.duckdb), a folder (${FORMAT_NAMES.map((one) => `${one}:DIR`).join(', ')}), duckdb:FILE or postgres://…`,
  )
}

export interface SinkParts {
  /** Folder of this machine for rows that are not loaded into a database yet. */
  readonly staging: string
  /** Memory for loading a DuckDB file, in bytes. */
  readonly memoryBytes?: number | undefined
  /** Whether CSV is safe for spreadsheets. @default true */
  readonly neutralise?: boolean | undefined
  /** Stops a database that loads. */
  readonly signal?: AbortSignal | undefined
  /** What a database loads, for messages. @default the run */
  readonly what?: string | undefined
}

/** A database as a sink; its tables show current versions. */
export const databaseSink = async (
  address: Extract<TargetAddress, { kind: 'duckdb' | 'postgres' }>,
  { staging, memoryBytes, signal, what }: SinkParts,
): Promise<DeliverySink> => {
  if (address.kind === 'duckdb') return duckdbFile({ file: address.file, staging, memoryBytes, signal, what })
  const { postgresSink } = await import('../../sink/postgres/postgres.ts')
  return postgresSink({ url: address.url, staging, signal, what })
}

/**
 * Refuses a target that is a lake, or that the run itself is going to make one.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const refuseLakeAsTarget = async (address: TargetAddress, lake: string): Promise<void> => {
  if (address.kind !== 'folder') return
  const { directory } = address
  if (storageOf(directory).uri === storageOf(lake).uri)
    throw new ToolkitError(
      'TARGET_REFUSED',
      `Cannot deliver runs to "${directory}": it is the lake itself, expected a folder of its own`,
    )
  // A bucket that is not reached keeps the run from nothing: the delivery tells it.
  await refuseLake(directory).catch((error: unknown) => {
    if (error instanceof ToolkitError && error.code === 'TARGET_REFUSED') throw error
  })
}

/**
 * The sink that takes the runs of a lake.
 *
 * @throws {ToolkitError} `TARGET_REFUSED` for a single file: a run has several tables
 */
export const chooseSink = async (address: TargetAddress, parts: SinkParts): Promise<DeliverySink> => {
  switch (address.kind) {
    case 'file':
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot deliver runs to the file "${address.path}": a run has several tables; give a folder, ` +
          `${address.format}:DIR, or use "firmlake export" for one table`,
      )
    case 'folder':
      return withLoaded(
        await FILE_FORMATS[address.format].folder(address.directory, parts),
        address.directory,
      )
    case 'duckdb':
    case 'postgres':
      return databaseSink(address, parts)
  }
}
