/**
 * The SQL of views and macros for a DuckLake catalog, where names in a view must say which catalog they are of. By text:
 * DuckDB's own tree of a statement comes back with other joins than it had.
 */

/** Stands for the catalog's name in views; the extension puts in the name that a reader has given it. Macros have none. */
export const PLACEHOLDER = '{DUCKLAKE_CATALOG}'

/** Facts of the manifest, `firmlake.fact_runs()`, which are tables in the catalog. */
const FACT = /\bfirmlake\.fact_(\w+)\(\)/g

/** Texts, quoted names and comments, in which nothing is a name that is read; and all words. */
const PIECES = /'(?:[^']|'')*'|"(?:[^"]|"")*"|--.*|\w+|[^\w'"-]+|-/g
const isWord = (piece: string | undefined): piece is string => piece !== undefined && /^\w/.test(piece)

/** Names that a statement defines itself: `WITH a AS (…), b AS NOT MATERIALIZED (`. */
const ownNames = (sql: string): ReadonlySet<string> =>
  new Set(
    Array.from(sql.matchAll(/\b(\w+)\s+AS\s+(?:(?:NOT\s+)?MATERIALIZED\s+)?\(/gi), ([, name]) => name ?? ''),
  )

/** The names that a catalog has in its schema `main`. */
export interface CatalogNames {
  /** Tables and views. */
  readonly relations: ReadonlySet<string>
  readonly macros: ReadonlySet<string>
}

/** The query of a macro: it is run in the catalog, whatever that is called. */
export const macroSql = (sql: string): string => sql.replace(FACT, 'firmlake.$1')

/** The query of a view. */
export const viewSql = (sql: string, { relations, macros }: CatalogNames): string => {
  const own = ownNames(sql)
  const pieces = macroSql(sql).match(PIECES) ?? []
  let before = ''
  return pieces
    .map((piece, at) => {
      if (!isWord(piece)) return piece
      const [word, next = '', dot] = [piece, pieces[at + 1] ?? '', (pieces[at - 1] ?? '').endsWith('.')]
      const isRead = /^(from|join)$/i.test(before) && !next.startsWith('.') && !next.startsWith('(')
      before = word
      if (dot) return word
      if (word === 'firmlake' && next === '.') return `${PLACEHOLDER}.firmlake`
      if (isRead && relations.has(word) && !own.has(word)) return `${PLACEHOLDER}.main.${word}`
      return next.startsWith('(') && macros.has(word) ? `${PLACEHOLDER}.main.${word}` : word
    })
    .join('')
}
