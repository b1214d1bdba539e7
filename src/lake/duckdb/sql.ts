/** SQL as text: names and literals quoted, lists joined. Values of data are bound, never written into SQL. */

/** A name in double quotes. */
export const ident = (name: string): string => `"${name.replaceAll('"', '""')}"`

/** A text literal. For names of the contract and paths of our own; data is bound instead. */
export const literal = (text: string): string => {
  const quoted = `'${text.replaceAll("'", "''")}'`
  // SQL text ends at NUL, so a NUL in it is written as an expression.
  return quoted.includes('\0') ? `(${quoted.replaceAll('\0', "' || chr(0) || '")})` : quoted
}
