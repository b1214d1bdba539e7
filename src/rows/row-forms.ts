/** What a cell of a row holds: two numbers of 32 bits, and with its column's place what they are. */

/** The value itself where it has 64 bits or less; where a text stands, without its quotes; where a list stands. */
export const VALUE = 0
/** Where the JSON of a text stands that may be written with escapes. */
export const ESCAPED = 0x100
/** Where the JSON of a date-time stands whose instant does not restore it, beside its value. */
export const REPORTED = 0x200
/** Where the JSON of a date-time stands that is left to DuckDB. */
export const ODD = 0x400
/** Where the JSON of personal data stands that came masked. */
export const MASKED = 0x600

export const FORM_BITS = 0x700
export const PLACE_BITS = 0xff
