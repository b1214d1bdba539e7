-- Persons in the relations of companies.
-- group: ownership
-- columns:
--   person_id: identifier of the person
--   person_name: full name
--   birth_year: year of birth
--   national_id: national identification number
--   country_code: country of the person
--   is_protected: whether the identity is protected; person_name, birth_year, national_id and country_code are NULL then
--   companies: companies whose current relations have the person as owner or in a role
-- rule: Entities that are no companies, outside of histories. A person is known by the identifier and never by the name. One that any record protects, a history too, is masked. Each value is the one that was updated last, of those that are stated.
-- example: FROM people ORDER BY companies DESC LIMIT 10
CREATE OR REPLACE VIEW people AS
WITH persons AS (
  SELECT entity_id, company_id, is_history, is_company, is_protected IS TRUE AS is_protected, name, birth_date,
    national_identification_number, country_code, coalesce(updated_at, '-infinity'::TIMESTAMPTZ) AS updated
  FROM relation_entities WHERE is_company IS NOT TRUE OR is_protected IS TRUE
), known AS (
  SELECT entity_id AS person_id, bool_or(is_protected) AS is_protected,
    arg_max(name, updated) FILTER (NOT is_history) AS name,
    arg_max(birth_date, updated) FILTER (NOT is_history) AS birth_date,
    arg_max(national_identification_number, updated) FILTER (NOT is_history) AS national_id,
    arg_max(country_code, updated) FILTER (NOT is_history) AS country_code,
    count(DISTINCT company_id) FILTER (NOT is_history AND is_company = false) AS companies
  FROM persons GROUP BY entity_id
)
SELECT person_id,
  CASE WHEN NOT is_protected THEN name END AS person_name,
  CASE WHEN NOT is_protected THEN try_cast(birth_date[1:4] AS INTEGER) END AS birth_year,
  CASE WHEN NOT is_protected THEN national_id END AS national_id,
  CASE WHEN NOT is_protected THEN country_code END AS country_code,
  is_protected, companies
FROM known WHERE companies > 0;
