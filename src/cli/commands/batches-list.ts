/** `batches list`: the batch files that the service offers. */

import type { Command } from 'commander'
import type { ListedBatchFile } from '../../source/service/service.ts'
import { interruptible } from '../interrupt.ts'
import { type BatchFilter, batchFilterOptions, selectionOf } from '../options/batch-options.ts'
import { type JsonOption, jsonOption, withExamples } from '../options/options.ts'
import { type ServiceCommandOptions, serviceOf, serviceOptions } from '../options/service-options.ts'
import { formatBytes, formatCount } from '../output/format.ts'
import { note, printJson, printLines } from '../output/print.ts'
import { textTable } from '../output/text-table.ts'

interface ListOptions extends JsonOption, BatchFilter, ServiceCommandOptions {}

export const addBatchesList = (batches: Command): void => {
  const command = batches
    .command('list')
    .summary('list the batch files of the service')
    .description(
      'Lists the batch files that the service offers to the account, oldest first where it dates them.',
    )
  for (const option of batchFilterOptions()) command.addOption(option)
  for (const option of serviceOptions('requests at once')) command.addOption(option)
  command.addOption(jsonOption()).action(runList)
  withExamples(command, [
    ['batches list', 'all files, of the service at FIRMLAKE_URL'],
    ['batches list --content companies --country SE,NO', 'some of them'],
  ])
}

const tableOf = (files: readonly ListedBatchFile[]): string[] =>
  textTable(
    [
      ...['id', 'name', 'content', 'country'].map((title) => ({ title })),
      ...['size', 'records'].map((title) => ({ title, right: true })),
      { title: 'created' },
    ],
    files.map(({ id, name, content, countryCode, sizeBytes, count, createdAt }) => [
      id,
      name,
      content ?? '–',
      countryCode ?? '–',
      sizeBytes === undefined ? '–' : formatBytes(sizeBytes),
      count === undefined ? '–' : formatCount(count),
      createdAt ?? '–',
    ]),
  )

const NONE_OF_THEM = 'The service lists no such batch file.'
const NONE_AT_ALL =
  'The service lists no batch files. Where it is "firmlake serve", "firmlake batches make" makes them of its lake.'

const runList = async (options: ListOptions): Promise<void> => {
  const { chooseBatchFiles } = await import('../../jobs/batch-files/choose-batch-files.ts')
  const service = await serviceOf(options)
  try {
    const onIdless = (name: string): void =>
      note(
        `warning: the listing gives no id for ${name === '' ? 'an entry' : JSON.stringify(name)}, it is left out`,
      )
    const listed = await interruptible((signal) => service.batchFiles({ signal, onIdless }))
    const lake = { snapshot: null, service: service.origin, again: true }
    const { files: nameable, unnameable } = chooseBatchFiles(listed, selectionOf([], options), lake)
    const files = [...nameable, ...unnameable]
    if (options.json) return await printJson({ service: service.origin, batchFiles: files })
    await printLines(files.length > 0 ? tableOf(files) : [listed.length > 0 ? NONE_OF_THEM : NONE_AT_ALL])
  } finally {
    await service.close()
  }
}
