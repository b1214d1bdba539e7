/** Records that a snapshot shows, for rules that compare a run with them: their entries with files on this machine, and SQL. */

import type { Content } from '../contract/objects.ts'
import type { Snapshot } from '../core/partition.ts'
import { ident } from '../lake/duckdb/sql.ts'
import { fetchFiles, fetchTables } from '../lake/files/fetch-tables.ts'
import type { Table } from '../lake/tables/tables.ts'
import {
  filesOf,
  oldVersions,
  readTable,
  versionFacts,
  versionFilesOf,
} from '../lake/views/current-versions.ts'
import { readAllListed, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { CHECK, tableNamed } from './staged-files.ts'

/** The partitions of a content, whose files in some tables can be read. @param tables @default the main one */
export const readShown = async (
  lake: string,
  root: SnapshotRoot,
  content: Content,
  tables: readonly string[] = [content],
): Promise<Snapshot> => {
  const snapshot = await readAllListed(lake, root, ({ contents = [] }) => contents.includes(content))
  await fetchTables(lake, snapshot, tables, CHECK)
  await fetchFiles(lake, versionFacts(versionFilesOf(snapshot, 'superseded', tableNamed(content))), CHECK)
  return snapshot
}

/** Rows of a main table that are shown, with their `version`. */
export const shownRows = (table: Table, snapshot: Snapshot, lake: string): string =>
  `SELECT r.* FROM (${readTable(table, filesOf(snapshot, lake, table.name), 'with-version')}) AS r
ANTI JOIN (${oldVersions(snapshot, lake, table)}) AS o ON o.owner = r.${ident(table.owner ?? '')} AND o.version = r.version`
