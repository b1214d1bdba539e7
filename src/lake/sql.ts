/** SQL as text: names and literals quoted, lists joined. Values of data are bound, never written into SQL. */

/** A name in double quotes. */
export const ident = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text literal. For names of the contract and paths of our own; data is bound instead. */
export const literal = (text: string): string => `'${text.replaceAll("'", "''")}'`

export const commaList = (parts: readonly string[]): string => parts.join(', ')
