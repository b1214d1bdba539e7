/** The columns of the tables whose rows are objects of the contract, with the service's names mapped once. */

import {
  BASIC_DETAILS,
  BENEFICIAL_OWNERSHIP,
  COMPANY,
  ENHANCED_DETAILS,
  LINKED_IN,
  META_DATA,
  RELATION,
  RELATIONS_COMPANY,
  ROLE,
} from '../../contract/objects.ts'
import { type FieldColumn, fieldColumns } from './columns.ts'

const BASIC = fieldColumns(BASIC_DETAILS, { Description: '', IndustryCode: '' }, '', ['BasicDetails'])
const META = fieldColumns(META_DATA, {}, '', ['MetaData'])
const taken = new Set([...BASIC, ...META].map(({ name }) => name))
const ENHANCED = fieldColumns(ENHANCED_DETAILS, {}, '', ['EnhancedDetails']).map((column) =>
  taken.has(column.name) ? { ...column, name: `enhanced_${column.name}` } : column,
)
const LINKEDIN: FieldColumn = {
  name: 'linkedin',
  type: `STRUCT(${fieldColumns(LINKED_IN)
    .map(({ name, type }) => `"${name}" ${type}`)
    .join(', ')})`,
  about: LINKED_IN.about,
  field: COMPANY.fields.LinkedIn,
  path: ['LinkedIn'],
}
const SCORE: FieldColumn = {
  name: 'score',
  type: 'DOUBLE',
  about: COMPANY.fields.Score.about,
  field: COMPANY.fields.Score,
  path: ['Score'],
}

/** Columns of `companies` that are fields of the contract, with their place in the record. */
export const COMPANY_COLUMNS: readonly FieldColumn[] = [...BASIC, ...ENHANCED, ...META, LINKEDIN, SCORE]

/** Columns of `relations` that are fields of the contract. */
export const RELATIONS_COLUMNS: readonly FieldColumn[] = fieldColumns(RELATIONS_COMPANY, {
  UBODetails: 'ubo_',
})

/** Columns of `relation_entities` that are fields of the contract, but for its InternalId (`entity_id`). */
export const ENTITY_COLUMNS: readonly FieldColumn[] = fieldColumns(RELATION).filter(
  ({ name }) => name !== 'internal_id',
)

/** Columns of `ownerships`: a beneficial ownership has all fields that the other kinds have. */
export const OWNERSHIP_COLUMNS: readonly FieldColumn[] = fieldColumns(BENEFICIAL_OWNERSHIP)

export const ROLE_COLUMNS: readonly FieldColumn[] = fieldColumns(ROLE)

/** The lists of ownerships in a relation, and the `kind` of their rows. */
export const OWNERSHIP_LISTS = {
  BeneficialOwnerships: 'Beneficial',
  Ownerships: 'Direct',
  UltimateOwnerships: 'Ultimate',
  CompanyStructureOwners: 'Structure',
} as const
