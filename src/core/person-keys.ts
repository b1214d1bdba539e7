/**
 * Keys that identify a company or person besides its id, here and in SQL alike: organisation numbers and national ids without
 * whitespace and hyphens ("Search filters"), and a name beside a date of birth.
 */

/**
 * Whitespace of every script, what takes no room, and every dash. Spelled out, because `\s` means ASCII alone to
 * DuckDB; both engines read this class alike.
 */
const IGNORED = String.raw`[\t-\r\x85\p{Z}\p{Pd}\xad\x{200b}\x{feff}]`
const IGNORED_HERE = new RegExp(IGNORED.replaceAll(/\\x\{(\w+)\}/g, String.raw`\u{$1}`), 'gu')

/** A number as it is compared. */
export const comparedNumber = (number: string): string => number.replaceAll(IGNORED_HERE, '')

/** The same in SQL, of a text expression. */
export const comparedNumberSql = (number: string): string =>
  `regexp_replace(${number}, '${IGNORED}', '', 'g')`

// As keys of a company or person they do not differ by letter case either; what is too short or all one character is none.

/** Shorter numbers identify nobody: they stand in too many texts. */
export const MIN_CHARACTERS = 5

/** A number as the key of whom it identifies; `undefined` where it identifies nobody. */
export const numberKey = (number: string): string | undefined => {
  const key = comparedNumber(number).toUpperCase()
  return key.length >= MIN_CHARACTERS && /\d/.test(key) && new Set(key).size > 1 ? key : undefined
}

/** The same in SQL, of a text expression; NULL for none. */
export const numberKeySql = (number: string): string =>
  `list_transform([upper(${comparedNumberSql(number)})], lambda key : CASE WHEN length(key) >= ${MIN_CHARACTERS}
  AND regexp_matches(key, '[0-9]') AND replace(key, left(key, 1), '') <> '' THEN key END)[1]`

/** The keys of the columns of `relation_entities`. */
export const NATIONAL_KEY_SQL = numberKeySql('national_identification_number')
export const ORGANISATION_KEY_SQL = numberKeySql('org_no')

const WORDS = String.raw`[\p{L}\p{M}\p{N}]+`
const ALL_WORDS = new RegExp(WORDS, 'gu')
const DAY_DIGITS = 8

/** A name and a date of birth as one key; `undefined` where one is missing. The order of a name's words does not matter. */
export const birthKey = (name: string, birth: string): string | undefined => {
  const words = name.normalize('NFC').toLowerCase().match(ALL_WORDS)?.sort().join(' ') ?? ''
  const day = birth.replace(/\D/g, '').slice(0, DAY_DIGITS)
  return words === '' || day.length < DAY_DIGITS ? undefined : `${words}|${day}`
}

/** The same in SQL, of the columns of `relation_entities`; NULL for none. */
export const BIRTH_KEY_SQL = `CASE WHEN length(regexp_replace(birth_date, '\\D', '', 'g')) >= ${DAY_DIGITS} THEN nullif(
    list_aggregate(list_sort(regexp_extract_all(lower(nfc_normalize(coalesce(name, first_name || ' ' || last_name))), '${WORDS}')), 'string_agg', ' '), '')
    || '|' || left(regexp_replace(birth_date, '\\D', '', 'g'), ${DAY_DIGITS}) END`
