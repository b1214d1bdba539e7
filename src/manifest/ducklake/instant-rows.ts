/**
 * Instants of records in the catalog, where they are not those of their versions: small sources that share a partition, records of a
 * compaction, listings that a later one confirmed, and sources that were loaded again as of another instant.
 */

import { join } from 'node:path'
import type { VersionFile } from '../../core/partition.ts'
import { ident, literal, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { type PlaceOf, withFiles } from '../../lake/files/fetch-tables.ts'
import { LISTINGS, mainTables, type RecordTable } from '../../lake/tables/tables.ts'
import { versionFacts, versionFilesOf } from '../../lake/views/current-versions.ts'
import { lastVersionWith } from '../../lake/views/version-order.ts'
import { INSTANTS, LOADS } from './catalog-layout.ts'
import type { WorkFolders } from './delete-rows.ts'
import { NEW_FILES } from './file-rows.ts'
import type { StatementQueue } from './statement-queue.ts'
import type { Step } from './step-entries.ts'

const DATED = 'temp.dated'

interface Lists {
  readonly superseded: readonly VersionFile[]
  /** Whether all superseded versions may have other instants than before: their lists are written anew then. */
  readonly isAnew: boolean
  /** Empty where no last version can have an instant of its own. */
  readonly last: readonly VersionFile[]
}

const listsOf = ({ before, after }: Step, table: RecordTable, hasOwnInstants: boolean): Lists => {
  const superseded = versionFilesOf(after, 'superseded', table)
  const known = new Set(
    before === null ? [] : versionFilesOf(before, 'superseded', table).map(({ name }) => name),
  )
  const hasListings = after.totals.tables.some((one) => one.table === LISTINGS.name)
  const needsLast = hasOwnInstants || (hasListings && table.content === LISTINGS.content)
  return {
    superseded,
    isAnew: superseded.every(({ name }) => !known.has(name)),
    last: needsLast ? versionFilesOf(after, 'last', table) : [],
  }
}

/** SQL of `owner`, `version`, `as_of` of versions that may have an instant of their own. */
const datedSql = (
  { owner }: RecordTable,
  { superseded, isAnew, last }: Lists,
  { before }: Step,
  own: ReadonlySet<number>,
  placeOf: PlaceOf,
): string => {
  const [key, read] = [
    ident(owner ?? ''),
    (files: readonly VersionFile[]): string =>
      readParquet(pathsSql(versionFacts(files).map(({ path }) => placeOf(path)))),
  ]
  const isNew = isAnew
    ? 'true'
    : `next >= ${before?.nextVersion ?? 0} OR version IN (SELECT version FROM ${NEW_FILES})`
  const parts = [
    ...(superseded.length === 0
      ? []
      : [`SELECT ${key} AS owner, version, as_of FROM ${read(superseded)} WHERE ${isNew}`]),
    ...(last.length === 0
      ? []
      : [
          `SELECT owner, last.version, last.as_of FROM (
  SELECT ${key} AS owner, ${lastVersionWith('is_listing')} AS last FROM ${read(last)} GROUP BY owner
) WHERE last.is_listing OR last.version IN (${[...own].join(', ') || 'NULL'})`,
        ]),
  ]
  return parts.join('\nUNION ALL ')
}

/**
 * Puts the instants of a step into the catalog.
 *
 * @param own versions that came in which records have instants of their own
 */
export const insertInstants = async (
  statements: StatementQueue,
  step: Step,
  own: ReadonlySet<number>,
  { scratch }: WorkFolders,
): Promise<void> => {
  const { rows } = INSTANTS
  const { snapshot } = step.after
  const asOf = `strftime(make_timestamp(epoch_us(d.as_of)), '%Y-%m-%dT%H:%M:%S.%gZ')`
  for (const table of mainTables()) {
    const lists = listsOf(step, table, own.size > 0)
    const files = versionFacts([...lists.superseded, ...lists.last])
    if (files.length === 0) continue
    const isOwn = `content = ${literal(table.content)}`
    // A list that is damaged says so: it is small, and what it says cannot be seen in the rows.
    await withFiles(step.lake, files, join(scratch, 'versions'), {}, async (placeOf) => {
      await statements.run(
        `CREATE OR REPLACE TEMP TABLE dated AS ${datedSql(table, lists, step, own, placeOf)}`,
      )
      await statements.run(`DELETE FROM ${DATED} AS d WHERE EXISTS (FROM ${rows} AS r WHERE r.end_snapshot IS NULL AND r.${isOwn}
  AND r.owner = d.owner AND r.version = d.version AND r.as_of = ${asOf})`)
      await statements.run(`UPDATE ${rows} SET end_snapshot = ${snapshot} WHERE end_snapshot IS NULL AND ${isOwn}
  AND (owner, version) IN (SELECT (owner, version) FROM ${DATED})`)
      await statements.run(`INSERT INTO ${rows}
SELECT (SELECT coalesce(max(row_id), 0) FROM ${rows}) + row_number() OVER (), ${snapshot}, NULL, ${literal(table.content)}, d.owner, d.version, ${asOf}
FROM ${DATED} AS d JOIN ${LOADS.rows} AS l ON l.version = d.version
WHERE d.as_of <> l.as_of::TIMESTAMPTZ`)
      await statements.flush()
    })
  }
}
