/** Finds in the tree of a statement where it adds figures, and with which columns it keeps apart what does not add up. */

import { isObject, type JsonObject } from '../../support/json-form.ts'
import { ident, literal } from '../duckdb/sql.ts'
import { constantText, listAt, nodesOf } from '../duckdb/tree-nodes.ts'

/** A view or macro of figures, and by which columns its figures differ in what does not add up. */
export const FIGURE_SOURCES: ReadonlyMap<string, readonly string[]> = new Map([
  ['financials', ['currency', 'consolidation', 'months']],
  ['figures', ['currency', 'months']],
  ['latest_figures', ['currency', 'months']],
  ['financials_in', ['consolidation', 'months']],
  ['figures_in', ['months']],
])
const STAKE_SOURCES: ReadonlySet<string> = new Set(['owners_current', 'owners_stated'])
const STAKES: ReadonlySet<string> = new Set(['stake', 'min_stake', 'max_stake'])

const ADDING: ReadonlySet<string> = new Set(['sum', 'fsum', 'sum_no_overflow', 'kahan_sum', 'sumkahan'])
const MIXING = /^(f?avg|mean|median|mad|quantile|stddev|var_|variance|skewness|kurtosis|approx_quantile)/

/** Columns by which the rows of a source are left out. */
const FILTERS: ReadonlySet<string> = new Set([
  ...['internal_id', 'country_code', 'consolidation', 'category', 'line_item', 'fiscal_year', 'currency'],
])
const OPERATORS: Readonly<Record<string, string>> = {
  COMPARE_EQUAL: '=',
  COMPARE_NOTEQUAL: '<>',
  COMPARE_LESSTHAN: '<',
  COMPARE_GREATERTHAN: '>',
  COMPARE_LESSTHANOREQUALTO: '<=',
  COMPARE_GREATERTHANOREQUALTO: '>=',
}

/** An aggregate over a source. */
export interface FoundSum {
  readonly source: string
  readonly verb: 'adds' | 'averages'
  /** The columns that differ within it, of those of the source. */
  readonly apart: readonly string[]
  /** Conditions on the source in SQL, as far as they stand there with literals. */
  readonly conditions: readonly string[]
}

interface Source {
  readonly name: string
  readonly alias: string
}

const textAt = (node: JsonObject, name: string): string =>
  typeof node[name] === 'string' ? node[name].toLowerCase() : ''

const isSelect = ({ type }: JsonObject): boolean => type === 'SELECT_NODE'

/** Names of the columns in an expression, without those of statements within it. */
const columnsIn = (tree: unknown): readonly string[] =>
  [...nodesOf(tree, isSelect)].flatMap((node) =>
    node.type === 'COLUMN_REF' ? [String(listAt(node, 'column_names').at(-1)).toLowerCase()] : [],
  )

/** Reads the FROM clause of a statement, with statements in it that hand rows on. */
const readFrom = (from: unknown, ctes: ReadonlyMap<string, unknown>) => {
  const sources: Source[] = []
  const conditions: unknown[] = []
  const visit = (one: unknown): void => {
    if (!isObject(one)) return
    if (one.type === 'BASE_TABLE') {
      const name = textAt(one, 'table_name')
      const cte = ctes.get(name)
      if (cte !== undefined) inner(cte)
      else sources.push({ name, alias: textAt(one, 'alias') })
    } else if (one.type === 'TABLE_FUNCTION' && isObject(one.function))
      sources.push({ name: textAt(one.function, 'function_name'), alias: textAt(one, 'alias') })
    else if (one.type === 'SUBQUERY' && isObject(one.subquery)) inner(one.subquery.node)
    else if (one.type === 'JOIN') {
      conditions.push(one.condition)
      visit(one.left)
      visit(one.right)
    }
  }
  const inner = (node: unknown): void => {
    if (!isObject(node) || !isSelect(node) || listAt(node, 'group_expressions').length > 0) return
    conditions.push(node.where_clause, node.qualify)
    visit(node.from_table)
  }
  visit(from)
  return { sources, conditions }
}

/** The statements of a WITH, by name. */
const ctesOf = (tree: unknown): ReadonlyMap<string, unknown> =>
  new Map(
    [...nodesOf(tree)]
      .filter(({ key, value }) => typeof key === 'string' && isObject(value) && isObject(value.query))
      .map(({ key, value }) => {
        const { query } = value as { query: JsonObject }
        return [String(key).toLowerCase(), query.node]
      }),
  )

const constantSql = (node: unknown): string | undefined => {
  const text = constantText(node)
  if (text !== undefined) return literal(text)
  const value =
    isObject(node) && node.class === 'CONSTANT' && isObject(node.value) ? node.value.value : undefined
  return typeof value === 'number' ? String(value) : undefined
}

/** The parts of a condition that all hold. */
const conjuncts = (condition: unknown): readonly JsonObject[] => {
  if (!isObject(condition)) return []
  return condition.type === 'CONJUNCTION_AND' ? listAt(condition, 'children').flatMap(conjuncts) : [condition]
}

