/**
 * Rows of the forgotten that do not have their ids: entities without an id go by a national id, or by a name beside the date of birth.
 * An entity with another id is another, whatever its number.
 */

import { type Identifiers, identifiersOf } from '../core/identifiers.ts'
import { BIRTH_KEY_SQL, NATIONAL_KEY_SQL, ORGANISATION_KEY_SQL } from '../core/person-keys.ts'
import { pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { cutByBytes } from '../lake/files/fetch-tables.ts'
import { isOfTable } from '../lake/tables/past-tables.ts'
import { HIDDEN_SCHEMA } from '../lake/views/current-versions.ts'
import { type FoundIds, heldAt } from './find-held.ts'
import { COMPANY_IDS, FILES_AT_ONCE, type ForgetWork, withLakeFiles } from './forget-work.ts'
import { addStrings, collectStrings } from './resolve-ids.ts'

const NUMBERS = `${HIDDEN_SCHEMA}.forgotten_numbers`
const BIRTHS = `${HIDDEN_SCHEMA}.forgotten_births`

const makeKeyTable = async (
  { session }: ForgetWork,
  name: string,
  keys: ReadonlySet<string>,
): Promise<void> => {
  await session.run(`CREATE OR REPLACE TABLE ${name} (key VARCHAR)`)
  await session.run(`INSERT INTO ${name} SELECT unnest(json_transform($1, '["VARCHAR"]'))`, [
    JSON.stringify([...keys]),
  ])
}

const HAS_NUMBER = `(coalesce(${NATIONAL_KEY_SQL} IN (FROM ${NUMBERS}), false) OR coalesce(${ORGANISATION_KEY_SQL} IN (FROM ${NUMBERS}), false))`

/** Entities that are theirs though they have no id; `Identifiers.isOfKeys` is the same of a record's text. */
const IS_THEIRS = `coalesce(entity_id, 0) = 0
  AND (${HAS_NUMBER} OR ${NATIONAL_KEY_SQL} IS NULL AND coalesce(${BIRTH_KEY_SQL} IN (FROM ${BIRTHS}), false))`

interface FileAt {
  readonly path: string
  readonly place: number
}

/** Calls `look` for some files of a table at a time, with an SQL relation of their rows and `file_index`. */
const lookInto = async (
  work: ForgetWork,
  table: string,
  look: (files: readonly FileAt[], from: string, paths: readonly string[]) => Promise<void>,
): Promise<void> => {
  const { snapshot, localBytes, signal } = work
  const files = snapshot.partitions.flatMap((partition, place) =>
    partition.files.flatMap((file) => (isOfTable(file, table) && file.rows > 0 ? [{ ...file, place }] : [])),
  )
  for (const group of cutByBytes(files, localBytes, FILES_AT_ONCE)) {
    signal?.throwIfAborted()
    await withLakeFiles(work, group, (placeOf) => {
      const paths = group.map(({ path }) => placeOf(path))
      return look(group, readParquet(pathsSql(paths), 'union_by_name = true'), paths)
    })
  }
}

/**
 * Collects what identifies the forgotten, and adds to what is held the records that have entities of theirs without an id.
 *
 * @param given national ids that were asked for
 */
export const findByKeys = async (
  work: ForgetWork,
  { held }: FoundIds,
  given: readonly string[],
): Promise<Identifiers> => {
  const { ids, session } = work
  const strings = await collectStrings(work, held, given)
  const all = [...ids.companies, ...ids.persons]
  for (;;) {
    const identifiers = identifiersOf(strings, all)
    await makeKeyTable(work, NUMBERS, identifiers.keys.numbers)
    await makeKeyTable(work, BIRTHS, identifiers.keys.births)
    let isMore = false
    await lookInto(work, 'relation_entities', async (files, from, paths) => {
      const rows = await session.rows(
        `SELECT DISTINCT file_index::INTEGER AS file, company_id::VARCHAR AS owner FROM ${from}
WHERE ${IS_THEIRS} AND company_id NOT IN (FROM ${COMPANY_IDS})`,
      )
      for (const { file, owner } of rows)
        heldAt(held, files[Number(file)]?.place ?? 0).changed.add(BigInt(String(owner)))
      if (rows.length > 0)
        isMore = (await addStrings(work, 'relation_entities', paths, IS_THEIRS, strings)) || isMore
    })
    // Other keys of such rows may find further ones.
    if (!isMore) return identifiers
  }
}
