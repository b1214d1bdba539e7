/** The head comment of a definition, in its parts: the page of the layer and the comments in a database are made of it. */

import type { Definition } from './definitions.ts'

type Subject = readonly [group: string, title: string]

/** Groups of definitions, in the order in which they are listed. */
export const SUBJECTS: readonly [Subject, ...Subject[]] = [
  ['figures', 'Figures'],
  ['companies', 'Companies'],
  ['ownership', 'Ownership and people'],
  ['money', 'Money'],
  ['quality', 'What is probably wrong'],
  ['lake', 'The lake itself'],
]

/** The views whose figures can be added up: they stand first in every list. */
const FIRST: readonly string[] = ['figures', 'figures_in']

/** The order of names in a list: these first, then the alphabet. */
export const byName = (a: string, b: string): number => {
  const [placeOfA, placeOfB] = [a, b].map((name) => FIRST.toReversed().indexOf(name)) as [number, number]
  return placeOfB - placeOfA || (a < b ? -1 : 1)
}

/** The parts of a head comment. */
export interface Documentation {
  readonly about: string
  readonly group: string
  readonly parameters: readonly (readonly [name: string, about: string])[]
  readonly columns: readonly (readonly [name: string, about: string])[]
  readonly rule?: string
  /** Findings of a rule on the data where nothing is known to be wrong. */
  readonly found?: string
  readonly example: string
  /** Whether PostgreSQL takes the statement as well as DuckDB: its databases then get the view. */
  readonly isPortable: boolean
}

/** @throws {TypeError} for a head comment that lacks a group or an example, or has a line of another form */
export const documentationOf = ({ name, head }: Pick<Definition, 'name' | 'head'>): Documentation => {
  const [about = '', ...lines] = head
  const strings = new Map<string, string>()
  const lists = { parameters: [] as [string, string][], columns: [] as [string, string][] }
  let list: [string, string][] = []
  for (const line of lines) {
    const [, item, own] = /^ {2}(\S+): (.+)$/.exec(line) ?? []
    const [, key = '', text] = /^([a-z]+):(?: (.+))?$/.exec(line) ?? []
    if (item !== undefined && own !== undefined) list.push([item, own])
    else if (text !== undefined) strings.set(key, text)
    else if (key === 'parameters' || key === 'columns') list = lists[key]
    else throw new TypeError(`Cannot read the head of "${name}.sql": "${line}"`)
  }
  const [group, rule, found, example, also] = ['group', 'rule', 'found', 'example', 'also'].map((key) =>
    strings.get(key),
  )
  if (group === undefined || example === undefined)
    throw new TypeError(`Cannot read the head of "${name}.sql": expected a group and an example`)
  return {
    about,
    group,
    ...lists,
    ...(rule !== undefined && { rule }),
    ...(found !== undefined && { found }),
    example,
    isPortable: also === 'PostgreSQL',
  }
}

/** A call of a macro, as the example of its head has it; the name of a view. */
export const callOf = (definition: Definition): string => {
  const call = new RegExp(String.raw`\b${definition.name}\([^)]*\)`)
  return call.exec(documentationOf(definition).example)?.[0] ?? definition.name
}
