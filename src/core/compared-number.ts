/** How organisation numbers and national ids are compared: without whitespace and hyphens ("Search filters"). */

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

const LEAST_CHARACTERS = 5

/** A number as the key of whom it identifies; `undefined` where it identifies nobody. */
export const numberKey = (number: string): string | undefined => {
  const key = comparedNumber(number).toUpperCase()
  return key.length >= LEAST_CHARACTERS && /\d/.test(key) && new Set(key).size > 1 ? key : undefined
}

/** The same in SQL, of a text expression; NULL for none. */
export const numberKeySql = (number: string): string =>
  `list_transform([upper(${comparedNumberSql(number)})], lambda key : CASE WHEN length(key) >= ${LEAST_CHARACTERS}
  AND regexp_matches(key, '[0-9]') AND replace(key, left(key, 1), '') <> '' THEN key END)[1]`
