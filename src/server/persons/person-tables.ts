/**
 * Tables of the protected persons in an engine, the schema `persons`. Who is protected in one record is so in all, by the id or by the
 * national id; what other records say of the same ids counts too.
 */

import type { Session } from '../../lake/duckdb/engine.ts'
import type { KnownPersons } from './protected-parts.ts'

/** Relations that the tables are made from, as SQL to stand behind FROM. */
export interface PersonSources {
  /** `person_id, number, birth, internal_id`; no record where none of the relations says it. */
  readonly marks: string
  /** `person_id, number, internal_id` of the persons in relations, and `birth` of those who have neither. */
  readonly persons: string
  /** `internal_id, number` of companies by their organisation numbers. */
  readonly companies: string
}

/** `id` and `number` of protected persons, `birth`; `company`: companies that are theirs; `named`: those whose relations name them. */
export const personTables = ({ marks, persons, companies }: PersonSources): readonly string[] => [
  'CREATE SCHEMA IF NOT EXISTS persons',
  `CREATE OR REPLACE TABLE persons.mark AS SELECT DISTINCT person_id, number, birth, internal_id FROM ${marks}`,
  `CREATE OR REPLACE TABLE persons.number AS SELECT DISTINCT number FROM (
  SELECT number FROM persons.mark
  UNION ALL SELECT number FROM ${persons} WHERE person_id IN (SELECT person_id FROM persons.mark)
) WHERE number IS NOT NULL`,
  `CREATE OR REPLACE TABLE persons.id AS SELECT DISTINCT person_id FROM (
  SELECT person_id FROM persons.mark
  UNION ALL SELECT person_id FROM ${persons} WHERE number IN (FROM persons.number)
) WHERE person_id <> 0`,
  `INSERT INTO persons.number SELECT DISTINCT number FROM ${persons}
WHERE person_id IN (FROM persons.id) AND number IS NOT NULL AND number NOT IN (FROM persons.number)`,
  'CREATE OR REPLACE TABLE persons.birth AS SELECT DISTINCT birth FROM persons.mark WHERE birth IS NOT NULL',
  `CREATE OR REPLACE TABLE persons.company AS SELECT DISTINCT internal_id FROM ${companies}
WHERE internal_id IN (FROM persons.id) OR number IN (FROM persons.number)`,
  `CREATE OR REPLACE TABLE persons.named AS SELECT DISTINCT internal_id FROM (
  SELECT internal_id FROM persons.mark
  UNION ALL SELECT internal_id FROM ${persons}
  WHERE person_id IN (FROM persons.id) OR number IN (FROM persons.number) OR birth IN (FROM persons.birth)
) WHERE internal_id IS NOT NULL`,
  // A view of records joins this one table.
  `CREATE OR REPLACE TABLE persons.record AS SELECT internal_id, bool_or(is_own) AS is_own, bool_or(NOT is_own) AS is_named FROM (
  SELECT internal_id, true AS is_own FROM persons.company UNION ALL SELECT internal_id, false FROM persons.named
) GROUP BY internal_id`,
]

/** The tables in memory: protected persons are few. */
export interface ProtectedInLake extends KnownPersons {
  /** Ids of companies that are their own. */
  readonly companies: ReadonlySet<string>
  /** Ids of companies whose relations name them. */
  readonly named: ReadonlySet<string>
  /** Digest of whom they are. */
  readonly digest: string
}

const stringsOf = async (session: Session, table: string, column: string): Promise<ReadonlySet<string>> => {
  const rows = await session.rows(`SELECT ${column}::VARCHAR AS text FROM persons.${table}`)
  return new Set(rows.map(({ text }) => String(text)))
}

const DIGEST = `SELECT coalesce(sha256(string_agg(text, chr(10) ORDER BY text)), '') AS digest FROM (
  SELECT 'id ' || person_id AS text FROM persons.id UNION ALL SELECT 'number ' || number FROM persons.number
  UNION ALL SELECT 'birth ' || birth FROM persons.birth UNION ALL SELECT 'company ' || internal_id FROM persons.company)`

export const readPersons = async (session: Session): Promise<ProtectedInLake> => ({
  ids: await stringsOf(session, 'id', 'person_id'),
  numbers: await stringsOf(session, 'number', 'number'),
  births: await stringsOf(session, 'birth', 'birth'),
  companies: await stringsOf(session, 'company', 'internal_id'),
  named: await stringsOf(session, 'named', 'internal_id'),
  digest: String((await session.rows(DIGEST))[0]?.digest),
})
