/** Which tables a statement reads, by the tree that `json_serialize_sql` makes of it. */

import type { JsonObject } from '../../support/json-form.ts'
import { nodesOf } from './sql-tree.ts'

/** Functions that read tables whose names only they know. */
const READING_FUNCTIONS = new Set(['query', 'query_table'])

/** DESCRIBE lists columns, of a table or a query, and reads no row. SUMMARIZE reads rows. */
const isDescribe = ({ type, show_type: shown }: JsonObject): boolean =>
  type === 'SHOW_REF' && shown !== 'SUMMARY'

/**
 * Names of the tables and views whose rows a statement reads, in lower case, of its own `WITH` too, and of the functions
 * that it calls: a macro reads tables; `null` where that cannot be determined.
 */
export const namedTables = (tree: unknown): ReadonlySet<string> | null => {
  const names = new Set<string>()
  for (const { type, table_name: table, function_name: called } of nodesOf(tree, isDescribe)) {
    if (typeof called === 'string' && READING_FUNCTIONS.has(called.toLowerCase())) return null
    if (typeof called === 'string') names.add(called.toLowerCase())
    if (type === 'BASE_TABLE' && typeof table === 'string') names.add(table.toLowerCase())
  }
  return names
}

/** All words of a statement in lower case: whatever it reads is among them. `null` where that cannot be determined. */
export const mentionedTables = (sql: string): ReadonlySet<string> | null => {
  const words = new Set(sql.toLowerCase().match(/\w+/g))
  return [...READING_FUNCTIONS].some((name) => words.has(name)) ? null : words
}
