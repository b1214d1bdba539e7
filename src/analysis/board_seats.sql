-- Seats on boards that persons hold now.
-- group: ownership
-- columns:
--   internal_id: company of the board
--   company_name: name of the company
--   country_code: country of the company
--   person_id: identifier of the person
--   person_name: full name; NULL of a person with a protected identity
--   role: title of the role
--   since: day on which the role began, UTC
--   is_protected: whether the person's identity is protected
-- rule: Roles of category Board outside of histories and without an end. Name and country are those of companies, else those of relations.
-- example: SELECT person_id, person_name, count(DISTINCT internal_id) AS boards FROM board_seats GROUP BY ALL HAVING boards > 1
CREATE OR REPLACE VIEW board_seats AS
SELECT r.company_id AS internal_id, coalesce(c.company_name, o.name) AS company_name, coalesce(c.country_code, o.country_code) AS country_code,
  p.person_id, p.person_name, r.text AS role, make_timestamp(epoch_us(r.in_date))::DATE AS since, p.is_protected
FROM roles AS r JOIN people AS p ON p.person_id = r.entity_id
LEFT JOIN company_names AS c ON c.internal_id = r.company_id
LEFT JOIN relations AS o ON o.internal_id = r.company_id
WHERE r.category = 'Board' AND NOT r.is_history AND r.out_date IS NULL AND r.direction = 'parent';
