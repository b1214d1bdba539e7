/** Texts that a spreadsheet would take for a formula, and what keeps it from that. */

/** Characters that begin a formula, as the inside of a character class. */
export const FORMULA_STARTS = '=+@\\t\\r＝＋－＠\\-'

/**
 * Texts that begin a formula, after any apostrophes: those get one more too, so that taking one away from every text
 * of this form gives the texts back as they were.
 */
export const FORMULA = `^'*[${FORMULA_STARTS}]`

const FORMULA_TEXT = new RegExp(FORMULA)

/** A text as a spreadsheet takes it for a text. */
export const neutralise = (text: string): string => (FORMULA_TEXT.test(text) ? `'${text}` : text)
