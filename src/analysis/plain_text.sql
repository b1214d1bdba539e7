-- A text for comparisons: in lower case, without accents, with a space in place of punctuation.
-- group: companies
-- parameters:
--   written: text as it is written
-- rule: Letters that no accent makes become those that people type for them: ø o, æ ae, ß ss, ł l.
-- example: SELECT plain_text('Ørsted A/S')
CREATE OR REPLACE MACRO plain_text(written) AS
trim(regexp_replace(
  replace(replace(replace(replace(translate(strip_accents(lower(written)), 'øðđłħŧı', 'oddlhti'), 'æ', 'ae'), 'œ', 'oe'), 'ß', 'ss'), 'þ', 'th'),
  '[^\p{L}\p{N}]+', ' ', 'g'));
