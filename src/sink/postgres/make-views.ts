/**
 * The views of the analysis layer that PostgreSQL takes, in the schema of the tables. A view that is as it is to be is left
 * alone: making it again would wait for everybody who reads it, and let everybody wait.
 */

import type { Client } from 'pg'
import { systemCode } from '../../core/errors.ts'
import { ident } from '../../lake/duckdb/sql.ts'
import { type PortableView, portableViews } from '../../lake/views/lake-sql.ts'
import { sha256Of } from '../../support/hash.ts'
import { qualified } from './target-tables.ts'

const HASH_DIGITS = 8
/** End of the comments of our views: views of others are left alone. It says by which statement the view was made. */
const markOf = ({ sql, comments }: PortableView): string =>
  ` (View of firmlake, ${sha256Of(`${sql};${comments('')}`).slice(0, HASH_DIGITS)}.)`
const MARKED = String.raw` \(View of firmlake, [0-9a-f]{${HASH_DIGITS}}\.\)$`

const DEPENDENT_OBJECTS = '2BP01'
/** SQLSTATE of a table or column that is not there or of another type, and of a right that is missing. */
const NOT_POSSIBLE = /^42/

interface Relation {
  readonly name: string
  readonly comment: string
  readonly isOurs: boolean
}

const relationsIn = async (client: Client, schema: string): Promise<readonly Relation[]> => {
  const { rows } = await client.query<Relation>(
    `SELECT name, comment, relkind = 'v' AND comment ~ $2 AS "isOurs" FROM (
  SELECT c.relname AS name, c.relkind, coalesce(obj_description(c.oid, 'pg_class'), '') AS comment
  FROM pg_catalog.pg_class AS c JOIN pg_catalog.pg_namespace AS n ON n.oid = c.relnamespace WHERE n.nspname = $1
) AS r`,
    [schema, MARKED],
  )
  return rows
}

/** Does some work, or nothing of it where it fails with an SQLSTATE of these. @returns whether it was done */
const unless = async (client: Client, states: RegExp, work: () => Promise<void>): Promise<boolean> => {
  await client.query('SAVEPOINT firmlake_view')
  try {
    await work()
  } catch (error) {
    if (!states.test(systemCode(error) ?? '')) throw error
    await client.query('ROLLBACK TO SAVEPOINT firmlake_view')
    return false
  }
  await client.query('RELEASE SAVEPOINT firmlake_view')
  return true
}

/** Without those of others that read them. */
const dropViews = async (client: Client, schema: string, views: readonly Relation[]): Promise<void> => {
  await client.query(`DROP VIEW ${views.map(({ name }) => qualified(schema, name)).join(', ')}`)
}

/** Removes our views where one of them has the name of a table that comes; `makeViews` makes the others again. */
export const giveWay = async (client: Client, schema: string, tables: ReadonlySet<string>): Promise<void> => {
  const ours = (await relationsIn(client, schema)).filter(({ isOurs }) => isOurs)
  if (ours.some(({ name }) => tables.has(name))) await dropViews(client, schema, ours)
}

/**
 * Makes the views that the tables allow, in the transaction that is open. What has the name of something else is left out,
 * and what reads it.
 *
 * @returns whether it did; otherwise views of others stand on older ones, which were left as they are
 */
export const makeViews = async (client: Client, schema: string): Promise<boolean> => {
  const views = portableViews()
  const found = new Map((await relationsIn(client, schema)).map((one) => [one.name, one]))
  const ours = [...found.values()].filter(({ isOurs }) => isOurs)
  const isAsMade = ({ name, comment }: Relation): boolean =>
    views.some((view) => view.name === name && comment.endsWith(markOf(view)))
  if (!ours.every(isAsMade)) {
    const dropped = await unless(client, new RegExp(DEPENDENT_OBJECTS), () => dropViews(client, schema, ours))
    if (!dropped) return false
    for (const { name } of ours) found.delete(name)
  }
  await client.query(`SET LOCAL search_path TO ${ident(schema)}`)
  const isLeftOut = new Set<string>()
  for (const view of views) {
    const there = found.get(view.name)
    if (there?.isOurs) continue
    const isPossible = there === undefined && !view.uses.some((name) => isLeftOut.has(name))
    const isMade =
      isPossible &&
      (await unless(client, NOT_POSSIBLE, async () => {
        await client.query(view.sql)
        await client.query(view.comments(markOf(view)))
      }))
    if (!isMade) isLeftOut.add(view.name)
  }
  return true
}
