/** `parameters`: the search parameters that the service has now. */

import { Argument, type Command } from 'commander'
import type { Content } from '../../contract/objects.ts'
import type { ListedParameter } from '../../source/service/listings.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { type JsonOption, jsonOption } from '../options/options.ts'
import { type ServiceCommandOptions, serviceOf, serviceOptions } from '../options/service-options.ts'
import { printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'

interface ParametersOptions extends JsonOption, ServiceCommandOptions {}

export const addParameters = (program: Command): void => {
  const command = program
    .command('parameters')
    .summary('print the search parameters of the service')
    .description(
      'Prints the search parameters that the service has now, and the values of those that list them.',
    )
    .addArgument(
      new Argument('[content]', 'of which search').choices(['companies', 'relations']).default('companies'),
    )
    .argument('[name]', 'only this parameter, with all its values')
  for (const option of serviceOptions('requests at once')) command.addOption(option)
  command.addOption(jsonOption()).action(runParameters)
  withExamples(command, [
    ['parameters', 'of the company search'],
    ['parameters companies LegalForm', 'one, with its values'],
  ])
}

/** Values shown beside a parameter when all are listed. */
const MOST_VALUES = 6

const runParameters = async (
  content: Content,
  name: string | undefined,
  options: ParametersOptions,
): Promise<void> => {
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
