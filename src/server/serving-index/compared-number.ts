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
