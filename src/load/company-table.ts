/** The companies of a part as the table that DuckDB selects from. Its inverse: `restore/profile-texts.ts`. */

import type { ColumnTable } from '../lake/duckdb/column-tables.ts'
import { COMPANY_COLUMNS } from '../lake/tables/columns.ts'
import { extraColumn, oneEach, type RowPart, rowTable } from './row-table.ts'

/** Rows of `companies`: one a record. All date-times of a company are members of its MetaData. */
export const companiesTable = (companies: RowPart): ColumnTable => {
  const { rows } = companies.part
  return rowTable(companies, {
    table: 'companies',
    fields: COMPANY_COLUMNS,
    cells: rows.objects.records,
    end: oneEach(rows),
    dateTimes: 'MetaData',
    others: () => extraColumn(rows),
  })
}
