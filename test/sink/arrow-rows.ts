/** Arrow files as values, bit by bit: apache-arrow's reader for the buffers, and nothing of its conversions. */

import { type Data, DataType, tableFromIPC } from 'apache-arrow'

export type Value =
  | bigint
  | number
  | string
  | boolean
  | null
  | readonly Value[]
  | { readonly [name: string]: Value }

const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A value of a column; instants in microseconds, dates in days since 1970. */
const valueAt = (data: Data, row: number): Value => {
  if (!data.getValid(row)) return null
  const { type, values, valueOffsets, children } = data
  if (DataType.isDictionary(type)) {
    const dictionary = data.dictionary?.data[0]
    if (dictionary === undefined) throw new TypeError('a dictionary column without values')
    return valueAt(dictionary, values[row])
  }
  if (DataType.isBool(type)) return (values[row >> 3] & (1 << (row & 7))) !== 0
  if (DataType.isUtf8(type)) return decoder.decode(values.subarray(valueOffsets[row], valueOffsets[row + 1]))
  if (DataType.isList(type)) {
    const [child] = children
    const from = Number(valueOffsets[row])
    const length = Number(valueOffsets[row + 1]) - from
    return Array.from({ length }, (_, at) => (child === undefined ? null : valueAt(child, from + at)))
  }
  if (DataType.isStruct(type)) {
    return Object.fromEntries(
      type.children.map(({ name }, at) => {
        const child = children[at]
        return [name, child === undefined ? null : valueAt(child, row)]
      }),
    )
  }
  return values[row]
}

/** Rows of an Arrow file or stream, in the order of the file. */
export const arrowRows = (bytes: Uint8Array): readonly Readonly<Record<string, Value>>[] =>
  tableFromIPC(bytes).batches.flatMap((batch) =>
    Array.from({ length: batch.numRows }, (_, row) =>
      Object.fromEntries(
        batch.schema.fields.map(({ name }, at) => {
          const column = batch.data.children[at]
          return [String(name), column === undefined ? null : valueAt(column, row)]
        }),
      ),
    ),
  )

/** DuckDB's value of a column in the same form. */
export const engineValue = (value: unknown): Value => {
  if (value === null || value === undefined) return null
  switch (typeof value) {
    case 'bigint':
    case 'number':
    case 'string':
    case 'boolean':
      return value
    case 'object':
      if ('micros' in value) return engineValue(value.micros)
      if ('days' in value) return engineValue(value.days)
      if ('items' in value && Array.isArray(value.items)) return value.items.map(engineValue)
      if ('entries' in value && typeof value.entries === 'object' && value.entries !== null) {
        return Object.fromEntries(
          Object.entries(value.entries).map(([name, entry]) => [name, engineValue(entry)]),
        )
      }
  }
  throw new TypeError(`a value of a kind that these tests do not know: ${String(value)}`)
}

/** A value as text that tells all apart: 1 and 1n, 0 and -0, null and 'null'. */
export const valueText = (value: Value): string => {
  if (value === null) return 'null'
  if (typeof value === 'bigint') return `${value}n`
  if (typeof value === 'number') return Object.is(value, -0) ? '-0' : String(value)
  if (typeof value === 'string') return JSON.stringify(value)
  if (typeof value === 'boolean') return String(value)
  if (Array.isArray(value)) return `[${value.map(valueText).join()}]`
  return `{${Object.entries(value)
    .map(([name, entry]) => `${name}:${valueText(entry)}`)
    .join()}}`
}
