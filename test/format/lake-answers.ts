/** What a lake says of itself: rows of each table, current and of all versions, and a hash of them. */

import { createHash } from 'node:crypto'
import { query } from '../../src/index.ts'

export const TABLES = [
  ...['companies', 'financials', 'employees', 'relations', 'relation_entities', 'ownerships', 'roles'],
  ...['line_items'],
] as const

export interface TableAnswer {
  readonly rows: number
  /** SHA-256 of the rows as JSON, whatever their order and that of their columns. */
  readonly sha256: string
}

/** A value as JSON with its members by name, without those that are null. */
const textOf = (value: unknown): string =>
  JSON.stringify(value, (_, one) =>
    typeof one === 'bigint'
      ? String(one)
      : one !== null && typeof one === 'object' && !Array.isArray(one)
        ? Object.fromEntries(
            Object.entries(one)
              .filter(([, member]) => member !== null && member !== undefined)
              .sort(([a], [b]) => (a < b ? -1 : 1)),
          )
        : one,
  )

export const answerOf = (rows: readonly unknown[]): TableAnswer => {
  const strings = rows.map(textOf).sort()
  return { rows: rows.length, sha256: createHash('sha256').update(strings.join('\n')).digest('hex') }
}

/** By the name of the view. */
export const answersOf = async (lake: string): Promise<Readonly<Record<string, TableAnswer>>> => {
  const answers: Record<string, TableAnswer> = {}
  const names = [...TABLES.flatMap((table) => [table, `${table}_history`]), 'companies_all', 'quarantine']
  for (const name of names) {
    const found = await query({ lake, sql: `SELECT to_json(t)::VARCHAR AS row FROM ${name} AS t` })
    const rows = found.map(({ row }) => JSON.parse(String(row)))
    answers[name] = answerOf(rows)
  }
  return answers
}
