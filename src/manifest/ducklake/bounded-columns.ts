/**
 * The columns whose least and greatest values stand in the catalog, by which readers leave files out. Texts only where they are
 * codes or numbers of companies: a bound is a value of some row, and none may be of a person.
 */

import { nameWithoutPast } from '../../lake/tables/past-tables.ts'
import type { Table } from '../../lake/tables/tables.ts'
import { type CatalogColumn, FILE_TABLES, fileTables } from './catalog-layout.ts'

const STRINGS: Readonly<Record<string, string>> = {
  companies:
    'org_no country_code company_type_name operational_status_name legal_form_name listing_type local_currency_code current_currency_code financial_figure_scale',
  financials: 'country_code consolidation category line_item currency',
  employees: 'country_code consolidation',
  relations: 'country_code legal_form_name operational_status_name',
  relation_entities: 'direction',
  ownerships: 'direction kind share_class status_code',
  roles: 'direction category',
  line_items: 'line_item category unit kind',
}

const isBounded = ({ name }: Table, column: CatalogColumn): boolean => {
  if (column.parent !== undefined || column.type === 'list' || column.type === 'struct') return false
  return column.type !== 'varchar' || (STRINGS[nameWithoutPast(name)] ?? '').split(' ').includes(column.name)
}

/** A column with bounds. */
export interface BoundedColumn {
  /** Id of the table of all versions. */
  readonly table: number
  readonly column: number
  readonly name: string
  readonly type: string
}

export const boundedColumns = (): readonly BoundedColumn[] => {
  const declared = new Map(fileTables(new Set()).map(({ id, columns }) => [id, columns]))
  return FILE_TABLES.flatMap(({ table, all }) =>
    (declared.get(all) ?? [])
      .filter((column) => isBounded(table, column))
      .map(({ id, name, type }) => ({ table: all, column: id, name, type })),
  )
}
