/** `publish`: shows a lake's tables to other engines, in their own table formats. */

import { type Command, Option } from 'commander'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import { PUBLISHED_ROWS, type PublishedRows } from '../../publish/published-rows.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import type { PublishProgress, PublishSummary } from '../../targets/publish.ts'
import type { TableFormatName } from '../../targets/table-formats.ts'
import { interruptible } from '../interrupt.ts'
import { type JsonOption, jsonOption, type LakeOption, lakeOption, withExamples } from '../options/options.ts'
import { localBytesOption, memoryOption } from '../options/run-options.ts'
import { formatCount, formatCounted } from '../output/format.ts'
import { noteComputed, noteTaken } from '../output/lake-notes.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { textTable } from '../output/text-table.ts'

interface PublishOptions extends LakeOption, JsonOption {
  readonly memory: number
  readonly localBytes?: number
  readonly rows?: PublishedRows
}

interface IcebergOptions extends PublishOptions {
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
  addDelta(command)
  addIceberg(command)
  withExamples(command, [
    ['publish delta --lake ./lake', 'Delta Lake tables: current rows in ./lake/published/delta'],
    ['publish iceberg --lake ./lake', 'Apache Iceberg tables: current rows in ./lake/published/iceberg'],
  ])
}

const addDelta = (publish: Command): void => {
  const command = publish
    .command('delta')
    .summary('as Delta Lake tables')
    .description(
      'Writes a Delta Lake log beside each table, for all versions of its records: one version for each snapshot ' +
        'that changes it. The current rows get files of their own in published/delta. What is published already ' +
        'stays as it is; the command may be interrupted and run again.',
    )
    .addOption(lakeOption())
    .addOption(rowsOption())
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action((options: PublishOptions) => runPublish('delta', options))
  withExamples(command, [
    ['publish delta --lake ./lake', 'bring the Delta tables in step with the lake'],
    ['publish delta --lake ./lake --rows all', 'without files of their own for the current rows'],
    ["publish delta --lake ./lake --json | jq '.tables[].versions'", 'versions written for each table'],
  ])
}

const addIceberg = (publish: Command): void => {
  const command = publish
    .command('iceberg')
    .summary('as Apache Iceberg tables')
    .description(
      'Writes Apache Iceberg metadata (version 2) for each table: one snapshot for each snapshot of the lake that ' +
        'changes it. The metadata stands in the lake, or is committed through a REST catalog. The catalog takes a ' +
        'bearer token from FIRMLAKE_CATALOG_TOKEN, or gives one for the id:secret in FIRMLAKE_CATALOG_CREDENTIAL.',
    )
    .addOption(lakeOption())
    .option(
      '--catalog <url>',
      'address of an Iceberg REST catalog (default: $FIRMLAKE_CATALOG, else metadata in the lake)',
    )
    .option('--warehouse <name>', 'warehouse of the catalog (default: $FIRMLAKE_CATALOG_WAREHOUSE)')
    .option(
      '--namespace <name>',
      'namespace of the tables (default: $FIRMLAKE_CATALOG_NAMESPACE, else firmlake)',
    )
    .addOption(rowsOption())
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action(({ catalog: url, warehouse, namespace, ...options }: IcebergOptions) => {
      const catalog = catalogFromEnvironment(process.env, { url, warehouse, namespace })
      return runPublish('iceberg', options, catalog)
    })
  withExamples(command, [
    ['publish iceberg --lake ./lake', 'bring the Iceberg tables in step with the lake'],
    [
      'publish iceberg --lake s3://bucket/lake --catalog https://catalog.example --namespace firms',
      'the same through a REST catalog',
    ],
  ])
}

const runPublish = async (
  format: TableFormatName,
  { lake, memory, localBytes, rows, json }: PublishOptions,
  catalog?: CatalogOptions,
): Promise<void> => {
  const line = new ProgressLine({ terminalOnly: json === true })
  const { publish } = await import('../../targets/publish.ts')
  const onProgress = (progress: PublishProgress): void => line.show(() => stateText(progress))
  try {
    const summary = await interruptible((signal) =>
      publish({
        ...{ lake, formats: [format], catalog, memoryBytes: memory, localBytes, signal, onProgress },
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
