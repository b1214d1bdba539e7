/** `publish`: shows a lake's tables to other engines, in their own table formats. */

import type { Command } from 'commander'
import {
  hasCatalog,
  TABLE_FORMAT_NAMES,
  TABLE_FORMATS,
  type TableFormatName,
} from '../../core/table-formats.ts'
import { askedOf, type ValuesOf } from '../../options/entry.ts'
import { PUBLISH, PUBLISH_COMMAND, PUBLISH_TO_CATALOG } from '../../options/publish.ts'
import type { CatalogOptions } from '../../publish/iceberg/catalog-client.ts'
import { formatCount, formatCounted } from '../../support/format.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import type { PublishProgress, PublishSummary } from '../../targets/publish.ts'
import { addCommand } from '../add-command.ts'
import { withExamples } from '../help.ts'
import { interruptible } from '../interrupt.ts'
import { noteComputed, noteTaken } from '../output/lake-notes.ts'
import { printJson, printLines } from '../output/print.ts'
import { ProgressLine } from '../output/progress-line.ts'
import { textTable } from '../output/text-table.ts'
import { amountOfThings } from '../output/time-left.ts'

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
  const { title, about: description } = TABLE_FORMATS[name]
  const told = { name, summary: `as ${title} tables`, description }
  const examples = [
    [`publish ${name} --lake ./lake`, `bring the ${title} tables in step with the lake`],
    [`publish ${name} --lake ./lake --rows all`, 'all versions alone, without the current rows'],
    [`publish ${name} --lake ./lake --json | jq '.tables[].versions'`, 'versions written for each table'],
  ] as const
  if (!hasCatalog(name)) {
    addCommand(publish, {
      ...told,
      options: PUBLISH_COMMAND,
      run: (values) => runPublish(name, values),
      examples,
    })
    return
  }
  addCommand(publish, {
    ...told,
    options: PUBLISH_TO_CATALOG,
    run: ({ catalog: url, warehouse, namespace, ...values }) =>
      runPublish(name, values, catalogFromEnvironment(process.env, { url, warehouse, namespace })),
    examples: [
      ...examples,
      [
        `publish ${name} --lake s3://bucket/lake --catalog https://catalog.example --namespace firms`,
        'the same through a REST catalog',
      ],
    ],
  })
}

const runPublish = async (
  format: TableFormatName,
  values: ValuesOf<typeof PUBLISH_COMMAND>,
  catalog?: CatalogOptions,
): Promise<void> => {
  const { lake, rows, json } = values
  const line = new ProgressLine({ terminalOnly: json === true })
  const { publish } = await import('../../targets/publish.ts')
  const onProgress = (progress: PublishProgress): void =>
    line.show(() => stateText(progress), {
      amount: amountOfThings(progress.snapshots, progress.snapshotsTotal),
    })
  try {
    const summary = await interruptible((signal) =>
      publish({
        ...askedOf(PUBLISH, values),
        ...{ formats: [format], rows: rows && [rows], catalog, signal, onProgress },
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
