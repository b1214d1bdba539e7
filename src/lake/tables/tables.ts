/** The tables of the lake: what a row is, its key, and every column with type, unit and meaning. */

import type { Content } from '../../contract/objects.ts'
import {
  COMPANY_COLUMNS,
  type Column,
  ENTITY_COLUMNS,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
  withCodeNames,
} from './columns.ts'

/** A table of a lake. */
export interface Table {
  readonly name: string
  /** Description of a row. */
  readonly row: string
  /** Content of the records that it is made from; absent for the dictionary. */
  readonly content?: Content
  readonly key: readonly string[]
  /** The column that says which record a row belongs to; absent for the dictionary. */
  readonly owner?: string
  readonly columns: readonly Column[]
}

/** A table of records: all but the dictionary. */
export type RecordTable = Table & { readonly content: Content }

const column = (name: string, type: string, about: string, unit?: string): Column =>
  unit === undefined ? { name, type, about } : { name, type, about, unit }

const EXTRA = column('extra', 'VARCHAR', 'Fields that the contract does not know, as JSON.')
const AS_REPORTED = column(
  'as_reported',
  'VARCHAR',
  'Date-times whose text cannot be restored from the instant, as JSON.',
)
const EMPTY_LISTS = column('empty_lists', 'VARCHAR[]', 'Lists that came empty: they have no rows to show it.')
const ID = column('internal_id', 'BIGINT', 'Company identifier.')
const COUNTRY = column('country_code', 'VARCHAR', 'ISO 3166-1 alpha-2 code.')
const CONSOLIDATION = column(
  'consolidation',
  'VARCHAR',
  "'Consolidated' (the group) or 'Unconsolidated' (the company alone). Many companies report both: do not add them.",
)
const YEAR = column('fiscal_year', 'SMALLINT', 'Fiscal year.')
const ENTITY_KEY = [
  column('company_id', 'BIGINT', 'Company whose relations these are.'),
  column('entity_no', 'BIGINT', 'Number of the entity in the record, in document order.'),
]
const ENTITY = [
  column('direction', 'VARCHAR', "'parent' or 'child'."),
  column('entity_id', 'BIGINT', 'Identifier of the related entity.'),
  column('is_history', 'BOOLEAN', 'Whether it stands in a history.'),
]
const NO = column('no', 'BIGINT', 'Number of the row within the entity.')

const TABLE_LIST = [
  {
    name: 'companies',
    row: 'a company',
    content: 'companies',
    key: ['internal_id'],
    owner: 'internal_id',
    columns: [...withCodeNames(COMPANY_COLUMNS), AS_REPORTED, EXTRA],
  },
  {
    name: 'financials',
    row: 'one reported figure',
    content: 'companies',
    key: ['internal_id', 'consolidation', 'category', 'line_item', 'fiscal_year'],
    owner: 'internal_id',
    columns: [
      ID,
      COUNTRY,
      CONSOLIDATION,
      column('category', 'VARCHAR', 'Category of the line item.'),
      column('line_item', 'VARCHAR', "Line item; see 'line_items' for its unit."),
      YEAR,
      column(
        'value',
        'DOUBLE',
        'The figure, scale applied to amounts: the double nearest to the exact product. Do not add several currencies or both consolidations: the macro figures_in has one figure a company.',
        'of the line item; amounts: whole currency',
      ),
      column(
        'currency',
        'VARCHAR',
        'Currency of amounts and per-share figures, which differ from company to company and do not add up; NULL for all others, and for line items that the contract does not know.',
      ),
      column(
        'reported',
        'DOUBLE',
        'The figure as it came, only where value / scale is not exactly it.',
        'as reported',
      ),
      column(
        'months',
        'SMALLINT',
        'Length of the fiscal year: as the statement says, else that of the other consolidation, else for the last year that of companies; NULL where none says it.',
        'months',
      ),
      column(
        'is_preferred',
        'BOOLEAN',
        'Whether it is of the preferred statement of the company and year: the consolidated one if that has a figure of an income statement or a balance sheet, else the unconsolidated one.',
      ),
    ],
  },
  {
    name: 'employees',
    row: 'headcount of a year',
    content: 'companies',
    key: ['internal_id', 'consolidation', 'fiscal_year'],
    owner: 'internal_id',
    columns: [
      ID,
      COUNTRY,
      CONSOLIDATION,
      YEAR,
      column('employees', 'DOUBLE', 'Headcount.', 'persons'),
      column(
        'is_preferred',
        'BOOLEAN',
        'Whether it is the one headcount of the company and year: that of the preferred statement, where there is none the other one.',
      ),
    ],
  },
  {
    name: 'relations',
    row: "a company's relation record",
    content: 'relations',
    key: ['internal_id'],
    owner: 'internal_id',
    columns: [...withCodeNames(RELATIONS_COLUMNS), EMPTY_LISTS, EXTRA],
  },
  {
    name: 'relation_entities',
    row: 'a parent or child, or an entry of its history',
    content: 'relations',
    key: ['company_id', 'entity_no'],
    owner: 'company_id',
    columns: [
      ...ENTITY_KEY,
      column('parent_no', 'BIGINT', 'The entity in whose history it stands.'),
      ...ENTITY,
      column('depth', 'INTEGER', 'Levels of history above it; 0 for a parent or child itself.'),
      ...withCodeNames(ENTITY_COLUMNS),
      column('masked', 'VARCHAR', 'Personal data that came masked, as JSON; its columns are NULL.'),
      EMPTY_LISTS,
      AS_REPORTED,
    ],
  },
  {
    name: 'ownerships',
    row: 'an ownership record',
    content: 'relations',
    key: ['company_id', 'entity_no', 'no'],
    owner: 'company_id',
    columns: [
      ...ENTITY_KEY,
      NO,
      ...ENTITY,
      column('kind', 'VARCHAR', "'Beneficial', 'Direct', 'Ultimate' or 'Structure'."),
      ...OWNERSHIP_COLUMNS,
      AS_REPORTED,
    ],
  },
  {
    name: 'roles',
    row: 'a key-person role',
    content: 'relations',
    key: ['company_id', 'entity_no', 'no'],
    owner: 'company_id',
    columns: [...ENTITY_KEY, NO, ...ENTITY, ...ROLE_COLUMNS, AS_REPORTED],
  },
  {
    name: 'line_items',
    row: 'a line item',
    key: ['category', 'line_item'],
    columns: [
      column('line_item', 'VARCHAR', 'Line item.'),
      column('category', 'VARCHAR', 'Category.'),
      column(
        'unit',
        'VARCHAR',
        "'amount', 'per share', 'ratio', 'count', 'month', 'months', 'class' or 'unknown'.",
      ),
      column('scaled', 'BOOLEAN', 'Whether the scale was applied.'),
      column(
        'kind',
        'VARCHAR',
        "'flow' over the months of a year, 'stock' at its end, 'ratio', 'count' or 'unknown'. Only flows grow with the length of a year.",
      ),
    ],
  },
] as const satisfies readonly Table[]

