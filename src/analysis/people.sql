-- Persons in the relations of companies.
-- group: ownership
-- columns:
--   person_id: identifier of the person
--   name: full name
--   birth_year: year of birth
--   national_id: national identification number
--   country_code: country
--   is_protected: whether the identity is protected; the other columns are NULL then
--   companies: companies with a current role or ownership record of the person
-- rule: Entities that are no companies, in current records. A person is known by the identifier and never by the name; one that any record protects is masked.
-- example: FROM people ORDER BY companies DESC LIMIT 10
CREATE OR REPLACE VIEW people AS
SELECT entity_id AS person_id,
  CASE WHEN bool_or(is_protected IS TRUE) THEN NULL ELSE arg_max(name, coalesce(updated_at, '-infinity'::TIMESTAMPTZ)) END AS name,
  CASE WHEN bool_or(is_protected IS TRUE) THEN NULL
    ELSE try_cast(arg_max(birth_date, coalesce(updated_at, '-infinity'::TIMESTAMPTZ))[1:4] AS INTEGER) END AS birth_year,
  CASE WHEN bool_or(is_protected IS TRUE) THEN NULL
    ELSE arg_max(national_identification_number, coalesce(updated_at, '-infinity'::TIMESTAMPTZ)) END AS national_id,
  CASE WHEN bool_or(is_protected IS TRUE) THEN NULL
    ELSE arg_max(country_code, coalesce(updated_at, '-infinity'::TIMESTAMPTZ)) END AS country_code,
  bool_or(is_protected IS TRUE) AS is_protected,
  count(DISTINCT company_id) AS companies
FROM relation_entities
WHERE NOT is_history AND is_company = false
GROUP BY entity_id;
