/**
 * The Parquet files that a statement may name: those that the lake lists, and those in folders that whoever asks has named. DuckDB
 * decodes them with libraries of its own, and what stands beside the files of a lake may be of anybody.
 */

import { realpath } from 'node:fs/promises'
import { isAbsolute, relative, resolve, sep } from 'node:path'
import { ToolkitError } from '../../core/errors.ts'
import { statPath } from '../../support/list-files.ts'
import { pathOf } from '../duckdb/sql.ts'

export interface NamedFiles {
  /** As they stand in a statement; `null` where one is computed. */
  readonly paths: readonly string[] | null
  /** Folders that were named for it. */
  readonly folders: readonly string[]
  /** The lake's folder on this machine. */
  readonly local: string
  /** Paths below it of the files that the lake lists. */
  readonly listed: () => Promise<ReadonlySet<string>>
}

/** @throws {ToolkitError} `USAGE` where there is no such folder */
export const checkFolder = async (folder: string): Promise<void> => {
  if ((await statPath(folder))?.kind === 'folder') return
  throw new ToolkitError('USAGE', `Cannot read files of "${folder}": there is no such folder, expected one`)
}

/** A path as it is written, and where its links lead. A pattern leads nowhere. */
const placesOf = async (path: string): Promise<readonly string[]> => {
  const written = resolve(pathOf(path.replace(/^file:(\/\/(localhost)?(?=\/))?/i, '')))
  return [...new Set([written, await realpath(written).catch(() => written)])]
}

/** The path below a folder, with `/`; `undefined` of one that is not below it. */
const below = (folder: string, path: string): string | undefined => {
  const found = relative(folder, path)
  const isBelow = found !== '' && !isAbsolute(found) && found !== '..' && !found.startsWith(`..${sep}`)
  return isBelow ? found.split(sep).join('/') : undefined
}

/** @throws {ToolkitError} `QUERY_REFUSED`, `QUERY_FAILED` */
export const refuseUnlisted = async ({ paths, folders, local, listed }: NamedFiles): Promise<void> => {
  if (paths === null)
    throw new ToolkitError(
      'QUERY_REFUSED',
      'Cannot run the statement: it computes the path of a Parquet file, expected paths in quotes',
    )
  if (paths.length === 0) return
  const open = (await Promise.all(folders.map(placesOf))).flat()
  const [lakes, known] = [await placesOf(local), await listed()]
  for (const path of paths) {
    const places = await placesOf(path)
    const isListed = lakes.some((lake) => places.some((place) => known.has(below(lake, place) ?? '')))
    const isOpen = places.every((place) => open.some((folder) => below(folder, place) !== undefined))
    if (isListed || isOpen) continue
    throw new ToolkitError(
      'QUERY_FAILED',
      `Cannot read "${path}": the lake does not list it, expected a view or a file that it lists; "query" and "mcp" read those of --files, too`,
    )
  }
}
