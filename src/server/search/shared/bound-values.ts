/** Values on their way into a statement: each is bound, and the SQL has its placeholder. */

export interface Binder {
  /** In the order of their placeholders. */
  readonly values: readonly string[]
  /** Adds a value. @returns its placeholder with its type, e.g. `$3::DATE` */
  readonly bind: (value: string | number | bigint, type: string) => string
}

/** Values are bound as texts and cast by SQL: DuckDB's package refuses whole numbers beyond 64 bits, doubles too. */
export const newBinder = (): Binder => {
  const values: string[] = []
  return { values, bind: (value, type) => `$${values.push(String(value))}::${type}` }
}

/** Many texts as one bound value: a list in SQL. Half a surrogate pair, which no column holds, becomes U+FFFD. */
export const boundStrings = (values: readonly string[], { bind }: Binder): string => {
  const strings = JSON.stringify(values.map((value) => value.toWellFormed()))
  return `from_json(${bind(strings, 'JSON')}, '["VARCHAR"]')`
}

/** `IN` any of many texts. */
export const inStrings = (sql: string, values: readonly string[], binder: Binder): string =>
  `${sql} IN (SELECT unnest(${boundStrings(values, binder)}))`

const MIN = -(2n ** 63n)
const MAX = 2n ** 63n - 1n

/** `IN` any of many whole numbers. Those that no column can hold are in none. */
export const inNumbers = (sql: string, values: readonly bigint[], { bind }: Binder): string => {
  const possible = values.filter((value) => value >= MIN && value <= MAX)
  return `${sql} IN (SELECT unnest(${bind(`[${possible.join(',')}]`, 'VARCHAR')}::BIGINT[]))`
}
