/** Writes `docs/reference/` from the declarations, and `docs/llms.txt`: `npm run docs`. A test compares them. */

import { mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { DICTIONARIES } from '../src/contract/dictionaries.ts'
import { CATEGORIES, LINE_ITEMS } from '../src/contract/line-items.ts'
import { ERROR_CODES, isFinal } from '../src/core/errors.ts'
import { REJECT_CODES } from '../src/core/lines.ts'
import { LISTINGS, QUARANTINE, TABLES, type Table } from '../src/lake/tables/tables.ts'
import { FAULT_NAMES, faultOf } from '../src/server/faults/fault-kinds.ts'
import { apiText } from './api-text.ts'
import { commandsText } from './commands-text.ts'
import { configText } from './config-text.ts'
import { dbtSourcesText } from './dbt-sources-text.ts'
import { definitionsText } from './definitions-text.ts'
import { interfacesText } from './interfaces-text.ts'
import { llmsText } from './llms-text.ts'
import { rows } from './markdown.ts'

const tableText = ({ name, row, key, columns }: Table): string => `## ${name}

A row is ${row}. Key: ${key.map((column) => `\`${column}\``).join(', ')}.

${rows(
  ['column', 'type', 'unit', 'meaning'],
  columns.map(({ name: column, type, unit = '', about }) => [`\`${column}\``, shortType(type), unit, about]),
)}
`
const shortType = (type: string): string => (type.startsWith('STRUCT') ? type.replace(/\(.*\)/, '(…)') : type)

const codeText = (codes: Readonly<Record<string, string>>): string =>
  rows(
    ['code', 'meaning'],
    Object.entries(codes).map(([code, meaning]) => [`\`${code}\``, meaning]),
  )

const MADE = 'Made by `npm run docs` from the declarations in `src/`; do not edit.'

/** The files below `docs/reference/` by name. */
export const DOCUMENTS: Readonly<Record<string, string>> = {
  'tables.md': `# The tables of a lake

${MADE}

Each table has a view of its name with the current version of each record, and, but for \`quarantine\` and \`listings\`, a view
\`<table>_history\` with all versions. Date-times are instants in UTC. A day that the service writes as a date-time (unit: day as reported)
is the day that is written, whatever its offset, at its beginning or time in UTC.

${[...TABLES, QUARANTINE, LISTINGS].map(tableText).join('\n')}
## Line items

${rows(
  ['category', 'line items by unit'],
  CATEGORIES.map((category) => {
    const units = Map.groupBy(
      LINE_ITEMS.filter((item) => item.category === category),
      ({ unit }) => unit,
    )
    return [
      category,
      [...units]
        .map(([unit, items]) => `${unit}: ${items.map(({ lineItem }) => lineItem).join(', ')}`)
        .join('; '),
    ]
  }),
)}

## Codes

${Object.values(DICTIONARIES)
  .map(
    ({ name, values }) =>
      `**${name}**: ${values.map(({ value, name: text }) => (String(value) === text ? text : `${value} ${text}`)).join(', ')}.`,
  )
  .join('\n\n')}
`,
  'views.md': `# The analysis layer

${MADE}

Views and macros over the tables of a lake, for \`firmlake query\`, \`export --sql\`, \`lake.ducklake\` and
\`lake.duckdb\`: [analysis.md](../analysis.md).

${definitionsText()}`,
  'codes.md': `# Codes

${MADE}

## Errors

An error is one line \`error CODE: what could not be done: why\`, and what to do about it. A run that failed with a code
marked as final would fail again: \`firmlake resume\` leaves it alone unless it is named or given the option that helps.

${rows(
  ['code', 'meaning', 'final'],
  Object.entries(ERROR_CODES).map(([code, meaning]) => [
    `\`${code}\``,
    meaning,
    isFinal({ code }) ? 'yes' : '',
  ]),
)}

## Why a line is in the quarantine

${codeText(REJECT_CODES)}

## Faults

What \`serve --faults\` injects to test a client ([serving.md](../serving.md#faults)).

${rows(
  ['fault', 'what happens', 'fields'],
  FAULT_NAMES.map((name) => {
    const { about, options = [] } = faultOf(name)
    return [`\`${name}\``, about, options.map((option) => `\`${option}\``).join(', ')]
  }),
)}
`,
  'commands.md': await commandsText(MADE),
  'configuration.md': configText(MADE),
  'api.md': apiText(MADE),
  'dbt-sources.yml': dbtSourcesText(MADE),
}

/** `src/options/interfaces.ts`. */
export const INTERFACES = await interfacesText(MADE)

if (process.argv[1] === import.meta.filename) {
  writeFileSync(join(import.meta.dirname, '../src/options/interfaces.ts'), INTERFACES)
  const folder = join(import.meta.dirname, 'reference')
  mkdirSync(folder, { recursive: true })
  for (const [name, text] of Object.entries(DOCUMENTS)) writeFileSync(join(folder, name), text)
  writeFileSync(join(import.meta.dirname, 'llms.txt'), llmsText())
}
