/**
 * The analysis layer: each `.sql` file beside this one defines one view or macro of its name over the tables of a lake.
 * Its head comment is its documentation. Knows no lake and no DuckDB.
 */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { ownFile } from '../support/own-package.ts'

const SUFFIX = '.sql'
const FOLDER = ownFile('analysis')

/** A view, a macro that gives a value, or one that gives a table. */
export type DefinitionKind = 'view' | 'macro' | 'table macro'

/** A `.sql` file. */
export interface Definition {
  readonly name: string
  readonly kind: DefinitionKind
  /** Start of the statement: `growth(item)` for a macro, the name for a view. */
  readonly signature: string
  /** The statement, `CREATE OR REPLACE …`, without its head comment and the semicolon. */
  readonly sql: string
  /** The head comment, line by line, without `--`. */
  readonly head: readonly string[]
  /** Other definitions that it reads. */
  readonly uses: readonly string[]
  /** The words of its statement: every name that it reads is among them. */
  readonly words: ReadonlySet<string>
}

let names: ReadonlySet<string> | undefined

/** The names of all definitions. */
export const definitionNames = (): ReadonlySet<string> => {
  names ??= new Set(
    readdirSync(FOLDER)
      .filter((file) => file.endsWith(SUFFIX))
      .map((file) => file.slice(0, -SUFFIX.length))
      .sort(),
  )
  return names
}

const STATEMENT = /^CREATE OR REPLACE (VIEW|MACRO) ([a-z_]+)(\([^)]*\))? AS( TABLE)?\s/
/** Comments and texts, which name nothing that is read. */
const NOT_CODE = /--.*$|'(?:[^']|'')*'/gm

/** Names of the words of a statement that are definitions. */
export const namesIn = (sql: string): ReadonlySet<string> => {
  const words = sql.toLowerCase().match(/\w+/g) ?? []
  return new Set(words.filter((word) => definitionNames().has(word)))
}

/** Names behind FROM or JOIN, or of what is called: columns may have the names of definitions. */
const READ = /\b(?:FROM|JOIN)\s+(\w+)|\b(\w+)\(/g

/** Names of definitions that a statement of ours reads. */
const readIn = (code: string): readonly string[] => [
  ...namesIn([...code.matchAll(READ)].map(([, read, called]) => read ?? called).join(' ')),
]

/** @throws {TypeError} for a file that is not a head comment and one statement of its name */
export const parseDefinition = (name: string, text: string): Definition => {
  const lines = text.split('\n')
  const first = lines.findIndex((line) => !line.startsWith('--'))
  const sql = lines.slice(first).join('\n').trim().replace(/;$/, '')
  const [, what, own, parameters = '', table] = STATEMENT.exec(sql) ?? []
  if (first < 1 || own !== name || (what === 'MACRO') !== (parameters !== ''))
    throw new TypeError(
      `Cannot use "${name}${SUFFIX}": expected a head comment and one definition of "${name}"`,
    )
  const code = sql.replace(NOT_CODE, '')
  return {
    name,
    kind: what === 'VIEW' ? 'view' : table === undefined ? 'macro' : 'table macro',
    signature: `${name}${parameters}`,
    sql,
    head: lines.slice(0, first).map((line) => line.replace(/^-- ?/, '')),
    uses: readIn(code).filter((one) => one !== name),
    words: new Set(code.match(/\w+/g)),
  }
}

const read = new Map<string, Definition>()

const definitionOf = (name: string): Definition => {
  const known = read.get(name)
  if (known !== undefined) return known
  const definition = parseDefinition(name, readFileSync(join(FOLDER, `${name}${SUFFIX}`), 'utf8'))
  read.set(name, definition)
  return definition
}

/** Definitions with all that they use, each behind those that it uses. @param names names; others are left alone */
export const definitionsFor = (names: Iterable<string> = definitionNames()): readonly Definition[] => {
  const found: Definition[] = []
  const seen = new Set<string>()
  const add = (name: string): void => {
    if (seen.has(name) || !definitionNames().has(name)) return
    seen.add(name)
    const definition = definitionOf(name)
    for (const one of definition.uses) add(one)
    found.push(definition)
  }
  for (const name of names) add(name)
  return found
}
