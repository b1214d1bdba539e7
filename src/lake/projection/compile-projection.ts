/** A projection as SQL: the condition of each content, and the rows of each table as they are taken. */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Session } from '../duckdb/engine.ts'
import { asExpression, ident, literal } from '../duckdb/sql.ts'
import { declaredColumns, type Table } from '../tables/tables.ts'
import { checkExpressions, type Expression } from './check-sql.ts'
import { computedColumns } from './computed-columns.ts'
import { HASH, hashKeyOf, keyIdOf, makeHash, readHashKey } from './hash-key.ts'
import { type Hidden, hiddenColumns } from './hidden-columns.ts'
import { hidesNothing, type KeptTake, keptTake, type Projection } from './projection.ts'

export interface CompiledProjection {
  readonly declared: KeptTake
  /** The condition of a content, on the columns of its table of the same name; absent where all records are taken. */
  readonly condition: (content: Content) => string | undefined
  readonly takesTable: (table: string) => boolean
  /** The rows of a table as they are taken, with all columns: `from` stands behind FROM. */
  readonly select: (table: string, from: string) => string
  /** The columns that are NULL in every row. */
  readonly excluded: (table: string) => readonly string[]
  /** Makes ready what its SQL calls, in the engine of the session. */
  readonly prepare: (session: Session) => Promise<void>
}

const countryCondition = ({ countries = [] }: Projection): string | undefined =>
  countries.length === 0 ? undefined : `country_code IN (${countries.map(literal).join(', ')})`

const conditionOf = (take: Projection, where: string | undefined): string | undefined => {
  const parts = [countryCondition(take), where && asExpression(where)].filter((one) => one !== undefined)
  return parts.length === 0 ? undefined : parts.map((one) => `coalesce(${one}, false)`).join(' AND ')
}

const insteadOf = (column: string, type: string, { instead }: Hidden): string => {
  if (instead.kind === 'text' && type === 'VARCHAR')
    return `CASE WHEN ${column} IS NOT NULL THEN ${literal(instead.text)} END`
  if (instead.kind === 'hash')
    return type === 'VARCHAR' ? `${HASH}(${column})` : `[${HASH}(one) FOR one IN ${column}]`
  return `NULL::${type}`
}

const replaced = (column: string, type: string, hidden: Hidden): string => {
  const instead = insteadOf(column, type, hidden)
  return `${hidden.onlyPersons ? `CASE WHEN is_company THEN ${column} ELSE ${instead} END` : instead} AS ${column}`
}

/**
 * Columns that a loader has as ENUMs of all names that a run has seen: DuckDB writes each of these to a file of Parquet, also
 * those of records alone that are left out.
 */
const SEEN_NAMES: Readonly<Record<string, readonly string[]>> = {
  financials: ['country_code', 'category', 'line_item', 'currency'],
  employees: ['country_code'],
}

const isGone = ({ instead, onlyPersons }: Hidden): boolean => instead.kind === 'null' && !onlyPersons

/** The expressions of a declaration, to be checked. */
const expressionsOf = (
  { where, whereRelations, compute }: Projection,
  excluded: CompiledProjection['excluded'],
): readonly Expression[] => [
  ...[
    { what: 'the condition on companies', table: 'companies', sql: where ?? '', isCondition: true },
    { what: 'the condition on relations', table: 'relations', sql: whereRelations ?? '', isCondition: true },
  ].filter(({ sql }) => sql !== ''),
  ...computedColumns(compute).map((one) => ({ ...one, excluded: new Set(excluded(one.table)) })),
]

const COUNTRY = /^[A-Z]{2}$/

const checkCountries = ({ countries = [] }: Projection): void => {
  const other = countries.find((code) => !COUNTRY.test(code))
  if (other !== undefined)
    throw new ToolkitError(
      'PROJECTION_INVALID',
      `Cannot take countries "${other}": expected codes of two letters, such as NO`,
    )
}

