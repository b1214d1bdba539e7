-- The name of everybody who owns, one row an owner.
-- group: ownership
-- columns:
--   owner_id: who owns, a company or a person
--   owner_name: name of the company or the person; NULL of a person with a protected identity
-- rule: The name of companies, else that of relations, else the one of relation_entities that was updated last. A person whom any record protects, a history too, has none.
-- example: FROM owner_holdings JOIN owner_names USING (owner_id) WHERE owned_id = 1001
CREATE OR REPLACE VIEW owner_names AS
SELECT e.entity_id AS owner_id, coalesce(c.company_name, r.name, CASE WHEN NOT e.is_protected THEN e.name END) AS owner_name
FROM (
  SELECT entity_id, bool_or(is_protected IS TRUE) AS is_protected, arg_max(name, coalesce(updated_at, '-infinity'::TIMESTAMPTZ)) AS name
  FROM (
    SELECT entity_id, is_protected, name, updated_at FROM relation_entities
    UNION ALL SELECT internal_id, false, NULL, NULL FROM relations
  )
  GROUP BY entity_id
) AS e
LEFT JOIN company_names AS c ON c.internal_id = e.entity_id
LEFT JOIN relations AS r ON r.internal_id = e.entity_id;
