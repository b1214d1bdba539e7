/** Everything that a statement can read by name, with what is declared of it: tables, their views, the analysis layer. */

import {
  type Definition,
  type DefinitionKind,
  definitionNames,
  definitionsFor,
} from '../../analysis/definitions.ts'
import { byName, callOf, documentationOf, SUBJECTS } from '../../analysis/documentation.ts'
import type { ComputedColumn } from '../projection/computed-columns.ts'
import type { Column } from '../tables/columns.ts'
import { TABLES } from '../tables/tables.ts'
import { commentsOf, tableViews } from './comments.ts'

/** The subject of tables and their views; those of definitions are `SUBJECTS`. */
export const TABLE_SUBJECT = 'tables'

export interface CatalogEntry {
  readonly name: string
  readonly kind: 'table' | DefinitionKind
  readonly subject: string
  /** A macro with its parameters; the name of all others. */
  readonly signature: string
  readonly about: string
  readonly rule?: string
  readonly parameters: readonly (readonly [name: string, about: string])[]
  /** Only tables and their views state types and units. */
  readonly columns: readonly (Pick<Column, 'name' | 'about'> & Partial<Column>)[]
  readonly example: string
}

const entryOf = (definition: Definition): CatalogEntry => {
  const { name, kind, signature } = definition
  const { about, rule, group, parameters, columns, example } = documentationOf(definition)
  const listed = kind === 'view' ? commentsOf(definition).columns : columns
  return {
    ...{ name, kind, subject: group, signature, about, parameters, example },
    ...(rule !== undefined && { rule }),
    columns: listed.map(([column, text]) => ({ name: column, about: text })),
  }
}

/** @param computed further columns of the tables */
export const catalog = (computed?: readonly ComputedColumn[]): readonly CatalogEntry[] => {
  const tables = tableViews(computed).map(
    ({ name, about, columns }): CatalogEntry => ({
      ...{ name, signature: name, subject: TABLE_SUBJECT, about, columns, parameters: [] },
      kind: TABLES.some((table) => table.name === name) ? 'table' : 'view',
      example: `FROM ${name} LIMIT 10`,
    }),
  )
  const entries = definitionsFor().map(entryOf)
  const ofSubject = (subject: string): readonly CatalogEntry[] =>
    entries.filter((one) => one.subject === subject).sort((a, b) => byName(a.name, b.name))
  const [[first], ...others] = SUBJECTS
  return [...ofSubject(first), ...tables, ...others.flatMap(([subject]) => ofSubject(subject))]
}

/** The names that a statement may read. */
export const readableNames = (): readonly string[] => [
  ...tableViews().map(({ name }) => name),
  ...definitionNames(),
]

/** The kind of a name that a statement may read; `undefined` of others. */
export const readableKind = (name: string): CatalogEntry['kind'] | undefined => {
  if (TABLES.some((table) => table.name === name)) return 'table'
  if (tableViews().some((view) => view.name === name)) return 'view'
  return definitionsFor([name]).at(-1)?.kind
}

/** How a name is read in a statement, where it stands there as something else. `undefined`: there is no such name. */
export const howToRead = (name: string): string | undefined => {
  const definition = definitionsFor([name]).at(-1)
  if (definition === undefined)
    return tableViews().some((view) => view.name === name) ? `${name} is a view: FROM ${name}` : undefined
  const call = callOf(definition)
  if (definition.kind === 'view') return `${name} is a view: FROM ${name}`
  return definition.kind === 'macro'
    ? `${name} is a macro that gives a value: SELECT ${call}`
    : `${name} is a macro: FROM ${call}`
}
