/**
 * Instants of records in the catalog, where they are not those of their versions: small sources that share a partition, records of a
 * compaction, and sources that were loaded again as of another instant. And those of listings that lacked a company again.
 */

import { join } from 'node:path'
import type { VersionFile } from '../../core/partition.ts'
import { ident, literal, pathsSql, readParquet } from '../../lake/duckdb/sql.ts'
import { type PlaceOf, withFiles } from '../../lake/files/fetch-tables.ts'
import { LISTINGS, mainTables, type RecordTable } from '../../lake/tables/tables.ts'
import { versionFacts, versionFilesOf } from '../../lake/views/current-versions.ts'
import { lastVersionWith } from '../../lake/views/version-order.ts'
import { CONFIRMED, INSTANTS, LOADS } from './catalog-layout.ts'
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

/** Names of the lists of a kind before a step. */
const namesBefore = ({ before }: Step, kind: VersionFile['kind'], table: RecordTable): ReadonlySet<string> =>
  new Set(before === null ? [] : versionFilesOf(before, kind, table).map(({ name }) => name))

const listsOf = (step: Step, table: RecordTable, hasOwnInstants: boolean): Lists => {
  const superseded = versionFilesOf(step.after, 'superseded', table)
  const known = namesBefore(step, 'superseded', table)
  return {
    superseded,
    isAnew: superseded.every(({ name }) => !known.has(name)),
    last: hasOwnInstants ? versionFilesOf(step.after, 'last', table) : [],
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
) WHERE last.version IN (${[...own].join(', ')})`,
        ]),
  ]
  return parts.join('\nUNION ALL ')
}

const AS_OF = `strftime(make_timestamp(epoch_us(d.as_of)), '%Y-%m-%dT%H:%M:%S.%gZ')`

const nextRow = (rows: string): string =>
  `(SELECT coalesce(max(row_id), 0) FROM ${rows}) + row_number() OVER ()`

/** Puts the listings that lacked a company again into the catalog: their lists are short. */
const insertConfirmed = async (
  statements: StatementQueue,
  step: Step,
  table: RecordTable,
  { scratch }: WorkFolders,
): Promise<void> => {
  const { lake, after } = step
  const lists = versionFilesOf(after, 'confirmed', table)
  const known = namesBefore(step, 'confirmed', table)
  if (lists.length === known.size && lists.every(({ name }) => known.has(name))) return
  const { rows } = CONFIRMED
  const isSame = `r.end_snapshot IS NULL AND r.owner = d.owner AND r.version = d.version AND r.as_of = d.as_of`
  await withFiles(lake, versionFacts(lists), join(scratch, 'confirmed'), {}, async (placeOf) => {
    const listed =
      lists.length === 0
        ? 'SELECT NULL::BIGINT AS owner, NULL::BIGINT AS version, NULL AS as_of LIMIT 0'
        : `SELECT ${ident(table.owner ?? '')} AS owner, version, ${AS_OF} AS as_of
FROM ${readParquet(pathsSql(versionFacts(lists).map(({ path }) => placeOf(path))))} AS d`
    await statements.run(`CREATE OR REPLACE TEMP TABLE dated AS ${listed}`)
    await statements.run(`UPDATE ${rows} AS r SET end_snapshot = ${after.snapshot}
WHERE r.end_snapshot IS NULL AND NOT EXISTS (FROM ${DATED} AS d WHERE ${isSame})`)
    await statements.run(`INSERT INTO ${rows} SELECT ${nextRow(rows)}, ${after.snapshot}, NULL, d.owner, d.version, d.as_of
FROM ${DATED} AS d WHERE NOT EXISTS (FROM ${rows} AS r WHERE ${isSame})`)
    await statements.flush()
  })
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
  folders: WorkFolders,
): Promise<void> => {
  const { rows } = INSTANTS
  const { snapshot } = step.after
  for (const table of mainTables()) {
    if (table.content === LISTINGS.content) await insertConfirmed(statements, step, table, folders)
    const lists = listsOf(step, table, own.size > 0)
    const files = versionFacts([...lists.superseded, ...lists.last])
    if (files.length === 0) continue
    const isOwn = `content = ${literal(table.content)}`
    // A list that is damaged says so: it is small, and what it says cannot be seen in the rows.
    await withFiles(step.lake, files, join(folders.scratch, 'versions'), {}, async (placeOf) => {
      await statements.run(
        `CREATE OR REPLACE TEMP TABLE dated AS ${datedSql(table, lists, step, own, placeOf)}`,
      )
      await statements.run(`DELETE FROM ${DATED} AS d WHERE EXISTS (FROM ${rows} AS r WHERE r.end_snapshot IS NULL AND r.${isOwn}
  AND r.owner = d.owner AND r.version = d.version AND r.as_of = ${AS_OF})`)
      await statements.run(`UPDATE ${rows} SET end_snapshot = ${snapshot} WHERE end_snapshot IS NULL AND ${isOwn}
  AND (owner, version) IN (SELECT (owner, version) FROM ${DATED})`)
      await statements.run(`INSERT INTO ${rows}
SELECT ${nextRow(rows)}, ${snapshot}, NULL, ${literal(table.content)}, d.owner, d.version, ${AS_OF}
FROM ${DATED} AS d JOIN ${LOADS.rows} AS l ON l.version = d.version
WHERE d.as_of <> l.as_of::TIMESTAMPTZ`)
      await statements.flush()
    })
  }
}
