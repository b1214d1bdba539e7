/** Parquet files that a user's statement names itself, beside those of the views that it reads. */

import type { Session } from './engine.ts'
import { constantStrings, listAt, nodesOf, tableName } from './tree-nodes.ts'

const READERS = new Set([
  ...['read_parquet', 'parquet_scan', 'parquet_metadata', 'parquet_schema'],
  ...['parquet_file_metadata', 'parquet_full_metadata', 'parquet_kv_metadata'],
])

/** DuckDB takes a table that there is not for a file, and one with this in its name for Parquet. */
const PARQUET = /\.parquet/i

/**
 * The paths of such files.
 *
 * @param tree of statements in which there is no call that is not allowed
 * @returns `null` where a path does not stand there as a text
 */
export const namedParquet = async (session: Session, tree: unknown): Promise<readonly string[] | null> => {
  const paths: string[] = []
  for (const node of nodesOf(tree)) {
    const table = tableName(node)
    if (table !== undefined && PARQUET.test(table)) paths.push(table)
    const called = typeof node.function_name === 'string' ? node.function_name.toLowerCase() : ''
    const strings = (): readonly string[] | undefined => constantStrings(listAt(node, 'children')[0])
    if (READERS.has(called)) {
      const read = strings()
      if (read === undefined) return null
      paths.push(...read)
    }
    if (called === 'query_table') paths.push(...(strings() ?? []).filter((name) => PARQUET.test(name)))
    if (called === 'query') {
      const parsed = await session.parse(strings()?.[0] ?? '')
      const within = parsed.kind === 'selects' ? await namedParquet(session, parsed.statements) : null
      if (within === null) return null
      paths.push(...within)
    }
  }
  return paths
}

/** Whether a statement without a tree may name one. */
export const mayNameParquet = (sql: string): boolean => /parquet/i.test(sql)
