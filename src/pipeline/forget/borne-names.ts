/** Which names that the contract does not know the records of a partition have. Few records are read whole for it. */

import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition, Drift } from '../../core/partition.ts'
import { ident, literal } from '../../lake/duckdb/sql.ts'
import { HIDDEN_SCHEMA } from '../../lake/lake/current-versions.ts'
import { cutByBytes } from '../../lake/lake/files-in-turn.ts'
import type { FieldColumn } from '../../lake/tables/columns.ts'
import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../lake/tables/record-columns.ts'
import { driftKey } from './clean-drift.ts'
import { pathsSql } from './find-held.ts'
import { type ForgetWork, withLakeFiles } from './forget-work.ts'
import { checkAgain } from './reload.ts'
import { restoredTexts } from './restored-texts.ts'

const WANTED = `${HIDDEN_SCHEMA}.wanted_names`
const INSERTED_AT_ONCE = 1000

/** What a name ends with, behind places in lists: a member's own name, or what of it is behind its last dot. */
const lastPart = (name: string): string => name.slice(name.lastIndexOf('.') + 1)
const lastPartSql = `regexp_extract(regexp_replace(member.key, '\\[\\d+\\]', '[]', 'g'), '[^.]*$')`

const makeWanted = async ({ session }: ForgetWork, names: readonly Drift[]): Promise<void> => {
  await session.run(`CREATE OR REPLACE TABLE ${WANTED} (kind VARCHAR, name VARCHAR)`)
  const rows = names.map(({ kind, name }) => {
    const text = kind === 'field' ? lastPart(name) : name
    return `(${literal(kind)}, ${literal(text)})`
  })
  for (let at = 0; at < rows.length; at += INSERTED_AT_ONCE)
    await session.run(`INSERT INTO ${WANTED} VALUES ${rows.slice(at, at + INSERTED_AT_ONCE).join(', ')}`)
}

const wanted = (kind: Drift['kind']): string => `(SELECT name FROM ${WANTED} WHERE kind = ${literal(kind)})`

interface Look {
  readonly kind: Drift['kind']
  readonly table: string
  /** SQL of one owner of each thing that may be a wanted name, over `rows`. */
  readonly owners: string
}

/** Of each way to an unknown member one owner; ways through lists are the same for all their places. */
const fields = (table: Content): Look => ({
  kind: 'field',
  table,
  owners: `SELECT min(owner) AS owner
FROM (SELECT internal_id AS owner, extra FROM rows WHERE extra IS NOT NULL) AS r, json_tree(r.extra) AS member
WHERE ${lastPartSql} IN ${wanted('field')}
GROUP BY regexp_replace(member.fullkey, '/\\d+|\\[\\d+\\]', '[]', 'g')`,
})

const codes = (table: string, owner: string, columns: readonly FieldColumn[]): readonly Look[] =>
  columns.flatMap(({ name, path, field }) => {
    if (!('codes' in field) || field.codes === undefined) return []
    const code = `${literal(`${path.at(-1)}=`)} || ${ident(name)}`
    return {
      kind: 'code',
      table,
      owners: `SELECT min(${owner}) AS owner FROM rows WHERE ${code} IN ${wanted('code')} GROUP BY ${ident(name)}`,
    }
  })

const LOOKS: Readonly<Record<Content, readonly Look[]>> = {
  companies: [
    fields('companies'),
    ...codes('companies', 'internal_id', COMPANY_COLUMNS),
    {
      kind: 'line-item',
      table: 'financials',
      owners: `SELECT min(internal_id) AS owner FROM rows
WHERE category || '.' || line_item IN ${wanted('line-item')} GROUP BY category, line_item`,
    },
  ],
  relations: [
    fields('relations'),
    ...codes('relations', 'internal_id', RELATIONS_COLUMNS),
    ...codes('relation_entities', 'company_id', ENTITY_COLUMNS),
    ...codes('roles', 'company_id', ROLE_COLUMNS),
  ],
}

/**
 * @param partition whose files are in the lake
 * @returns of some names those that its records have, as `driftKey`
 */
export const borneNames = async (
  work: ForgetWork,
  partition: CommittedPartition,
  names: readonly Drift[],
): Promise<ReadonlySet<string>> => {
  const { session, localBytes, signal } = work
  await makeWanted(work, names)
  const owners = new Set<bigint>()
  for (const { kind, table, owners: select } of LOOKS[partition.content]) {
    if (names.every((one) => one.kind !== kind)) continue
    const files = partition.files.filter((file) => file.table === table && file.rows > 0)
    for (const group of cutByBytes(files, localBytes)) {
      signal?.throwIfAborted()
      const found = await withLakeFiles(work, group, (placeOf) =>
        session.rows(`WITH rows AS (FROM read_parquet(${pathsSql(group.map(({ path }) => placeOf(path)))},
  union_by_name = true, hive_partitioning = false))
${select}`),
      )
      for (const { owner } of found) owners.add(BigInt(String(owner)))
    }
  }
  if (owners.size === 0) return new Set()
  const { drift } = await checkAgain(work, partition.content, restoredTexts(work, partition, [...owners]))
  return new Set(names.map(driftKey).filter((key) => drift.has(key)))
}
