/** Which columns are written as dictionaries: texts of closed or small sets. Knows the lake's tables, not Arrow. */

import {
  COMPANY_COLUMNS,
  ENTITY_COLUMNS,
  isNumericCode,
  OWNERSHIP_COLUMNS,
  RELATIONS_COLUMNS,
  ROLE_COLUMNS,
} from '../../lake/tables/columns.ts'

/** Columns that are no field of the contract by themselves, and codes that it has no dictionary for. */
const OTHERS = [
  'country_code',
  'consolidation',
  'category',
  'line_item',
  'currency',
  'direction',
  'kind',
  'unit',
] as const

const FIELD_COLUMNS = [
  ...COMPANY_COLUMNS,
  ...RELATIONS_COLUMNS,
  ...ENTITY_COLUMNS,
  ...OWNERSHIP_COLUMNS,
  ...ROLE_COLUMNS,
]

/**
 * Names of the columns whose texts repeat: codes, names of codes, line items. By name alone, so that a query's
 * columns are written like those of the tables they come from.
 */
export const DICTIONARY_COLUMNS: ReadonlySet<string> = new Set([
  ...OTHERS,
  ...FIELD_COLUMNS.flatMap(({ name, field }) => {
    if (isNumericCode(field)) return [`${name}_name`]
    return field.kind === 'text' && (field.codes !== undefined || /_currency(_code)?$/.test(name))
      ? [name]
      : []
  }),
])
