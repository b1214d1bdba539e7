-- Seats on boards that persons hold now.
-- group: ownership
-- columns:
--   person_id: identifier of the person
--   name: full name; NULL of a person with a protected identity
--   company_id: company of the board
--   role: title of the role
--   since: when the role began
--   is_protected: whether the person's identity is protected
-- rule: Roles of category Board outside of histories and without an end.
-- example: SELECT person_id, name, count(DISTINCT company_id) AS boards FROM board_seats GROUP BY ALL HAVING boards > 1
CREATE OR REPLACE VIEW board_seats AS
SELECT p.person_id, p.name, r.company_id, r.text AS role, r.in_date AS since, p.is_protected
FROM roles AS r JOIN people AS p ON p.person_id = r.entity_id
WHERE r.category = 'Board' AND NOT r.is_history AND r.out_date IS NULL AND r.direction = 'parent';
