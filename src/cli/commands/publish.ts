/** `publish`: shows a lake's tables to other engines, in their own table formats. */

import type { Command } from 'commander'
import { catalogFromEnvironment } from '../../pipeline/targets/catalog-environment.ts'
import type { PublishProgress, PublishSummary, TableFormatName } from '../../pipeline/targets/publish.ts'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import { interruptible } from '../interrupt.ts'
import { type JsonOption, jsonOption, type LakeOption, lakeOption, withExamples } from '../options/options.ts'
import { localBytesOption, memoryOption } from '../options/run-options.ts'
import { formatCount, formatCounted } from '../output/format.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { textTable } from '../output/text-table.ts'

interface PublishOptions extends LakeOption, JsonOption {
  readonly memory: number
  readonly localBytes?: number
}

interface IcebergOptions extends PublishOptions {
  readonly catalog?: string
  readonly warehouse?: string
  readonly namespace?: string
}

export const addPublish = (program: Command): void => {
  const command = program
    .command('publish')
    .summary('show the tables to other engines')
    .description(
      'Publishes the tables of a lake in a format that other engines read, in step with its newest snapshot. ' +
        'Copies no data: the published tables are the files of the lake. See docs/operations.md.',
    )
  addDelta(command)
  addIceberg(command)
  withExamples(command, [
    ['publish delta --lake ./lake', 'Delta Lake tables: a _delta_log beside each table'],
    ['publish iceberg --lake ./lake', 'Apache Iceberg tables: metadata beside each table'],
  ])
}

const addDelta = (publish: Command): void => {
  const command = publish
    .command('delta')
    .summary('as Delta Lake tables')
    .description(
      'Writes a Delta Lake log for each table: one version for each snapshot that changes it. What is published ' +
        'already stays as it is; the command may be interrupted and run again.',
    )
    .addOption(lakeOption())
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action((options: PublishOptions) => runPublish('delta', options))
  withExamples(command, [
    ['publish delta --lake ./lake', 'bring the Delta tables in step with the lake'],
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
    .addOption(memoryOption())
    .addOption(localBytesOption())
    .addOption(jsonOption())
    .action(({ catalog: url, warehouse, namespace, ...options }: IcebergOptions) =>
      runPublish('iceberg', options, catalogFromEnvironment(process.env, { url, warehouse, namespace })),
    )
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
  { lake, memory, localBytes, json }: PublishOptions,
  catalog?: CatalogOptions,
): Promise<void> => {
  const line = new ProgressLine({ terminalOnly: json === true })
  const { publish } = await import('../../pipeline/targets/publish.ts')
  const onProgress = (progress: PublishProgress): void => line.show(() => stateText(progress))
  try {
    const summary = await interruptible((signal) =>
      publish({ lake, formats: [format], catalog, memoryBytes: memory, localBytes, signal, onProgress }),
    )
    line.clear()
    await (json ? printJson({ lake, format, ...summary }) : printLines(summaryLines(summary)))
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
        { title: 'versions', right: true },
        { title: 'files added', right: true },
        { title: 'removed', right: true },
      ],
      changed.map(({ table, versions, added, removed }) => [
        table,
        formatCount(versions),
        formatCount(added),
        formatCount(removed),
      ]),
    ),
    ...(moved ? ['The lake has been moved: its tables were published again at its new place.'] : []),
    `All tables show snapshot ${snapshot}.`,
  ]
}
