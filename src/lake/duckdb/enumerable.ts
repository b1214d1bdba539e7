/** What DuckDB takes for an ENUM type. */

/** Most values of an ENUM: beyond some thousands it helps no more. */
export const LARGEST_ENUM = 10_000

/** Whether values can be an ENUM: it takes no NUL. */
export const isEnumerable = (values: readonly string[]): boolean =>
  values.length > 0 && values.length <= LARGEST_ENUM && !values.some((value) => value.includes('\0'))
