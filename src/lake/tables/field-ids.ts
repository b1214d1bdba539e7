/**
 * The field ids of the tables' columns, by which Iceberg finds a column in a file whatever it is called. An id belongs
 * to its column for ever: it stands in files that were written long ago.
 */

import { type ColumnTypeTree, ident, parseColumnType } from '../duckdb/sql.ts'
import { nameWithoutPast } from './past-tables.ts'

/**
 * Paths of all columns of a table, those within lists (`.element`) and structs included; the first has id 1. Append
 * only: a new column goes to the end wherever it stands in its table, and the path of one that is gone stays.
 */
const FIELD_PATHS: Readonly<Record<string, string>> = {
  companies: `
    load version internal_id company_name org_no country_code company_type company_type_name
    operational_status operational_status_name legal_form legal_form_name listing_type
    address_street address_zipcode address_city address_county address_muncipality
    business_description_eng business_description_original industry_codes industry_codes.element
    industry_codes.element.code industry_codes.element.text industry_codes.element.type
    weighted_group_industry_codes weighted_group_industry_codes.element
    weighted_group_industry_codes.element.code weighted_group_industry_codes.element.text
    weighted_group_industry_codes.element.type email phone url additional_urls
    additional_urls.element vat_number registration_date signatory previous_names
    previous_names.element has_reported_missing_ubo has_foreign_ultimate_parent has_group_structure
    keywords keywords.element private_equity_owner website_summary ultimate_parent_org_no
    ultimate_parent_company_name enhanced_url enhanced_additional_urls
    enhanced_additional_urls.element local_currency_code current_currency_code
    financial_figure_scale fiscal_year_length last_fiscal_year_end last_report_quarter
    beneficial_owner_updated_at company_info_updated_at financials_updated_at
    secondary_financials_updated_at key_people_updated_at owners_updated_at content_updated_at
    relations_updated_at generated_at linkedin linkedin.name linkedin.description linkedin.industry
    linkedin.classification linkedin.classification_code linkedin.company_type
    linkedin.company_founded linkedin.company_website linkedin.country linkedin.addresses
    linkedin.addresses.element linkedin.number_of_employees linkedin.size_range linkedin.followers
    linkedin.keywords linkedin.keywords.element linkedin.source_url score as_reported extra
    snapshot run loaded_at as_of
    firmlake_version until`,
  financials: `
    load version internal_id country_code consolidation category line_item fiscal_year value
    currency reported
    snapshot run loaded_at as_of months is_preferred
    firmlake_version until`,
  employees: `
    load version internal_id country_code consolidation fiscal_year employees
    snapshot run loaded_at as_of is_preferred
    firmlake_version until`,
  relations: `
    load version internal_id name org_no country_code legal_form legal_form_name operational_status
    operational_status_name total_number_of_shares total_number_of_votes
    ubo_has_reported_missing_ubo ubo_case_no ubo_registration_id ubo_status ubo_suspicion_level
    ubo_suspicion_date ubo_suspicion_case_no ubo_is_ubo_excluded empty_lists empty_lists.element
    extra
    snapshot run loaded_at as_of
    firmlake_version until`,
  relation_entities: `
    load version company_id entity_no parent_no direction entity_id is_history depth name first_name
    last_name org_no birth_date national_identification_number gender citizenships
    citizenships.element country_of_residences country_of_residences.element addresses
    addresses.element addresses.element.street addresses.element.zip_code addresses.element.city
    addresses.element.country_code country_code is_company is_searchable_entity is_protected
    registration_date updated_at masked empty_lists empty_lists.element as_reported
    snapshot run loaded_at as_of
    firmlake_version until`,
  ownerships: `
    load version company_id entity_no no direction entity_id is_history kind ownership_stake
    min_ownership_stake max_ownership_stake number_of_shares number_of_votes min_votes max_votes
    share_class protocol_date in_date out_date updated_at case_no registration_id status_code
    suspicion_date suspicion_level suspicion_case_no suspicion_issue_id
    proxy_company_registration_number proxy_company_name text as_reported
    snapshot run loaded_at as_of
    firmlake_version until`,
  roles: `
    load version company_id entity_no no direction entity_id is_history id text category in_date
    out_date updated_at as_reported
    snapshot run loaded_at as_of
    firmlake_version until`,
  line_items: `
    load version line_item category unit scaled
    snapshot run loaded_at as_of kind`,
  listings: `
    load version internal_id service search seen gone_since
    snapshot run loaded_at as_of`,
  companies_versions: 'internal_id version as_of is_listing',
  relations_versions: 'internal_id version as_of is_listing',
}

/** Paths of a table in the order of their ids; the first has id 1. */
export const fieldPaths = (table: string): readonly string[] =>
  (FIELD_PATHS[nameWithoutPast(table)] ?? '').trim().split(/\s+/)

const idsByTable = new Map<string, ReadonlyMap<string, number>>()

const idsOf = (table: string): ReadonlyMap<string, number> => {
  const known = idsByTable.get(table)
  if (known) return known
  const ids = new Map(fieldPaths(table).map((path, at) => [path, at + 1]))
  idsByTable.set(table, ids)
  return ids
}

/** The id of a column, `industry_codes.element.code`; `undefined` for a path that is none. */
export const fieldId = (table: string, path: string): number | undefined => idsOf(table).get(path)

/**
 * The option FIELD_IDS of DuckDB's COPY: `{"internal_id": 3, "keywords": {__duckdb_field_id: 43, "element": 44}}`.
 *
 * @param columns the columns that are written; one without an id is left out
 * @returns `undefined` where no column has one
 */
export const fieldIds = (
  table: string,
  columns: readonly { readonly name: string; readonly type: string }[],
): string | undefined => {
  const entry = (path: string, name: string, type: ColumnTypeTree): string[] => {
    const id = fieldId(table, path)
    if (id === undefined) return []
    const parts = type.kind === 'list' ? [{ name: 'element', type: type.element }] : fieldsOf(type)
    const inner = parts.flatMap((part) => entry(`${path}.${part.name}`, part.name, part.type))
    const value = inner.length === 0 ? String(id) : `{__duckdb_field_id: ${id}, ${inner.join(', ')}}`
    return [`${ident(name)}: ${value}`]
  }
  const entries = columns.flatMap(({ name, type }) => entry(name, name, parseColumnType(type)))
  return entries.length === 0 ? undefined : `{${entries.join(', ')}}`
}

const fieldsOf = (type: ColumnTypeTree) => (type.kind === 'struct' ? type.fields : [])
