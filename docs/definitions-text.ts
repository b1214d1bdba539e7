/** The page of the analysis layer, from the head comments of its `.sql` files. */

import { type Definition, definitionsFor } from '../src/analysis/definitions.ts'
import { byName, documentationOf, SUBJECTS } from '../src/analysis/documentation.ts'
import { rows } from './markdown.ts'

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
  const { about, parameters, columns, rule, found, example, isPortable } = documentationOf(definition)
  return `### ${definition.signature}

${about} (${KINDS[definition.kind]}${isPortable ? ', in PostgreSQL too' : ''})
${rule === undefined ? '' : `\n${rule}\n`}${found === undefined ? '' : `\nFound where nothing is known to be wrong: ${found}\n`}${listText('parameter', parameters)}${listText('column', columns)}
\`\`\`sql
${example}
\`\`\`
`
}

/** The page as Markdown. */
export const definitionsText = (): string => {
  const all = definitionsFor()
  return SUBJECTS.map(([group, title]) => {
    const own = all
      .filter((one) => documentationOf(one).group === group)
      .sort((a, b) => byName(a.name, b.name))
    return `## ${title}\n\n${own.map(textOf).join('\n')}`
  }).join('\n')
}
