/** Whom the current records of a lake protect: in their relations, and in fields that the contract does not know. */

import { CONTENT, type Content, PROTECTED_IDENTITY } from '../../contract/objects.ts'
import { BIRTH_KEY_SQL, numberKeySql } from '../../core/person-keys.ts'
import type { Session } from '../../lake/duckdb/engine.ts'
import { literal } from '../../lake/duckdb/sql.ts'
import { isJsonObject, parseToRewrite } from '../../support/exact-json.ts'
import { personIdentity } from './identity.ts'
import { NOBODY, protectedParts } from './protected-parts.ts'
import { partsOf } from './record-parts.ts'

/** Columns of a table of marks: what a protected person is known by, and the record that says so. */
export const MARK_COLUMNS = {
  person_id: 'BIGINT',
  number: 'VARCHAR',
  birth: 'VARCHAR',
  internal_id: 'BIGINT',
} as const

/** Marks of entities, as rows of `MARK_COLUMNS`. @param entities a relation with the columns of `relation_entities` */
export const entityMarks = (entities: string): string => `SELECT nullif(entity_id, 0) AS person_id,
  unnest([${numberKeySql('national_identification_number')}, CASE WHEN is_company IS NOT TRUE THEN ${numberKeySql('org_no')} END]) AS number,
  ${BIRTH_KEY_SQL} AS birth, company_id AS internal_id
FROM ${entities} WHERE is_protected`

/** Fields beyond the contract that may protect somebody, or may spell a name in another way. */
const MAY_PROTECT = ['isprotected', PROTECTED_IDENTITY.toLowerCase(), '\\u']
  .map((text) => `contains(lower(extra), ${literal(text)})`)
  .join(' OR ')

type Mark = readonly [id: string | null, number: string | null, birth: string | null, record: string]

const LARGEST_ID = 2n ** 63n - 1n
const asId = (id: string | undefined): string | null =>
  id === undefined || BigInt(id) > LARGEST_ID ? null : id

/** @param extra fields of a record that the contract does not know, below the names of the objects that they stand in */
const marksIn = (content: Content, record: string, extra: string): readonly Mark[] => {
  const fields = parseToRewrite(extra)
  if (!isJsonObject(fields)) return []
  const parts = partsOf(fields, CONTENT[content])
  return [...protectedParts(parts, NOBODY)].flatMap((part): Mark[] => {
    const { id, numbers, birth, isCompany } = personIdentity(part)
    // A record that marks itself has its id elsewhere.
    const isOwn = part.kind === 'record' || part.above?.kind === 'record'
    const own = isOwn && (part.kind === 'record' || part.kind === 'part') ? record : null
    const known = isCompany ? [] : numbers
    return (known.length === 0 ? [null] : known).map((number) => [
      asId(id) ?? own,
      number,
      birth ?? null,
      record,
    ])
  })
}

const AT_ONCE = 5_000

/** Adds the marks in fields that the contract does not know. @param records a relation with `internal_id` and `extra` @param table of `MARK_COLUMNS` */
export const insertMarksBeyond = async (
  session: Session,
  content: Content,
  records: string,
  table: string,
): Promise<void> => {
  const marks: Mark[] = []
  const found = session.stream(
    `SELECT internal_id::VARCHAR AS id, extra FROM ${records} WHERE extra IS NOT NULL AND (${MAY_PROTECT})`,
  )
  for await (const rows of found)
    for (const { id, extra } of rows) marks.push(...marksIn(content, String(id), String(extra)))
  const columns = Object.entries(MARK_COLUMNS).map(
    ([name, type], at) => `mark[${at + 1}]::${type} AS ${name}`,
  )
  for (let at = 0; at < marks.length; at += AT_ONCE)
    await session.run(
      `INSERT INTO ${table} BY NAME SELECT ${columns.join(', ')}
FROM (SELECT unnest(json_transform($1, '[["VARCHAR"]]')) AS mark)`,
      [JSON.stringify(marks.slice(at, at + AT_ONCE))],
    )
}
