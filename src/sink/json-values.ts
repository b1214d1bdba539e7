/** Values in SQL as JSON has them, at every depth: DuckDB would write `NaN`, and instants with a space. */

import { type ColumnTypeTree, ident, literal, parseColumnType } from '../lake/duckdb/sql.ts'

/** ISO 8601, with as many digits as an instant has: three, or six. */
export const instant = (value: string, zone: 'Z' | ''): string =>
  `CASE WHEN NOT isfinite(${value}) THEN ${value}::VARCHAR
  WHEN microsecond(${value}) % 1000 = 0 THEN strftime(${value}, '%Y-%m-%dT%H:%M:%S.%g${zone}')
  ELSE strftime(${value}, '%Y-%m-%dT%H:%M:%S.%f${zone}') END`

/** A value of DuckDB's type as JSON has it: instants as ISO 8601, numbers that are not finite as null. */
export const jsonValue = (value: string, type: string): string => asJson(value, parseColumnType(type), 0)

/** @param depth of lists around the value, to keep the names of their elements distinct */
const asJson = (value: string, type: ColumnTypeTree, depth: number): string => {
  switch (type.kind) {
    case 'list': {
      const element = `element_${depth}`
      const inner = asJson(element, type.element, depth + 1)
      // What stays as it is costs nothing.
      return inner === element ? value : `list_transform(${value}, lambda ${element} : ${inner})`
    }
    case 'struct': {
      const members = type.fields.map(({ name, type: of }) => {
        const from = `${value}.${ident(name)}`
        return { name, from, to: asJson(from, of, depth) }
      })
      if (members.every(({ from, to }) => from === to)) return value
      const pairs = members.map(({ name, to }) => `${literal(name)}: ${to}`)
      return `CASE WHEN ${value} IS NOT NULL THEN {${pairs.join(', ')}} END`
    }
    case 'scalar':
      return scalarAsJson(value, type.name)
  }
}

const scalarAsJson = (value: string, name: string): string => {
  switch (name) {
    case 'TIMESTAMP WITH TIME ZONE':
      return instant(value, 'Z')
    case 'TIMESTAMP':
      return instant(value, '')
    case 'DOUBLE':
    case 'FLOAT':
      return `CASE WHEN isfinite(${value}) THEN ${value} END`
    default:
      return value
  }
}
