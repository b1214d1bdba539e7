/** A declaration as SQL: the condition of each content, and the rows of each table as they are taken. */

import type { Content } from '../../contract/objects.ts'
import { ToolkitError } from '../../core/errors.ts'
import type { Session } from '../duckdb/engine.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { TABLES } from '../tables/tables.ts'
import { asExpression, checkExpressions, type Expression } from './check-sql.ts'
import { type KeptTake, keptTake, type Take, takesAll } from './declaration.ts'
import { HASH, hashKeyOf, keyIdOf, makeHash, readHashKey } from './hash-key.ts'
import { type Hidden, hiddenColumns } from './hidden-columns.ts'

/** What becomes of a column that is left out: the tables of a lake and of a database have all columns. */
export type LeftOutColumns = 'null' | 'absent'

export interface CompiledTake {
  readonly declared: KeptTake
  /** Of the records of a content, on the columns of its table of the same name; absent where all are taken. */
  readonly condition: (content: Content) => string | undefined
  readonly takesTable: (table: string) => boolean
  /** The rows of a table as they are taken: `from` stands behind FROM. */
  readonly select: (table: string, from: string, leftOut?: LeftOutColumns) => string
  /** Makes ready what its SQL calls, in the engine of the session. */
  readonly prepare: (session: Session) => Promise<void>
}

const countryCondition = ({ countries = [] }: Take): string | undefined =>
  countries.length === 0 ? undefined : `country_code IN (${countries.map(literal).join(', ')})`

const conditionOf = (take: Take, where: string | undefined): string | undefined => {
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

/** The conditions of a declaration, to be checked. */
const expressionsOf = ({ where, whereRelations }: Take): readonly Expression[] =>
  [
    { what: 'the condition on companies', table: 'companies', sql: where ?? '', isCondition: true },
    { what: 'the condition on relations', table: 'relations', sql: whereRelations ?? '', isCondition: true },
  ].filter(({ sql }) => sql !== '')

const COUNTRY = /^[A-Z]{2}$/

const checkCountries = ({ countries = [] }: Take): void => {
  const other = countries.find((code) => !COUNTRY.test(code))
  if (other !== undefined)
    throw new ToolkitError(
      'TAKE_WRONG',
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
 * Checks a declaration and makes SQL of it.
 *
 * @param given the key of hashed columns. @default that of the environment
 * @returns `undefined` where everything is taken
 * @throws {ToolkitError} TAKE_WRONG, HASH_KEY_WRONG
 */
export const compileTake = async (
  take: KeptTake,
  given?: string | Uint8Array | undefined,
): Promise<CompiledTake | undefined> => {
  const kept = keptTake(take)
  if (takesAll(kept)) return undefined
  const key =
    kept.hash === undefined ? undefined : given === undefined ? await hashKeyOf() : readHashKey(given)
  checkCountries(kept)
  const { tables, columns } = hiddenColumns(kept)
  const keyId = checkKey(kept, key)
  await checkExpressions(expressionsOf(kept))
  const conditions: Readonly<Record<Content, string | undefined>> = {
    companies: conditionOf(kept, kept.where),
    relations: conditionOf(kept, kept.whereRelations),
  }
  const leavesRecordsOut =
    Object.values(conditions).some((one) => one !== undefined) || kept.byFunction === true
  return {
    declared: { ...kept, ...(keyId !== undefined && { keyId }) },
    condition: (content) => conditions[content],
    takesTable: (table) => !tables.has(table),
    select: (table, from, leftOut = 'null') => {
      const hidden = [...(columns.get(table) ?? [])]
      const absent = leftOut === 'absent' ? hidden.filter(([, one]) => isGone(one)) : []
      const others = hidden.filter((one) => !absent.includes(one))
      const seen = leavesRecordsOut ? (SEEN_NAMES[table] ?? []) : []
      const spelled = seen.filter((column) => columns.get(table)?.has(column) !== true)
      if (hidden.length + spelled.length === 0) return `FROM ${from}`
      const declared = TABLES.find(({ name }) => name === table)?.columns ?? []
      const typeOf = (column: string): string =>
        declared.find(({ name }) => name === column)?.type ?? 'VARCHAR'
      const exclude =
        absent.length > 0 ? ` EXCLUDE (${absent.map(([column]) => ident(column)).join(', ')})` : ''
      const changed = [
        ...others.map(([column, one]) => replaced(ident(column), typeOf(column), one)),
        ...spelled.map((column) => `${ident(column)}::VARCHAR AS ${ident(column)}`),
      ]
      const replace = changed.length > 0 ? ` REPLACE (${changed.join(', ')})` : ''
      return `SELECT *${exclude}${replace} FROM ${from}`
    },
    prepare: async (session) => {
      if (key !== undefined && keyId !== undefined) await makeHash(session, key)
    },
  }
}
