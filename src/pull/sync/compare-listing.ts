/** Compares a listing with the lake: which companies are new, changed, unchanged, and which the listing lacks. */

import { dirname } from 'node:path'
import { META_DATA, MINIFIED_INFO } from '../../contract/objects.ts'
import type { SearchParameters } from '../../contract/requests.ts'
import type { Snapshot } from '../../core/partition.ts'
import { ident, literal, NO_FOLDER_COLUMNS, pathsSql } from '../../lake/duckdb/sql.ts'
import { openLakeQuery } from '../../lake/query/lake-query.ts'
import { instantsOf } from '../../lake/tables/value-sql.ts'
import { TOOL } from '../../support/own-package.ts'
import { companyColumn, scopeOf } from '../windows/ask-listed.ts'
import { type IdValue, idValue } from '../windows/search.ts'

export interface Comparison {
  /** Companies in the listing. */
  readonly listed: number
  readonly new: readonly IdValue[]
  readonly changed: readonly IdValue[]
  readonly unchanged: number
  /**
   * Companies of the lake that match the search there and are not listed; absent where the lake cannot tell
   * which of its companies the search means.
   */
  readonly absent?: readonly IdValue[]
}

/** Timestamps that a minified record and the lake both have. */
const STAMPS = Object.keys(MINIFIED_INFO.fields).filter(
  (name) => name.endsWith('UpdatedAt') && name in META_DATA.fields,
)

const EMPTY: Snapshot = {
  ...{ snapshot: 0, parent: null, run: '', pipeline: '', tool: TOOL, time: '' },
  ...{ partitions: [], files: [], versions: [] },
}

const listedSql = (files: readonly string[]): string => {
  const fields = [`${ident('InternalId')} BIGINT`, ...STAMPS.map((name) => `${ident(name)} VARCHAR`)]
  const strings = STAMPS.map((name) => `i.${ident(name)}`).join(', ')
  // A company that moved between two pages may be listed twice.
  return `SELECT DISTINCT ON (i.${ident('InternalId')}) i.${ident('InternalId')} AS id, ${instantsOf(`[${strings}]`)} AS stamps
FROM (SELECT ${ident('MinifiedInfo')} AS i FROM read_ndjson(${pathsSql(files)}, ${NO_FOLDER_COLUMNS},
  columns = {${ident('MinifiedInfo')}: ${literal(`STRUCT(${fields.join(', ')})`)}}, auto_detect = false, records = true))
WHERE i.${ident('InternalId')} IS NOT NULL`
}

const compareSql = (files: readonly string[], scope: string | undefined): string => {
  const stamps = STAMPS.map((name) => companyColumn('MetaData', name)).join(', ')
  return `WITH listed AS (${listedSql(files)}),
held AS (SELECT internal_id AS id, [${stamps}] AS stamps, ${scope ?? 'false'} AS meant FROM companies)
SELECT coalesce(listed.id, held.id) AS id,
  CASE WHEN held.id IS NULL THEN 'new'
    WHEN listed.id IS NULL THEN 'absent'
    WHEN listed.stamps IS DISTINCT FROM held.stamps THEN 'changed'
    ELSE 'unchanged' END AS state
FROM listed FULL JOIN held ON listed.id = held.id
WHERE listed.id IS NOT NULL OR held.meant`
}

interface CompareListingRequest {
  readonly lake: string
  /** `null` for a lake without one. */
  readonly snapshot: Snapshot | null
  readonly search: SearchParameters
  /** Files of the listing, inside the lake's folder. */
  readonly files: readonly string[]
  /** DuckDB's memory in bytes. */
  readonly memoryBytes: number
}

/** @throws {ToolkitError} QUERY_FAILED */
export const compareListing = async (request: CompareListingRequest): Promise<Comparison> => {
  const { lake, snapshot, search, files, memoryBytes } = request
  const scope = scopeOf(search)
  const query = await openLakeQuery({
    ...{ lake, snapshot: snapshot ?? EMPTY, memoryBytes },
    check: 'every-read',
    files: files.map((file) => dirname(file)),
  })
  const ids = { new: [] as IdValue[], changed: [] as IdValue[], absent: [] as IdValue[] }
  let unchanged = 0
  try {
    const { rows } = await query.run(`SELECT * FROM (${compareSql(files, scope)}) ORDER BY id`)
    for await (const chunk of rows) {
      for (const [id, state] of chunk) {
        if (state === 'unchanged') unchanged += 1
        else if (state === 'new' || state === 'changed' || state === 'absent')
          ids[state].push(idValue(BigInt(String(id))))
      }
    }
  } finally {
    query.close()
  }
  const { absent, ...found } = ids
  const listed = unchanged + ids.new.length + ids.changed.length
  return { listed, ...found, unchanged, ...(scope !== undefined && { absent }) }
}