const conditionSql = (condition: JsonObject, { name, alias }: Source): string | undefined => {
  const { type, left, right, input, lower, upper } = condition
  const children = listAt(condition, 'children')
  const [first, ...others] =
    type === 'COMPARE_IN' ? children : type === 'COMPARE_BETWEEN' ? [input, lower, upper] : [left, right]
  if (!isObject(first) || first.type !== 'COLUMN_REF') return undefined
  const path = listAt(first, 'column_names').map((part) => String(part).toLowerCase())
  const column = path.at(-1) ?? ''
  const isOwn = path.length === 1 || [name, alias].includes(path.at(-2) ?? '')
  const values = others.map(constantSql)
  if (!isOwn || !FILTERS.has(column) || values.length === 0 || values.includes(undefined)) return undefined
  if (type === 'COMPARE_IN') return `${ident(column)} IN (${values.join(', ')})`
  if (type === 'COMPARE_BETWEEN') return `${ident(column)} BETWEEN ${values.join(' AND ')}`
  const operator = OPERATORS[String(type)]
  return operator === undefined ? undefined : `${ident(column)} ${operator} ${values[0]}`
}

const verbOf = (node: JsonObject): FoundSum['verb'] | undefined => {
  const name = textAt(node, 'function_name')
  if (ADDING.has(name)) return 'adds'
  return MIXING.test(name) ? 'averages' : undefined
}

/** Items of the select list that a GROUP BY names by number, or by ALL. */
const groupsOf = (node: JsonObject): readonly unknown[] => {
  const selected = listAt(node, 'select_list')
  if (node.aggregate_handling === 'FORCE_AGGREGATES')
    return selected.filter((one) => [...nodesOf(one)].every((part) => verbOf(part) === undefined))
  return listAt(node, 'group_expressions').map((one) => {
    const place = Number(constantSql(one))
    return Number.isInteger(place) ? selected[place - 1] : one
  })
}

/** Sums, means and the like of figures, and sums of stakes, in the statements of a tree. */
export const findSums = (tree: unknown): readonly FoundSum[] => {
  const ctes = ctesOf(tree)
  return [...nodesOf(tree)].filter(isSelect).flatMap((node) => {
    const { sources, conditions } = readFrom(node.from_table, ctes)
    const source = sources.find(({ name }) => FIGURE_SOURCES.has(name) || STAKE_SOURCES.has(name))
    if (source === undefined) return []
    const isStake = STAKE_SOURCES.has(source.name)
    const where = [node.where_clause, node.having, node.qualify, ...conditions]
    return [...nodesOf([node.select_list, node.having, node.qualify], isSelect)].flatMap(
      (call): FoundSum[] => {
        const verb = verbOf(call)
        const columns = columnsIn(call.children)
        const isMeasure = isStake
          ? columns.some((column) => STAKES.has(column))
          : columns.includes('value') || columns.includes('per_12_months')
        if (verb === undefined || !isMeasure) return []
        const named = new Set(columnsIn([...where, ...groupsOf(node), call.filter, call.partitions]))
        if (named.has('is_preferred')) named.add('consolidation')
        if (columns.includes('per_12_months')) named.add('months')
        if ([...nodesOf(call.children)].some((part) => textAt(part, 'function_name') === 'convert_currency'))
          named.add('currency')
        const apart = (isStake ? ['kind'] : (FIGURE_SOURCES.get(source.name) ?? [])).filter(
          (column) => !named.has(column),
        )
        if (apart.length === 0) return []
        return [
          {
            ...{ source: source.name, verb, apart },
            conditions: where.flatMap(conjuncts).flatMap((one) => conditionSql(one, source) ?? []),
          },
        ]
      },
    )
  })
}

/** A text that a statement compares with a column of figures. */
export interface NamedText {
  readonly column: string
  readonly text: string
}

const ITEM_MACROS: ReadonlySet<string> = new Set(['growth', 'growth_all', 'cagr'])
const TEXT_COLUMNS: ReadonlySet<string> = new Set(['line_item', 'country_code', 'currency', 'consolidation'])

export const namedStrings = (tree: unknown): readonly NamedText[] =>
  [...nodesOf(tree)].flatMap((node) => {
    const children = listAt(node, 'children')
    const strings = (parts: readonly unknown[], column: string): NamedText[] =>
      parts.flatMap((part) => {
        const text = constantText(part)
        return text === undefined ? [] : [{ column, text }]
      })
    if (ITEM_MACROS.has(textAt(node, 'function_name'))) return strings(children.slice(0, 1), 'line_item')
    if (node.type !== 'COMPARE_EQUAL' && node.type !== 'COMPARE_IN') return []
    const parts = node.type === 'COMPARE_IN' ? children : [node.left, node.right]
    const [column] = parts.flatMap((part) =>
      isObject(part) && part.type === 'COLUMN_REF' ? columnsIn(part) : [],
    )
    return column !== undefined && TEXT_COLUMNS.has(column) ? strings(parts, column) : []
  })
