/** The statements over figures that pages, help and agents' instructions show, each as one line. */

import { commandsIn, examplesIn, pages, readPage, squeezed } from '../support/page.ts'

const SOURCE =
  /\b(figures|figures_in|figure_changes|growth\w*|cagr|latest_figures|financials|financials_in|financials_wide|employees|headcounts|latest_headcounts)\b/
/** Adds up, averages, joins or compares. */
const COMBINES = /\b(sum|avg|median|convert_currency)\(|\bFILTER\b|\bJOIN\b|\b(growth\w*|cagr)\b|EBITDA \//
/** Its statements restore the current rows of published tables: test/publish holds these against other readers. */
const OF_TABLES = 'docs/published-tables.md'
/** Its lake has deliveries of two days: test/docs/point-in-time.test.ts holds its answers against the records. */
const BY_DATE = 'docs/point-in-time.md'

const JINJA = /\{\{ source\('firmlake', '(\w+)'\) \}\}/g
const SQL_OF_AGENTS = /"sql":("(?:[^"\\]|\\.)*")/g

/** As it runs over the views of a lake: without comments, the schema of a database and templates of dbt. */
const plain = (sql: string): string =>
  squeezed(
    sql
      .replaceAll(JINJA, '$1')
      .replaceAll(/--.*$/gm, '')
      .replaceAll(/\bfirmlake\.(\w+)/g, '$1')
      .replace(/;\s*$/, ''),
  )

const statementsOn = (page: string): string[] =>
  [
    ...examplesIn(page, 'sql').flatMap((code) => code.split(/;\s*\n/)),
    ...commandsIn(page).flat(),
    ...[...readPage(page).matchAll(SQL_OF_AGENTS)].map(([, text = '""']) => String(JSON.parse(text))),
  ].map(plain)

export const figureExamples = (): string[] =>
  [
    ...new Set(
      pages()
        .filter((page) => page !== OF_TABLES && page !== BY_DATE)
        .flatMap(statementsOn)
        .filter((sql) => /^(SELECT|FROM|WITH)\b/.test(sql) && SOURCE.test(sql) && COMBINES.test(sql)),
    ),
  ].filter((sql) => !sql.includes('duckdb_') && !sql.includes('VERSION =>'))
