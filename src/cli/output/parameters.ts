/** `plan --parameters`: the search parameters that the service has now. */

import type { ValuesOf } from '../../options/entry.ts'
import type { PLAN } from '../../options/search.ts'
import type { ListedParameter } from '../../source/service/listings.ts'
import { interruptible } from '../interrupt.ts'
import { serviceOf } from '../options/service-options.ts'
import { printJson, printLines } from './print.ts'
import { textTable } from './text-table.ts'

/** Values shown beside a parameter when all are listed. */
const MOST_VALUES = 6

/** Prints all search parameters, or one with all its values. */
export const printParameters = async (options: ValuesOf<typeof PLAN>): Promise<void> => {
  const { content, parameter: name } = options
  const service = await serviceOf(options)
  try {
    const all = await interruptible((signal) => service.parameters(content, { signal }))
    if (name !== undefined) {
      const { checkParameterName } = await import('../../pull/windows/search.ts')
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
