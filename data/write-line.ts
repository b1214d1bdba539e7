/** One record as one JSON line, in one of several ways to write the same data. */

import type { ObjectType } from '../src/contract/fields.ts'

/** `nulls` writes fields without a value as null, `reversed` turns the key order, `escaped` is ASCII only. */
export const WRITINGS = ['plain', 'nulls', 'reversed', 'escaped'] as const
export type Writing = (typeof WRITINGS)[number]

const escaped = (json: string): string =>
  json.replace(/[\u007f-\uffff]/g, (unit) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, '0')}`)

const isObject = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

/** An object with null in each field that may be left out and is; objects in it likewise, lists not. */
const withNulls = (value: Readonly<Record<string, unknown>>, type: ObjectType): object =>
  Object.fromEntries(
    Object.entries(type.fields).flatMap(([name, field]): [string, unknown][] => {
      const given = value[name]
      if (given === undefined) return field.omitted === 'always' ? [] : [[name, null]]
      return [[name, field.kind === 'object' && isObject(given) ? withNulls(given, field.of) : given]]
    }),
  )

/**
 * @param ready fields of the record that are JSON text already
 * @returns the line without its line end
 */
export const lineOf = (
  record: Readonly<Record<string, unknown>>,
  type: ObjectType,
  ready: readonly (readonly [name: string, json: string])[],
  writing: Writing,
): string => {
  const fields = Object.entries(record).filter(([, value]) => value !== undefined)
  let parts: (readonly [string, string])[] = []
  for (const [name, value] of fields) {
    const field = type.fields[name]
    const nulled =
      writing === 'nulls' && field?.kind === 'object' && isObject(value) ? withNulls(value, field.of) : value
    parts.push([name, JSON.stringify(nulled)])
  }
  parts.push(...ready)
  if (writing === 'reversed') parts = parts.reverse()
  if (writing === 'nulls') {
    const present = new Set(parts.map(([name]) => name))
    for (const [name, field] of Object.entries(type.fields)) {
      if (field.omitted !== 'always' && !present.has(name)) parts.push([name, 'null'])
    }
  }
  const line = `{${parts.map(([name, json]) => `"${name}":${json}`).join(',')}}`
  return writing === 'escaped' ? escaped(line) : line
}