export type TableName = (typeof TABLE_LIST)[number]['name']
/** The tables of a lake, with their columns, keys and units. */
export const TABLES: readonly Table[] = TABLE_LIST

/** Lines that could not be loaded, with their reasons: JSON Lines beside the tables. */
export const QUARANTINE: Table = {
  name: 'quarantine',
  row: 'a line that could not be loaded',
  key: ['partition', 'source', 'line'],
  columns: [
    column('source', 'VARCHAR', 'Name of the source as given.'),
    column('content', 'VARCHAR', "'companies' or 'relations'."),
    column('line', 'BIGINT', 'Line number in the decoded source, from 1.'),
    column('byte_offset', 'BIGINT', 'Offset of its first byte in the decoded source.', 'bytes'),
    column('size_bytes', 'BIGINT', 'Length of the line.', 'bytes'),
    column('code', 'VARCHAR', 'Reason code.'),
    column('reason', 'VARCHAR', 'What is wrong, and where.'),
    column('raw', 'VARCHAR', 'The line as it came; NULL where it is no UTF-8.'),
    column('raw_base64', 'VARCHAR', 'The line in Base64 where it is no UTF-8.'),
  ],
}

/**
 * Companies that a whole listing of the service no longer had. They are rows of their own, in partitions that load no record;
 * a company that stands in a later partition again is listed again.
 */
export const LISTINGS: RecordTable = {
  name: 'listings',
  row: 'a company that the service no longer lists',
  content: 'companies',
  key: ['internal_id'],
  owner: 'internal_id',
  columns: [
    ID,
    column('service', 'VARCHAR', 'Origin of the service.'),
    column('search', 'VARCHAR', 'The search whose whole listing lacked the company, as JSON.'),
    column('seen', 'TIMESTAMPTZ', 'When the lake last had the company from the service.', 'instant, UTC'),
    column('gone_since', 'TIMESTAMPTZ', 'When the first listing without it was asked for.', 'instant, UTC'),
  ],
}

/** The dictionary of line items. */
export const dictionaryTable = (): Table => {
  const table = TABLES.find(({ name }) => name === 'line_items')
  if (table === undefined) throw new TypeError('Cannot find the declaration of table "line_items"')
  return table
}

/** The tables that sinks know: of companies that are not listed any more only where there are some. */
export const SINK_TABLES: readonly Table[] = [...TABLES, LISTINGS]

/** The declared columns of a table; none for an unknown one. */
export const declaredColumns = (table: string): readonly Column[] =>
  TABLES.find(({ name }) => name === table)?.columns ?? []

/** The comment on a table in a database. */
export const tableComment = ({ row, key }: Table): string => `A row is ${row}. Key: ${key.join(', ')}.`

export const tablesOf = (content: Content): readonly Table[] =>
  TABLES.filter((table) => table.content === content)

/** The table of each content that has one row a record, named like the content. */
export const mainTables = (): readonly RecordTable[] =>
  TABLES.flatMap((table) => (table.name === table.content ? [{ ...table, content: table.content }] : []))
