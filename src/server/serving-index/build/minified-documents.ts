/** `{"MinifiedInfo":{…}}` of every company, from the columns of the full record's fields. */

import type { Field } from '../../../contract/fields.ts'
import { MINIFIED_INFO } from '../../../contract/objects.ts'
import { ident, literal } from '../../../lake/duckdb/sql.ts'
import { COMPANY_COLUMNS, type FieldColumn } from '../../../lake/tables/columns.ts'
import { jsonMember, objectText, valueText } from '../../../lake/tables/value-sql.ts'

const PARTS = ['BasicDetails', 'MetaData', 'EnhancedDetails']

/** The column of the field of the same name, letter case aside, in the first part that has one. */
const columnOf = (name: string): FieldColumn => {
  const found = PARTS.flatMap((part) =>
    COMPANY_COLUMNS.filter(
      ({ path }) => path.length === 2 && path[0] === part && path[1]?.toLowerCase() === name.toLowerCase(),
    ),
  )[0]
  if (found === undefined) throw new TypeError(`Cannot find the column of MinifiedInfo.${name}`)
  return found
}

const fieldText = (field: Field, column: FieldColumn): string => {
  const value = ident(column.name)
  if (field.kind === 'date-time') {
    // As it was reported, where the instant does not give that back.
    const reported = literal(`$.${column.path.map((name) => `"${name}"`).join('.')}`)
    return `coalesce(json_extract(as_reported, ${reported})::VARCHAR, ${valueText(field, value)})`
  }
  return valueText(field, field.omitted === 'zero' ? `nullif(${value}, 0)` : value)
}

/** `internal_id, document`. @param companies a relation with the columns of the lake's `companies` */
export const minifiedDocuments = (companies: string): string => {
  const members = Object.entries(MINIFIED_INFO.fields).map(([name, field]) =>
    jsonMember(name, fieldText(field, columnOf(name))),
  )
  return `SELECT internal_id, ${objectText([jsonMember('MinifiedInfo', objectText(members))])} AS document FROM ${companies}`
}
