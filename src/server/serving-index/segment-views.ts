/**
 * An index's segments in an engine: their databases attached, and views in the schema `serving` of the rows that count. A record
 * counts in the last segment that has it.
 */

import { join } from 'node:path'
import type { Content } from '../../contract/objects.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { refuseAllButTables } from '../../lake/duckdb/untrusted-database.ts'
import { personTables } from '../persons/person-tables.ts'
import { INDEX_TABLES, type SegmentDescription, searchFile, UNLISTED_TABLE } from './index-form.ts'

type TableName = keyof typeof INDEX_TABLES

/** The table with one row a record, and the tables whose rows belong to records. */
const MAIN: Readonly<Record<Content, TableName>> = { companies: 'company', relations: 'relation' }
const CONTENT_OF: Readonly<Record<TableName, Content>> = {
  company: 'companies',
  figure: 'companies',
  latest_sales: 'companies',
  posting: 'companies',
  embedding: 'companies',
  relation: 'relations',
  person: 'relations',
  protected: 'relations',
  protected_beside: 'companies',
}

const database = (segment: number): string => `segment_${segment}`
const supersededTable = (segment: number, content: Content): string =>
  `serving.superseded_${content}_${segment}`

/** Ids that a segment decides on: rows that it has, and companies that it does not list. */
const idsOf = (
  { records, unlisted = 0 }: SegmentDescription,
  at: number,
  content: Content,
): readonly string[] => [
  ...(records[content] > 0 ? [`SELECT internal_id FROM ${database(at)}.${MAIN[content]}`] : []),
  ...(content === 'companies' && unlisted > 0
    ? [`SELECT internal_id FROM ${database(at)}.${UNLISTED_TABLE}`]
    : []),
]

/** Makes the table of the ids that later segments supersede, or do not list. @returns whether there are any */
const findSuperseded = async (
  session: Session,
  segments: readonly SegmentDescription[],
  segment: number,
  content: Content,
): Promise<boolean> => {
  const later = segments.flatMap((one, at) => (at > segment ? idsOf(one, at, content) : []))
  if (later.length === 0 || segments[segment]?.records[content] === 0) return false
  const table = supersededTable(segment, content)
  await session.run(`CREATE OR REPLACE TABLE ${table} AS SELECT internal_id FROM ${database(segment)}.${MAIN[content]}
SEMI JOIN (${later.join(' UNION ALL ')}) USING (internal_id)`)
  const [counted] = await session.rows(`SELECT count(*)::INTEGER AS ids FROM ${table}`)
  return Number(counted?.ids) > 0
}

/** A segment's rows of a table, with their companies' ids. */
const rowsOf = (segment: number, table: TableName): string =>
  table === 'posting'
    ? `(SELECT term, internal_id, weight FROM ${database(segment)}.posting
        JOIN (SELECT rowid AS company_row, internal_id FROM ${database(segment)}.company) USING (company_row))`
    : `${database(segment)}.${ident(table)}`

/**
 * Attaches the segments in a folder, locks the engine, and makes their views. The files stand in the lake, and may be of anybody.
 *
 * @throws {ToolkitError} `LAKE_DAMAGED` where one holds anything but tables
 */
export const attachSegments = async (
  session: Session,
  folder: string,
  segments: readonly SegmentDescription[],
): Promise<void> => {
  await session.run('CREATE SCHEMA IF NOT EXISTS serving')
  for (const [at, { name }] of segments.entries())
    await session.run(
      `ATTACH IF NOT EXISTS ${literal(join(folder, searchFile(name)))} AS ${database(at)} (READ_ONLY)`,
    )
  await session.lock()
  for (const at of segments.keys()) await refuseAllButTables(session, database(at))
  const superseded = new Map<string, boolean>()
  for (const at of segments.keys())
    for (const content of ['companies', 'relations'] as const)
      superseded.set(`${content} ${at}`, await findSuperseded(session, segments, at, content))
  for (const table of Object.keys(INDEX_TABLES) as TableName[]) {
    const content = CONTENT_OF[table]
    const isMain = MAIN[content] === table
    const parts = [...segments.keys()].map((at) => {
      const rows = `${rowsOf(at, table)} AS t`
      const only = superseded.get(`${content} ${at}`)
        ? ` ANTI JOIN ${supersededTable(at, content)} AS s ON s.internal_id = t.internal_id`
        : ''
      return `SELECT t.*${isMain ? `, ${at}::SMALLINT AS segment` : ''} FROM ${rows}${only}`
    })
    await session.run(`CREATE OR REPLACE VIEW serving.${ident(table)} AS ${parts.join(' UNION ALL ')}`)
  }
  // The dates are those of the company with the same id, which may stand in another segment.
  await session.run(`CREATE OR REPLACE VIEW serving.dated_relation AS SELECT r.*, c.content_updated_at, c.relations_updated_at
FROM serving.relation AS r LEFT JOIN serving.company AS c ON c.internal_id = r.internal_id`)
}

/** Makes the tables of the protected persons of an index whose segments are attached. */
export const findPersons = async (session: Session): Promise<void> => {
  const statements = personTables({
    marks: `(SELECT * FROM serving.protected UNION ALL SELECT * REPLACE (NULL AS internal_id) FROM serving.protected_beside)`,
    persons: '(SELECT person_id, upper(national_id) AS number, birth, internal_id FROM serving.person)',
    companies: `(SELECT internal_id, upper(org_no) AS number FROM serving.company UNION ALL SELECT internal_id, upper(org_no) FROM serving.relation)`,
  })
  for (const sql of statements) await session.run(sql)
}
