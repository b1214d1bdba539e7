/**
 * The folding of letters for everything that compares texts, in SQL for tables and in JavaScript for vectors: lower
 * case, without accents, letters that no accent makes (`ø`, `ł`, `ß`) written as people type them without such a
 * keyboard. "Skåne" becomes "skane", "Łódź" "lodz", "Straße" "strasse".
 */

import { literal } from '../../lake/duckdb/sql.ts'

/** Letters that Unicode does not decompose, in lower case. Turkish `ı` because upper case "I" becomes `i`. */
const LETTERS: Readonly<Record<string, string>> = {
  æ: 'ae',
  ð: 'd',
  đ: 'd',
  ħ: 'h',
  ı: 'i',
  ł: 'l',
  ŋ: 'n',
  œ: 'oe',
  ø: 'o',
  ß: 'ss',
  ŧ: 't',
  þ: 'th',
  ς: 'σ',
}
const single = Object.entries(LETTERS).filter(([, to]) => to.length === 1)
const longer = Object.entries(LETTERS).filter(([, to]) => to.length > 1)

/** The folded form of a text expression, in SQL. Keeps what is no letter; combining marks go, in every script. */
export const foldedSql = (text: string): string =>
  longer.reduce(
    (sql, [from, to]) => `replace(${sql}, ${literal(from)}, ${literal(to)})`,
    `translate(strip_accents(lower(${text})), ${literal(single.map(([from]) => from).join(''))}, ${literal(single.map(([, to]) => to).join(''))})`,
  )

/** The folded form of a text; the same as `foldedSql` gives, but for letters that only one of the two Unicode tables has. */
export const folded = (text: string): string => {
  const lower = text.toLowerCase()
  if (ASCII.test(lower)) return lower
  return lower
    .normalize('NFD')
    .replace(/\p{M}+/gu, '')
    .normalize('NFC')
    .replace(LETTER, (letter) => LETTERS[letter] ?? letter)
}
const ASCII = /^[\0-\x7f]*$/
const LETTER = new RegExp(`[${Object.keys(LETTERS).join('')}]`, 'g')
