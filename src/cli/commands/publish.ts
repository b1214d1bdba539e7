/** `publish`: shows a lake's tables to other engines, in their own table formats. */

import { type Command, Option } from 'commander'
import {
  hasCatalog,
  TABLE_FORMAT_NAMES,
  TABLE_FORMATS,
  type TableFormatName,
} from '../../core/table-formats.ts'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import { PUBLISHED_ROWS, type PublishedRows } from '../../publish/publication.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import type { PublishProgress, PublishSummary } from '../../targets/publish.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import {
  type JsonOption,
  jsonOption,
  type LakeOption,
  lakeOption,
  overwriteOption,
} from '../options/options.ts'
import { localBytesOption, memoryOption } from '../options/run-options.ts'
import { noteComputed, noteTaken } from '../output/lake-notes.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { textTable } from '../output/text-table.ts'
import { amountOfThings } from '../output/time-left.ts'

interface PublishOptions extends LakeOption, JsonOption {
  readonly memory: number
  readonly localBytes?: number
  readonly rows?: PublishedRows
  readonly overwrite?: true
  /** Only where the format has a catalog. */
  readonly catalog?: string
  readonly warehouse?: string
  readonly namespace?: string
}

/** New at every call: each command has its own. */
const rowsOption = (): Option =>
  new Option('--rows <which>', 'all versions, or the current rows alone (default: both)').choices([
    ...PUBLISHED_ROWS,
  ])

export const addPublish = (program: Command): void => {
  const command = program
    .command('publish')
    .summary('show the tables to other engines')
    .description(
      'Publishes the tables of a lake in a format that other engines read, in step with its newest snapshot. ' +
        'Each table is published twice: with all versions of its records, and with the current rows alone. See ' +
        'docs/published-tables.md.',
    )
  for (const name of TABLE_FORMAT_NAMES) addFormat(command, name)
  withExamples(
    command,
    TABLE_FORMAT_NAMES.map((name) => [
      `publish ${name} --lake ./lake`,
      `${TABLE_FORMATS[name].title} tables: current rows in ./lake/published/${name}`,
    ]),
  )
}

const addFormat = (publish: Command, name: TableFormatName): void => {
  const { title, about } = TABLE_FORMATS[name]
  const command = publish
    .command(name)
    .summary(`as ${title} tables`)
    .description(about)
    .addOption(lakeOption())
  if (hasCatalog(name)) addCatalogOptions(command)
  command
    .addOption(rowsOption())
    .addOption(overwriteOption())
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action(({ catalog: url, warehouse, namespace, ...options }: PublishOptions) => {
      const named = hasCatalog(name) ? { url, warehouse, namespace } : undefined
      return runPublish(name, options, named && catalogFromEnvironment(process.env, named))
    })
  withExamples(command, [
    [`publish ${name} --lake ./lake`, `bring the ${title} tables in step with the lake`],
    [`publish ${name} --lake ./lake --rows all`, 'all versions alone, without the current rows'],
    [`publish ${name} --lake ./lake --json | jq '.tables[].versions'`, 'versions written for each table'],
    ...(hasCatalog(name)
      ? ([
          [
            `publish ${name} --lake s3://bucket/lake --catalog https://catalog.example --namespace firms`,
            'the same through a REST catalog',
          ],
        ] as const)
      : []),
  ])
}

const addCatalogOptions = (command: Command): Command =>
  command
    .option(
      '--catalog <url>',
      'address of an Iceberg REST catalog (default: $FIRMLAKE_CATALOG, else metadata in the lake)',
    )
    .option('--warehouse <name>', 'warehouse of the catalog (default: $FIRMLAKE_CATALOG_WAREHOUSE)')
    .option(
      '--namespace <name>',
      'namespace of the tables (default: $FIRMLAKE_CATALOG_NAMESPACE, else firmlake)',
    )

const runPublish = async (
  format: TableFormatName,
  { lake, memory, localBytes, rows, overwrite, json }: PublishOptions,
  catalog?: CatalogOptions,
): Promise<void> => {
  const line = new ProgressLine({ terminalOnly: json === true })
  const { publish } = await import('../../targets/publish.ts')
  const onProgress = (progress: PublishProgress): void =>
    line.show(() => stateText(progress), {
      amount: amountOfThings(progress.snapshots, progress.snapshotsTotal),
    })
  try {
    const summary = await interruptible((signal) =>
      publish({
        ...{ lake, formats: [format], catalog, memoryBytes: memory, localBytes, overwrite },
        ...{ signal, onProgress },
        ...(rows && { rows: [rows] }),
      }),
    )
    line.clear()
    await (json ? printJson({ lake, format, ...summary }) : printLines(summaryLines(summary)))
    await noteTaken(lake)
    await noteComputed(lake)
  } finally {
    line.clear()
  }
}

const stateText = ({ snapshots, snapshotsTotal, files, table }: PublishProgress): string =>
  `${snapshots}/${formatCounted(snapshotsTotal, 'snapshot')}  ${formatCounted(files, 'file')}  ${table}`

const summaryLines = ({ snapshot, tables }: PublishSummary): string[] => {
  if (snapshot === 0) return ['The lake has no snapshot yet: nothing to publish.']
  const changed = tables.filter(({ versions }) => versions > 0)
  const moved = tables.some((table) => table.moved)
  if (changed.length === 0) return [`All tables show snapshot ${snapshot} already.`]
  return [
    ...textTable(
      [
        { title: 'table' },
        { title: 'rows' },
        { title: 'versions', right: true },
        { title: 'files added', right: true },
        { title: 'removed', right: true },
      ],
      changed.map(({ table, rows, versions, added, removed }) => [
        table,
        rows,
        formatCount(versions),
        formatCount(added),
        formatCount(removed),
      ]),
    ),
    ...(moved ? ['The lake has been moved: its tables were published again at its new place.'] : []),
    `All tables show snapshot ${snapshot}.`,
  ]
}