/** @throws {ToolkitError} HASH_KEY_WRONG where it is another one, or none */
const checkKey = ({ hash = [], keyId }: KeptTake, key: Buffer | undefined): string | undefined => {
  if (hash.length === 0) return undefined
  if (key === undefined)
    throw new ToolkitError(
      'HASH_KEY_WRONG',
      `Cannot hash ${hash.join(', ')}: no key is given; set FIRMLAKE_HASH_KEY or FIRMLAKE_HASH_KEY_FILE`,
    )
  const id = keyIdOf(key)
  if (keyId !== undefined && keyId !== id)
    throw new ToolkitError(
      'HASH_KEY_WRONG',
      `Cannot hash ${hash.join(', ')} with key ${id}: the lake has hashes of key ${keyId}, so equal values would differ`,
    )
  return id
}

/**
 * Checks a declaration and makes SQL of what it hides. Computed columns are checked: see `computed-columns.ts`.
 *
 * @param given the key of hashed columns. @default that of the environment
 * @returns `undefined` where nothing is hidden
 * @throws {ToolkitError} PROJECTION_INVALID, HASH_KEY_WRONG
 */
export const compileProjection = async (
  take: KeptTake,
  given?: string | Uint8Array | undefined,
): Promise<CompiledProjection | undefined> => {
  const kept = keptTake(take)
  const key =
    kept.hash === undefined ? undefined : given === undefined ? await hashKeyOf() : readHashKey(given)
  checkCountries(kept)
  const { tables, columns } = hiddenColumns(kept)
  const keyId = checkKey(kept, key)
  const excluded = (table: string): readonly string[] =>
    [...(columns.get(table) ?? [])].flatMap(([column, one]) => (isGone(one) ? [column] : []))
  await checkExpressions(expressionsOf(kept, excluded))
  if (hidesNothing(kept)) return undefined
  const conditions: Readonly<Record<Content, string | undefined>> = {
    companies: conditionOf(kept, kept.where),
    relations: conditionOf(kept, kept.whereRelations),
  }
  const leavesRecordsOut =
    Object.values(conditions).some((one) => one !== undefined) || kept.byFunction === true
  return {
    declared: { ...kept, ...(keyId !== undefined && { keyId }) },
    condition: (content) => conditions[content],
    // A dictionary of nothing that is there.
    takesTable: (table) => !tables.has(table === 'line_items' ? 'financials' : table),
    excluded,
    select: (table, from) => {
      const hidden = [...(columns.get(table) ?? [])]
      const seen = leavesRecordsOut ? (SEEN_NAMES[table] ?? []) : []
      const spelled = seen.filter((column) => columns.get(table)?.has(column) !== true)
      if (hidden.length + spelled.length === 0) return `FROM ${from}`
      const declared = declaredColumns(table)
      const typeOf = (column: string): string =>
        declared.find(({ name }) => name === column)?.type ?? 'VARCHAR'
      const changed = [
        ...hidden.map(([column, one]) => replaced(ident(column), typeOf(column), one)),
        ...spelled.map((column) => `${ident(column)}::VARCHAR AS ${ident(column)}`),
      ]
      return `SELECT * REPLACE (${changed.join(', ')}) FROM ${from}`
    },
    prepare: async (session) => {
      if (key !== undefined && keyId !== undefined) await makeHash(session, key)
    },
  }
}

/**
 * The rows of a table that belong to records which are taken, as they are taken.
 *
 * @param rows a SELECT of the table's rows
 * @param records a SELECT of the rows of its content's own table, which has one a record; `version` of the columns that tell
 *   versions apart, where both have them
 */
export const takenRows = (
  take: CompiledProjection,
  { name, content, owner = '' }: Table,
  rows: string,
  records: string,
  version: readonly string[] = [],
): string => {
  const condition = content && take.condition(content)
  if (condition === undefined) return take.select(name, `(${rows})`)
  const own = [owner, ...version].map(ident).join(', ')
  const of = ['internal_id', ...version].map(ident).join(', ')
  const some = `SELECT * FROM (${rows}) WHERE (${own}) IN (SELECT (${of}) FROM (${records}) WHERE ${condition})`
  return take.select(name, `(${some})`)
}
