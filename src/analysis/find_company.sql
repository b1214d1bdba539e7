-- Companies by name, earlier name or organisation number, the best match first.
-- group: companies
-- parameters:
--   searched: a name, a part of one, or an organisation number
-- columns:
--   rank: 1 is the best match
--   internal_id: company
--   company_name: name of the company
--   country_code: country of the company
--   org_no: national organisation number
--   matched_by: exact, prefix, word, contains or similar: from the best to the weakest
--   matched_column: company_name, previous_names or org_no
--   matched_text: the name or number that matched
-- rule: Texts are compared as plain_text gives them, so letter case, accents and punctuation make no difference. Of matches of one kind the current name comes before the number and earlier names, then what is most similar. An organisation number matches as a whole or by its beginning. Similar is a name, or a word of it, with a Jaro-Winkler similarity of at least 0.9. A company comes once.
-- example: FROM find_company('apple') LIMIT 10
CREATE OR REPLACE MACRO find_company(searched) AS TABLE
WITH asked AS (
  SELECT coalesce(plain_text(searched), '') AS name,
    regexp_replace(upper(searched), '[^0-9A-Z]', '', 'g') AS number
), texts AS (
  SELECT internal_id, company_name, country_code, org_no, unnest(
    [{'source': 'company_name', 'text': company_name}, {'source': 'org_no', 'text': org_no}]
    || list_transform(coalesce(previous_names, []), lambda one: {'source': 'previous_names', 'text': one})
  ) AS candidate
  FROM companies
), folded AS (
  SELECT t.*, a.name AS asked_name, a.number AS asked_number,
    plain_text(t.candidate.text) AS name,
    regexp_replace(upper(t.candidate.text), '[^0-9A-Z]', '', 'g') AS number
  FROM texts AS t CROSS JOIN asked AS a
), compared AS (
  SELECT *, CASE
      WHEN candidate.source = 'org_no' THEN CASE
        WHEN NOT regexp_matches(asked_number, '[0-9]') THEN NULL
        WHEN number = asked_number THEN 1 WHEN starts_with(number, asked_number) THEN 2 END
      WHEN asked_name = '' THEN NULL
      WHEN name = asked_name THEN 1
      WHEN starts_with(name, asked_name) THEN 2
      WHEN contains(concat(' ', name, ' '), concat(' ', asked_name, ' ')) THEN 3
      WHEN contains(name, asked_name) THEN 4
      WHEN list_max(list_transform(list_append(string_split(name, ' '), name), lambda one: jaro_winkler_similarity(one, asked_name))) >= 0.9 THEN 5
    END AS kind
  FROM folded
), best AS (
  SELECT *, list_position(['company_name', 'org_no', 'previous_names'], candidate.source) AS source_no,
    jaro_winkler_similarity(name, asked_name) AS similarity
  FROM compared WHERE kind IS NOT NULL
  QUALIFY row_number() OVER (PARTITION BY internal_id ORDER BY kind, source_no, similarity DESC, candidate.text) = 1
)
SELECT row_number() OVER (ORDER BY kind, source_no, similarity DESC, internal_id) AS rank,
  internal_id, company_name, country_code, org_no,
  ['exact', 'prefix', 'word', 'contains', 'similar'][kind] AS matched_by,
  candidate.source AS matched_column, candidate.text AS matched_text
FROM best ORDER BY rank;
