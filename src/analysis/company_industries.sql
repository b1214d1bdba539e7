-- Industry codes of companies, one row a code.
-- group: companies
-- columns:
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   is_group: whether it is a weighted code of the company's group
--   position: place in the company's list, from 1; the first one is its main industry
--   type: classification
--   code: code as reported
--   text: description as reported
--   section: letter of the NACE section, A to U
--   division: first two digits
-- rule: Section and division are those of NACE revision 2 by the first two digits; NULL where a code has none.
-- example: SELECT section, count(*) FROM company_industries WHERE position = 1 AND NOT is_group GROUP BY ALL
CREATE OR REPLACE VIEW company_industries AS
WITH codes AS (
  SELECT internal_id, company_name, country_code, false AS is_group, unnest(industry_codes) AS item,
    unnest(range(1, len(industry_codes) + 1)) AS position
  FROM companies
  UNION ALL
  SELECT internal_id, company_name, country_code, true, unnest(weighted_group_industry_codes),
    unnest(range(1, len(weighted_group_industry_codes) + 1))
  FROM companies
), divided AS (
  SELECT *, regexp_extract(trim(item.code), '^[0-9]{2}') AS digits FROM codes
)
SELECT internal_id, company_name, country_code, is_group, position, item.type AS type, item.code AS code, item.text AS text,
  CASE
    WHEN digits = '' OR digits = '00' THEN NULL
    WHEN digits <= '03' THEN 'A' WHEN digits < '05' THEN NULL WHEN digits <= '09' THEN 'B' WHEN digits <= '33' THEN 'C'
    WHEN digits = '35' THEN 'D' WHEN digits BETWEEN '36' AND '39' THEN 'E' WHEN digits BETWEEN '41' AND '43' THEN 'F'
    WHEN digits BETWEEN '45' AND '47' THEN 'G' WHEN digits BETWEEN '49' AND '53' THEN 'H'
    WHEN digits BETWEEN '55' AND '56' THEN 'I' WHEN digits BETWEEN '58' AND '63' THEN 'J'
    WHEN digits BETWEEN '64' AND '66' THEN 'K' WHEN digits = '68' THEN 'L' WHEN digits BETWEEN '69' AND '75' THEN 'M'
    WHEN digits BETWEEN '77' AND '82' THEN 'N' WHEN digits = '84' THEN 'O' WHEN digits = '85' THEN 'P'
    WHEN digits BETWEEN '86' AND '88' THEN 'Q' WHEN digits BETWEEN '90' AND '93' THEN 'R'
    WHEN digits BETWEEN '94' AND '96' THEN 'S' WHEN digits BETWEEN '97' AND '98' THEN 'T' WHEN digits = '99' THEN 'U'
  END AS section,
  nullif(digits, '') AS division
FROM divided;
