/** The protected persons of an open snapshot, found once in the lake's own tables: the explorer may have no serving index. */

import { BIRTH_KEY_SQL, NATIONAL_KEY_SQL, ORGANISATION_KEY_SQL } from '../../core/person-keys.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { entityMarks, insertMarksBeyond, MARK_COLUMNS } from '../persons/find-marks.ts'
import { personTables } from '../persons/person-tables.ts'

/** The views that have to be readable. */
export const PERSON_READS = ['companies', 'relations', 'relation_entities'] as const

const MARKS = 'explorer.mark'
const COLUMNS = Object.entries(MARK_COLUMNS)
  .map(([name, type]) => `${name} ${type}`)
  .join(', ')

/** @param session in which nothing is narrowed yet */
export const findLakePersons = async (session: Session): Promise<void> => {
  await session.run('CREATE SCHEMA IF NOT EXISTS explorer')
  await session.run(`CREATE OR REPLACE TABLE ${MARKS} (${COLUMNS})`)
  await session.run(`INSERT INTO ${MARKS} BY NAME ${entityMarks('relation_entities')}`)
  await insertMarksBeyond(session, 'relations', 'relations', MARKS)
  await session.run(`CREATE OR REPLACE TABLE ${MARKS}_beside (${COLUMNS})`)
  await insertMarksBeyond(session, 'companies', 'companies', `${MARKS}_beside`)
  const statements = personTables({
    marks: `(SELECT * FROM ${MARKS} UNION ALL SELECT * REPLACE (NULL AS internal_id) FROM ${MARKS}_beside)`,
    persons: `(SELECT entity_id AS person_id, ${NATIONAL_KEY_SQL} AS number,
  CASE WHEN coalesce(entity_id, 0) = 0 AND national_identification_number IS NULL THEN ${BIRTH_KEY_SQL} END AS birth, company_id AS internal_id
  FROM relation_entities)`,
    companies: `(SELECT internal_id, ${ORGANISATION_KEY_SQL} AS number FROM companies
  UNION ALL SELECT internal_id, ${ORGANISATION_KEY_SQL} FROM relations UNION ALL SELECT entity_id, ${ORGANISATION_KEY_SQL} FROM relation_entities)`,
  })
  for (const sql of statements) await session.run(sql)
}
