/** Values of a query as JSON. */

import type { ValueShape } from './duckdb-values.ts'

const members = (value: object, shapes: readonly (readonly [string, ValueShape])[]): string => {
  const values = new Map<string, unknown>(Object.entries(value))
  return `{${shapes.map(([name, shape]) => `${JSON.stringify(name)}:${jsonText(values.get(name), shape)}`).join(',')}}`
}

const ANY: ValueShape = { kind: 'any' }
const TEXT: ValueShape = { kind: 'text' }

/** JSON of a value of its column's shape: a number keeps all its digits, and one that is not finite is null. */
export const jsonText = (value: unknown, shape: ValueShape): string => {
  if (value === null || value === undefined) return 'null'
  if (typeof value === 'bigint' || (typeof value === 'string' && shape.kind === 'number'))
    return String(value)
  if (Object.is(value, -0)) return '-0'
  if (typeof value !== 'object') return JSON.stringify(value) ?? 'null'
  if (Array.isArray(value)) {
    const of = shape.kind === 'list' ? shape.of : ANY
    return `[${value.map((one) => jsonText(one, of)).join(',')}]`
  }
  if (shape.kind === 'object') return members(value, [...shape.members])
  if (shape.kind === 'union' && 'tag' in value) {
    const of = shape.members.get(String(value.tag)) ?? ANY
    return members(value, [
      ['tag', TEXT],
      ['value', of],
    ])
  }
  return members(
    value,
    Object.keys(value).map((name) => [name, ANY]),
  )
}
