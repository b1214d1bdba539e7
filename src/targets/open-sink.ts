/** From the address of a target to its kind, and to the sink that feeds it. */

import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { ToolkitError } from '../core/errors.ts'
import { isBucket } from '../core/lake-address.ts'
import type { DeliverySink, Sink } from '../core/sink.ts'
import { LAKE_FILE } from '../lake/files/layout.ts'
import { refuseLake, withDeliveredRuns } from '../sink/delivered-runs.ts'
import type { FormatOptions } from '../sink/file-format.ts'
import {
  DATABASE_NAMES,
  DATABASES,
  type DatabaseName,
  FILE_FORMAT_NAMES,
  FILE_FORMATS,
  type FileFormatName,
  isFileFormat,
  TARGET_FORMS,
  takesRuns,
} from '../sink/targets.ts'
import { storageOf } from '../storage/open-storage.ts'

/** A parsed target address. */
export type TargetAddress =
  | { readonly kind: 'file'; readonly format: FileFormatName; readonly path: string }
  | { readonly kind: 'folder'; readonly format: FileFormatName; readonly directory: string }
  /** `at` is the path of its file or the address of its server. */
  | { readonly kind: 'database'; readonly database: DatabaseName; readonly at: string }

/** An address may hold a password, and that any character: only the scheme and what follows the last `@` is shown. */
export const redacted = (address: string): string =>
  address.replace(/^([a-z][a-z0-9+.-]*:(\/\/)?)?.*@/is, '$1…@')

/** Recognised by the end of its name, which has more than that. */
const formatOfFile = (path: string): FileFormatName | undefined =>
  FILE_FORMAT_NAMES.find((name) => {
    const file = basename(path).toLowerCase()
    return file.endsWith(`.${name}`) && file.length > name.length + 1
  })

/**
 * Reads an address: `out.csv`, `csv:folder`, `firms.duckdb`, `duckdb:file`, `postgres://…`.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const readAddress = (address: string): TargetAddress => {
  const [, scheme = '', rest = ''] = /^([a-z][a-z0-9.]+):(.+)$/is.exec(address) ?? []
  if (isFileFormat(scheme) && (!rest.includes('://') || isBucket(rest)))
    return { kind: 'folder', format: scheme, directory: rest }
  for (const database of DATABASE_NAMES) {
    const at = DATABASES[database].read(address)
    if (at !== undefined) return { kind: 'database', database, at }
  }
  const format = formatOfFile(address)
  if (!address.includes('://') && format !== undefined) return { kind: 'file', format, path: address }
  const { files, databaseFiles, folders, databases } = TARGET_FORMS
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot use "${redacted(address)}" as a target: expected a file (${[...files, ...databaseFiles].join(', ')}), ` +
      `a folder (${folders.join(', ')}), ${databases.join(' or ')}`,
  )
}

/** A file's path without links above it; the file itself need not be there. */
export const realFile = async (path: string): Promise<string> => {
  const folder = dirname(resolve(path))
  return join(await realpath(folder).catch(() => folder), basename(path))
}

/**
 * Refuses the file of a lake's own views as a database of rows.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const refuseLakeFile = async (address: TargetAddress, lake: string): Promise<void> => {
  if (address.kind !== 'database' || !DATABASES[address.database].isFile) return
  const [target, own] = await Promise.all([address.at, join(storageOf(lake).local, LAKE_FILE)].map(realFile))
  if (target !== own) return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot write tables to "${address.at}": it holds the views of the lake itself, expected another file, such as firms.duckdb`,
  )
}

/**
 * Refuses a target that is a lake, or that the run itself is going to make one.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const refuseLakeAsTarget = async (address: TargetAddress, lake: string): Promise<void> => {
  if (address.kind === 'database') return refuseLakeFile(address, lake)
  if (address.kind !== 'folder') return
  const { directory } = address
  if (storageOf(directory).uri === storageOf(lake).uri)
    throw new ToolkitError(
      'TARGET_REFUSED',
      `Cannot deliver runs to "${directory}": it is the lake itself, expected a folder of its own`,
    )
  // A bucket that is not reached does not stop the run: the delivery reports it.
  await refuseLake(directory).catch((error: unknown) => {
    if (error instanceof ToolkitError && error.code === 'TARGET_REFUSED') throw error
  })
}

/**
 * The sink that takes the runs of a lake.
 *
 * @throws {ToolkitError} `TARGET_REFUSED` for a single file: a run has several tables
 */
export const chooseSink = async (
  address: TargetAddress,
  options: Pick<FormatOptions, 'neutralise'> = {},
): Promise<DeliverySink> => {
  switch (address.kind) {
    case 'file':
      throw new ToolkitError(
        'TARGET_REFUSED',
        `Cannot deliver runs to the file "${address.path}": a run has several tables; give a folder, ` +
          `${address.format}:DIR, or use "firmlake export" for one table`,
      )
    case 'folder': {
      const { format, directory } = address
      if (!takesRuns(format))
        throw new ToolkitError(
          'TARGET_REFUSED',
          `Cannot deliver runs to "${format}:${directory}": ${format} is for people; use "firmlake export"`,
        )
      const { folder } = await FILE_FORMATS[format].load()
      return withDeliveredRuns(folder(directory, options), directory)
    }
    case 'database': {
      const { check, sink } = await DATABASES[address.database].load()
      await check?.(address.at)
      return sink(address.at)
    }
  }
}

/** Types do not reach programs in JavaScript: such a sink would get nothing, without an error. */
const refuseUndeliverable = ({ name, deliveredRuns }: Sink): void => {
  if (typeof deliveredRuns === 'function') return
  throw new ToolkitError(
    'TARGET_REFUSED',
    `Cannot deliver runs to sink "${name}": it has no method "deliveredRuns", expected one that resolves to the runs that its ` +
      'target shows; withDeliveredRuns(sink, folder) adds it to a sink of files',
  )
}

/**
 * Sinks and addresses of sinks as sinks that take the runs of a lake. Nothing is written, no database is asked.
 *
 * @throws {ToolkitError} `TARGET_REFUSED`
 */
export const openSinks = async (
  sinks: readonly (DeliverySink | string)[],
  lake: string,
): Promise<readonly DeliverySink[]> => {
  const opened: DeliverySink[] = []
  for (const sink of sinks) {
    if (typeof sink !== 'string') {
      refuseUndeliverable(sink)
      opened.push(sink)
      continue
    }
    const address = readAddress(sink)
    await refuseLakeAsTarget(address, lake)
    opened.push(await chooseSink(address))
  }
  return opened
}
