-- What identifies and classifies a company, one row a company, with dates as DATE.
-- group: companies
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   org_no: national organisation number
--   previous_names: earlier names
--   status: operational status
--   legal_form: legal form
--   company_type: role in a group
--   listing_type: Listed or Private
--   city: city of the address
--   url: website
--   industry_code: code of the main industry
--   industry: description of the main industry
--   ultimate_parent_name: name of the ultimate parent
--   currency: currency of the figures
--   registration_date: day of the registration
--   registration_date_text: registration date as reported where it is no date, else NULL
--   last_fiscal_year_end: last day of the most recent fiscal year, as reported
-- rule: Of companies, which has all fields. The main industry is the first code of the company.
-- example: SELECT year(registration_date) AS founded, count(*) FROM company_profiles WHERE country_code = 'SE' GROUP BY ALL
CREATE OR REPLACE VIEW company_profiles AS
SELECT internal_id, company_name, country_code, org_no, previous_names,
  operational_status_name AS status, legal_form_name AS legal_form, company_type_name AS company_type, listing_type,
  address_city AS city, url, industry_codes[1].code AS industry_code, industry_codes[1].text AS industry,
  ultimate_parent_company_name AS ultimate_parent_name, current_currency_code AS currency,
  registered AS registration_date, CASE WHEN registered IS NULL THEN registration_date END AS registration_date_text,
  -- By the instant, so that the time zone of the session makes no difference.
  make_timestamp(epoch_us(last_fiscal_year_end))::DATE AS last_fiscal_year_end
FROM (
  SELECT *, CASE WHEN registration_date[5] = '-' THEN try_cast(registration_date AS TIMESTAMP)::DATE END AS registered
  FROM companies
);
