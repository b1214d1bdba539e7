/** The versions of a content's records in the files of a snapshot: in the lists beside the manifest, and in what compactions kept of them. */

import { ident, pathSql, readParquet } from '../duckdb/sql.ts'
import type { PlaceOf } from '../files/fetch-tables.ts'
import { inLake } from '../files/layout.ts'
import { runsOfHistory, versionsTable } from '../tables/past-tables.ts'
import { LISTINGS, type RecordTable } from '../tables/tables.ts'
import {
  filesOf,
  type Listed,
  pathList,
  readTable,
  versionFacts,
  versionFilesOf,
} from './current-versions.ts'
import type { KnownVersions } from './intervals.ts'

/** The numbers of compactions that stand for merged versions; `undefined` where there is none. */
export const compactedNumbers = (
  { partitions }: Pick<Listed, 'partitions'>,
  { content }: Pick<RecordTable, 'content'>,
): KnownVersions['compacted'] => {
  const runs = runsOfHistory(partitions.filter((one) => one.content === content))
  const own = partitions.filter((one) => one.content === content && runs.has(one.run))
  const records = own.find(({ files }) => files.every(({ table }) => table !== LISTINGS.name))
  return records && { records: records.version, all: own.map(({ version }) => version) }
}

/** @returns `undefined` where nothing is superseded */
export const knownVersions = (
  listed: Pick<Listed, 'partitions' | 'files' | 'merged' | 'versions'>,
  main: RecordTable,
  placeOf: PlaceOf | string,
): KnownVersions | undefined => {
  const superseded = versionFacts(versionFilesOf(listed, 'superseded', main))
  if (superseded.length === 0) return undefined
  const at: PlaceOf = typeof placeOf === 'string' ? (path) => inLake(placeOf, path) : placeOf
  const compacted = compactedNumbers(listed, main)
  const versions = versionsTable(main.content)
  const list = pathList(superseded, (path) => pathSql(at(path)))
  return {
    superseded: `SELECT ${ident(main.owner ?? '')} AS owner, version, as_of, is_listing, next, is_gone FROM ${readParquet(list)}`,
    compacted,
    ...(compacted && {
      merged: `SELECT internal_id AS owner, version, as_of, is_listing FROM (${readTable(versions, filesOf(listed, at, versions.name))})`,
    }),
  }
}
