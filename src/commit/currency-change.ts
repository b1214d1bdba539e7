/**
 * Keeps the figures of a lake's companies in the currency they have: a company's new version replaces its old one
 * whole, so figures in another currency would take the place of all its years without a word. Found before each commit
 * in the rows themselves.
 */

import { ToolkitError } from '../core/errors.ts'
import { pathsSql, readParquet } from '../lake/duckdb/sql.ts'
import { fetchFiles, fetchTables } from '../lake/files/fetch-tables.ts'
import { inLake } from '../lake/files/layout.ts'
import {
  filesOf,
  readTable,
  type VersionedFile,
  versionFacts,
  versionFilesOf,
} from '../lake/views/current-versions.ts'
import { ofLastVersion } from '../lake/views/version-order.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { CommitRule } from './commit-rule.ts'
import type { CurrencyChange } from './commit-summary.ts'
import { readShown, shownRows } from './shown-rows.ts'
import { CHECK, type StagedRun, stagedFiles, tableNamed } from './staged-files.ts'

const EXAMPLES = 3

/** The one currency of all companies of a lake, where the manifest shows it: all came by searches in it. */
const currencyOfAll = ({ lists }: SnapshotRoot): string | undefined => {
  const parts = [...lists.merged, ...lists.partitions].map(({ ref }) => ref)
  const currencies = new Set(parts.flatMap((part) => part.currencies ?? []))
  const [only] = currencies
  return currencies.size === 1 && only !== '' ? only : undefined
}

const COMPANIES = tableNamed('companies')

const companiesSql = (rows: string): string =>
  `SELECT internal_id AS id, current_currency_code AS currency, local_currency_code AS local, * FROM (${rows})`

/**
 * Companies that have another currency after the run; a hash of the staged ids bounds what is kept of the lake's. What is older
 * than that which the lake shows replaces nothing.
 *
 * @param held the companies that the lake shows, in SQL @param last paths of the lists of last versions
 */
const changedSql = (staged: readonly VersionedFile[], held: string, last: string): string => `staged AS (
  SELECT id, max(as_of) AS as_of, ${ofLastVersion('version')} AS version, ${ofLastVersion('currency')} AS currency,
    ${ofLastVersion('local')} AS local
  FROM (${companiesSql(readTable(COMPANIES, staged, 'with-as-of'))}) GROUP BY id),
held AS (
  SELECT id, version, currency, local FROM (${companiesSql(held)}) WHERE id IN (SELECT id FROM staged)),
changed AS (
  SELECT id, held.currency AS was, staged.currency AS becomes, held.version AS held_version,
    staged.version AS staged_version, held.local IS DISTINCT FROM staged.local AS moved
  FROM staged JOIN held USING (id) JOIN ${readParquet(last)} AS l ON l.internal_id = id AND l.version = held.version
  WHERE upper(held.currency) <> upper(staged.currency) AND staged.as_of >= l.as_of)`

/** A company without money in its figures before or after has none that could be replaced. */
const withFigures = (files: readonly VersionedFile[], version: string): string =>
  `SEMI JOIN (SELECT internal_id, version
    FROM (${readTable(tableNamed('financials'), files, 'with-version')}) WHERE internal_id IN (SELECT id FROM changed) AND currency IS NOT NULL
  ) AS of_${version} ON of_${version}.internal_id = changed.id AND of_${version}.version = changed.${version}`

/**
 * Compares the companies of a run with their current versions in a snapshot. Reads ids and currencies; figures only
 * where a currency differs.
 */
const findCurrencyChange = async (
  staged: StagedRun,
  root: SnapshotRoot | null,
): Promise<CurrencyChange | undefined> => {
  const { lake, loader } = staged
  if (!root?.totals.tables.some(({ table }) => table === 'companies')) return undefined
  const companies = await stagedFiles(staged, 'companies')
  if (companies.length === 0) return undefined
  const [seen] = await loader.rows(
    `SELECT min(upper(currency)) AS least, max(upper(currency)) AS most FROM (${companiesSql(readTable(COMPANIES, companies))})`,
  )
  if (seen?.least == null) return undefined
  if (seen.least === seen.most && seen.least === currencyOfAll(root)?.toUpperCase()) return undefined
  const snapshot = await readShown(lake, root, 'companies')
  const last = versionFacts(versionFilesOf(snapshot, 'last', COMPANIES))
  if (last.length === 0) return undefined
  await fetchFiles(lake, last, CHECK)
  const paths = pathsSql(last.map(({ path }) => inLake(lake, path)))
  const changed = changedSql(companies, shownRows(COMPANIES, snapshot, lake), paths)
  const [count] = await loader.rows(`WITH ${changed} SELECT count(*) AS companies FROM changed`)
  if (Number(count?.companies) === 0) return undefined
  await fetchTables(lake, snapshot, ['financials'], CHECK)
  const figures = await stagedFiles(staged, 'financials')
  const found = await loader.rows(`WITH ${changed}
SELECT id::VARCHAR AS id, was, becomes, count(*) OVER () AS companies, count(*) FILTER (moved) OVER () AS moved
FROM changed
${withFigures(filesOf(snapshot, lake, 'financials'), 'held_version')}
${withFigures(figures, 'staged_version')}
ORDER BY changed.id LIMIT ${EXAMPLES}`)
  const [first] = found
  if (first === undefined) return undefined
  return {
    companies: Number(first.companies),
    local: Number(first.moved),
    examples: found.map(({ id, was, becomes }) => ({
      id: String(id),
      from: String(was),
      to: String(becomes),
    })),
  }
}

/** In words: `3 companies (InternalId 1: USD by SEK, …)`. */
export const currencyChangeText = ({ companies, local, examples }: CurrencyChange): string => {
  const some = examples.map(({ id, from, to }) => `InternalId ${id}: ${from} by ${to}`).join('; ')
  const moved = local > 0 ? `, ${local} with another local currency than before` : ''
  return `${companies} ${companies === 1 ? 'company' : 'companies'} (${some}${companies > examples.length ? '; …' : ''})${moved}`
}

const refused = (run: string, change: CurrencyChange): ToolkitError => {
  const [first] = change.examples
  return new ToolkitError(
    'CURRENCY_CHANGED',
    `Cannot commit run "${run}": it would replace the figures of ${currencyChangeText(change)}, expected the ` +
      'currency they have; what is loaded is kept, the same command with --change-currency commits it',
    {
      ...{ run, companies: change.companies, ids: change.examples.map(({ id }) => id).join(' ') },
      ...{ from: first?.from ?? '', to: first?.to ?? '' },
    },
  )
}

/** @param allowed whether the change is meant: it is found all the same, to be said */
export const sameCurrency = (staged: StagedRun, allowed: boolean): CommitRule => {
  let looked: number | undefined
  let currencyChange: CurrencyChange | undefined
  return {
    look: async (root) => {
      const number = root?.snapshot ?? 0
      if (looked === number) return undefined
      currencyChange = await findCurrencyChange(staged, root)
      looked = number
      if (currencyChange && !allowed) throw refused(staged.run, currencyChange)
      return undefined
    },
    report: () => ({ ...(currencyChange && { currencyChange }) }),
  }
}
