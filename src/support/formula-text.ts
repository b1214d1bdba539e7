/** Texts that a spreadsheet would take for a formula, and what keeps it from that. */

/** Signs that begin a formula, as the inside of a character class. */
export const FORMULA_SIGNS = '=+@＝＋－＠\\-'

/** Characters at which a spreadsheet may cut a cell in two, the same: in many countries columns are cut at semicolons. */
export const CELL_ENDS = ';\\t\\r\\n'

/**
 * Formulas, after any apostrophes: those get one more too, so that taking one away from every place of this form gives the
 * text back as it was.
 */
export const FORMULA = `(^|[${CELL_ENDS}])([ ']*[${FORMULA_SIGNS}])`

const FORMULAS = new RegExp(FORMULA, 'g')

/** A text as a spreadsheet takes it for a text. */
export const neutralise = (text: string): string => text.replace(FORMULAS, "$1'$2")

/** The same of a text that is JSON: a semicolon before a formula is escaped, and the value stays what it is. */
export const neutraliseJson = (json: string): string => json.replace(FORMULAS, '\\u003b$2')
