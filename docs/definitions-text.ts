/** The page of the analysis layer, from the head comments of its `.sql` files. */

import { type Definition, definitionsFor } from '../src/analysis/definitions.ts'
import { rows } from './markdown.ts'

/** What a head comment says. */
export interface Documentation {
  readonly about: string
  readonly group: string
  readonly parameters: readonly (readonly [name: string, about: string])[]
  readonly columns: readonly (readonly [name: string, about: string])[]
  readonly rule?: string
  /** What a rule on the data finds where nothing is known to be wrong. */
  readonly found?: string
  readonly example: string
}

/** @throws {TypeError} for a head comment that lacks a group or an example, or has a line of another form */
export const documentationOf = ({ name, head }: Pick<Definition, 'name' | 'head'>): Documentation => {
  const [about = '', ...lines] = head
  const texts = new Map<string, string>()
  const lists = { parameters: [] as [string, string][], columns: [] as [string, string][] }
  let list: [string, string][] = []
  for (const line of lines) {
    const [, item, own] = /^ {2}(\S+): (.+)$/.exec(line) ?? []
    const [, key = '', text] = /^([a-z]+):(?: (.+))?$/.exec(line) ?? []
    if (item !== undefined && own !== undefined) list.push([item, own])
    else if (text !== undefined) texts.set(key, text)
    else if (key === 'parameters' || key === 'columns') list = lists[key]
    else throw new TypeError(`Cannot read the head of "${name}.sql": "${line}"`)
  }
  const [group, rule, found, example] = ['group', 'rule', 'found', 'example'].map((key) => texts.get(key))
  if (group === undefined || example === undefined)
    throw new TypeError(`Cannot read the head of "${name}.sql": expected a group and an example`)
  return {
    about,
    group,
    ...lists,
    ...(rule !== undefined && { rule }),
    ...(found !== undefined && { found }),
    example,
  }
}

const GROUPS: readonly (readonly [group: string, title: string])[] = [
  ['money', 'Money'],
  ['figures', 'Figures'],
  ['companies', 'Companies'],
  ['ownership', 'Ownership and people'],
  ['quality', 'What is probably wrong'],
  ['lake', 'The lake itself'],
]

const KINDS: Readonly<Record<Definition['kind'], string>> = {
  view: 'view',
  macro: 'macro, gives a value',
  'table macro': 'macro, gives a table: FROM …',
}

const listText = (title: string, list: readonly (readonly [string, string])[]): string =>
  list.length === 0
    ? ''
    : `\n${rows(
        [title, 'meaning'],
        list.map(([name, about]) => [`\`${name}\``, about]),
      )}\n`

const textOf = (definition: Definition): string => {
  const { about, parameters, columns, rule, found, example } = documentationOf(definition)
  return `### ${definition.signature}

${about} (${KINDS[definition.kind]})
${rule === undefined ? '' : `\n${rule}\n`}${found === undefined ? '' : `\nFound where nothing is known to be wrong: ${found}\n`}${listText('parameter', parameters)}${listText('column', columns)}
\`\`\`sql
${example}
\`\`\`
`
}

/** The page as Markdown. */
export const definitionsText = (): string => {
  const all = definitionsFor()
  return GROUPS.map(([group, title]) => {
    const own = all
      .filter((one) => documentationOf(one).group === group)
      .sort((a, b) => (a.name < b.name ? -1 : 1))
    return `## ${title}\n\n${own.map(textOf).join('\n')}`
  }).join('\n')
}
