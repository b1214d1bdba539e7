/** The tables and views of `lake.ducklake` as sources of dbt: names, descriptions, units. */

import { definitionsFor } from '../src/analysis/definitions.ts'
import { LINE_ITEMS } from '../src/contract/line-items.ts'
import { columnComment } from '../src/lake/tables/columns.ts'
import { LISTINGS, QUARANTINE, TABLES, tableComment } from '../src/lake/tables/tables.ts'
import { HISTORY_COLUMNS } from '../src/lake/views/base-views.ts'
import { baseComments, type Comments, commentsOf } from '../src/lake/views/comments.ts'

/** A table or view with the comments that the catalog has on it. */
type Relation = Pick<Comments, 'name' | 'about' | 'columns'>

/** The lines of the quarantine are not in the catalog. */
const isInCatalog = (view: string, column: string): boolean =>
  view !== QUARANTINE.name || (column !== 'raw' && column !== 'raw_base64')

const MAIN: readonly Relation[] = [
  ...baseComments(),
  ...definitionsFor()
    .filter(({ kind }) => kind === 'view')
    .map(commentsOf),
].map((view) => ({ ...view, columns: view.columns.filter(([name]) => isInCatalog(view.name, name)) }))

const HISTORY: readonly Relation[] = TABLES.map((table) => ({
  name: table.name,
  about: `All versions. ${tableComment(table)}`,
  columns: table.columns.map((column) => [column.name, columnComment(column)]),
}))

/** Units by the comment on a column, and by the name of a line item. */
const UNITS = new Map<string, string | undefined>([
  ...[...TABLES, QUARANTINE, LISTINGS]
    .flatMap(({ columns }) => columns)
    .concat(HISTORY_COLUMNS)
    .map((column) => [columnComment(column), column.unit] as const),
  ...LINE_ITEMS.map(({ lineItem, unit }) => [lineItem, unit] as const),
])

/** Between double quotes YAML reads a text as JSON does, whatever is in it. */
const quoted = (text: string): string => JSON.stringify(text)

const columnLines = ([name, about]: Relation['columns'][number]): string[] => {
  const unit = UNITS.get(about) ?? UNITS.get(name)
  return [
    `          - name: ${quoted(name)}`,
    `            description: ${quoted(about)}`,
    ...(unit === undefined ? [] : [`            config: { meta: { unit: ${quoted(unit)} } }`]),
  ]
}

const sourceLines = (
  name: string,
  schema: string,
  about: string,
  relations: readonly Relation[],
): string[] => [
  `  - name: ${name}`,
  `    description: ${quoted(about)}`,
  '    database: lake',
  `    schema: ${schema}`,
  '    tables:',
  ...relations.flatMap((relation) => [
    `      - name: ${quoted(relation.name)}`,
    `        description: ${quoted(relation.about)}`,
    '        columns:',
    ...relation.columns.flatMap(columnLines),
  ]),
]

/** The sources as YAML. @param made how the file is made */
export const dbtSourcesText = (made: string): string =>
  [
    `# ${made}`,
    '# Sources of dbt in a lake.ducklake that dbt-duckdb attaches as "lake": copy this file into models/ of a dbt project.',
    'version: 2',
    'sources:',
    ...sourceLines('firmlake', 'main', 'Current rows of a lake, and the views over them.', MAIN),
    ...sourceLines('firmlake_history', 'history', 'All versions of the rows of a lake.', HISTORY),
    '',
  ].join('\n')
