/** TOML as tables, lists and values that know their lines. */

import { type AST, ParseError, parseTOML } from 'toml-eslint-parser'
import { ToolkitError } from '../core/errors.ts'

export interface TomlTable {
  readonly kind: 'table'
  readonly line: number
  readonly entries: Map<string, TomlEntry>
}
interface TomlList {
  readonly kind: 'list'
  readonly line: number
  readonly items: TomlNode[]
}
interface TomlValue {
  readonly kind: 'value'
  readonly line: number
  /** A date as its text; a whole number beyond 2^53 as its digits. */
  readonly value: string | number | boolean
}
export type TomlNode = TomlTable | TomlList | TomlValue
interface TomlEntry {
  /** The line of the key. */
  readonly line: number
  readonly node: TomlNode
}

const emptyTable = (line: number): TomlTable => ({ kind: 'table', line, entries: new Map() })

const nameOf = (key: AST.TOMLBare | AST.TOMLQuoted): string =>
  key.type === 'TOMLBare' ? key.name : String(key.value)

const scalarOf = (value: AST.TOMLValue): TomlValue['value'] => {
  if (value.kind !== 'integer') return 'datetime' in value ? value.datetime : value.value
  return Number.isSafeInteger(value.value) ? value.value : String(value.bigint)
}

const nodeOf = (content: AST.TOMLContentNode): TomlNode => {
  const { line } = content.loc.start
  if (content.type === 'TOMLArray') return { kind: 'list', line, items: content.elements.map(nodeOf) }
  if (content.type === 'TOMLInlineTable') {
    const table = emptyTable(line)
    for (const pair of content.body) put(table, pair)
    return table
  }
  return { kind: 'value', line, value: scalarOf(content) }
}

/** The table of a name, in a list the last one; made where there is none. The parser has refused what is no table. */
const tableBelow = (table: TomlTable, name: string, line: number): TomlTable => {
  const found = table.entries.get(name)?.node
  const last = found?.kind === 'list' ? found.items.at(-1) : found
  if (last?.kind === 'table') return last
  const made = emptyTable(line)
  table.entries.set(name, { line, node: made })
  return made
}

const put = (table: TomlTable, { key, value, loc }: AST.TOMLKeyValue): void => {
  const names = key.keys.map(nameOf)
  const { line } = loc.start
  const inner = names.slice(0, -1).reduce((above, name) => tableBelow(above, name, line), table)
  inner.entries.set(names.at(-1) ?? '', { line, node: nodeOf(value) })
}

const putTable = (root: TomlTable, { key, kind, body, loc }: AST.TOMLTable): void => {
  const names = key.keys.map(nameOf)
  const { line } = loc.start
  const above = names.slice(0, -1).reduce((table, name) => tableBelow(table, name, line), root)
  const name = names.at(-1) ?? ''
  const listed = above.entries.get(name)?.node
  if (kind === 'array' && listed?.kind === 'list') listed.items.push(emptyTable(line))
  else if (kind === 'array')
    above.entries.set(name, { line, node: { kind: 'list', line, items: [emptyTable(line)] } })
  const table = tableBelow(above, name, line)
  for (const pair of body) put(table, pair)
}

/** The key of a line, and nothing of its value. */
const keyOn = (text: string, line: number): string =>
  /^[\s[]*([^=\]]*)/.exec(text.split('\n')[line - 1] ?? '')?.[1]?.trim() ?? ''

/** @param path for messages @throws {ToolkitError} CONFIG_INVALID naming the line */
export const parseToml = (text: string, path: string): TomlTable => {
  try {
    const root = emptyTable(1)
    const [top] = parseTOML(text).body
    for (const one of top.body) one.type === 'TOMLTable' ? putTable(root, one) : put(root, one)
    return root
  } catch (error) {
    if (!(error instanceof ParseError)) throw error
    const { lineNumber: line } = error
    const reason = error.message.includes('multiple times')
      ? `"${keyOn(text, line)}" stands here a second time, expected each key once`
      : `this is no TOML (${error.message.toLowerCase()})`
    throw new ToolkitError('CONFIG_INVALID', `Cannot use "${path}": line ${line}: ${reason}`, { path, line })
  }
}
