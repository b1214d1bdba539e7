/** Texts in statements that a reader may run as they stand. */

export const sqlText = (value: string): string => `'${value.replaceAll("'", "''")}'`
