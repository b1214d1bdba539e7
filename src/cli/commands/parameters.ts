/** `parameters`: the search parameters that the service has now. */

import type { Command } from 'commander'
import { JSON_OUTPUT } from '../../options/common.ts'
import { type OptionTable, option, type ValuesOf, withDefault } from '../../options/entry.ts'
import { atOnce, calling } from '../../options/service.ts'
import { choiceOf, plainText } from '../../options/value-types.ts'
import type { ListedParameter } from '../../source/service/listings.ts'
import { addCommand } from '../add-command.ts'
import { interruptible } from '../interrupt.ts'
import { serviceOf } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'

const PARAMETERS = {
  content: withDefault(choiceOf('<content>', 'companies', 'relations'), 'of which search', 'companies', {
    argument: '[content]',
  }),
  name: option(plainText(), 'only this parameter, with all its values', { argument: '[name]' }),
  ...calling(atOnce('requests at once')),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

export const addParameters = (program: Command): void => {
  addCommand(program, {
    name: 'parameters',
    summary: 'print the search parameters of the service',
    description:
      'Prints the search parameters that the service has now, and the values of those that list them.',
    options: PARAMETERS,
    run: runParameters,
    examples: [
      ['parameters', 'of the company search'],
      ['parameters companies LegalForm', 'one, with its values'],
    ],
  })
}

/** Values shown beside a parameter when all are listed. */
const MOST_VALUES = 6

const runParameters = async (options: ValuesOf<typeof PARAMETERS>): Promise<void> => {
  const { content, name } = options
  const service = await serviceOf(options)
  try {
    const all = await interruptible((signal) => service.parameters(content, { signal }))
    if (name !== undefined) {
      const { checkParameterName } = await import('../../jobs/pull/search.ts')
      checkParameterName(content, name, all)
    }
    const shown =
      name === undefined ? all : all.filter((one) => one.name.toLowerCase() === name.toLowerCase())
    if (options.json) return await printJson({ content, parameters: shown })
    await printLines(name === undefined ? listLines(shown) : shown.flatMap(valueLines))
  } finally {
    await service.close()
  }
}

const listLines = (parameters: readonly ListedParameter[]): string[] =>
  textTable(
    [
      { title: 'parameter' },
      { title: 'type' },
      { title: 'filter' },
      { title: 'sortable' },
      { title: 'values' },
    ],
    parameters.map(({ name, datatype = '–', filterType = '–', sortable, values = [] }) => [
      name,
      datatype,
      filterType,
      sortable === undefined ? '–' : sortable ? 'yes' : 'no',
      values.length > MOST_VALUES
        ? `${values
            .slice(0, MOST_VALUES)
            .map(({ value }) => value)
            .join(' ')} … (${values.length})`
        : values.map(({ value }) => value).join(' '),
    ]),
  )

const valueLines = ({ name, datatype, description, values = [] }: ListedParameter): string[] => [
  `${name}${datatype === undefined ? '' : ` (${datatype})`}`,
  ...(description === undefined ? [] : [description]),
  ...(values.length === 0
    ? []
    : [
        '',
        ...textTable(
          [{ title: 'value' }, { title: 'name' }],
          values.map((one) => [String(one.value), one.name ?? '']),
        ),
      ]),
]
