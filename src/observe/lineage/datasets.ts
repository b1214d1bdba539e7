/** What a run has read and written, as OpenLineage names datasets: by the folder or the service it stands in. */

import { resolve } from 'node:path'
import { folderOf, splitBucket } from '../../core/lake-address.ts'
import type { PartitionEntry, SourceEntry } from '../../core/partition.ts'
import { kindOf } from '../../core/source-kinds.ts'
import type { CommittedWork } from '../../core/stages.ts'
import { TABLES } from '../../lake/tables/tables.ts'
import { facet } from './facet.ts'

/** Name and namespace of a dataset. */
export interface DatasetName {
  readonly namespace: string
  readonly name: string
}

/** `s3://bucket/lake` → the bucket and `lake/companies`; a folder → `file` and its absolute path. */
export const datasetIn = (place: string, below = ''): DatasetName => {
  const split = splitBucket(place)
  if (split) return { namespace: split.bucket, name: [split.prefix, below].filter(Boolean).join('/') || '/' }
  return { namespace: 'file', name: resolve(place, below) }
}

/** Files are named by their folder, what a service gave by the service and the kind of records. */
const sourceName = (source: SourceEntry, { content }: PartitionEntry, lake: string): DatasetName => {
  const origin = kindOf(source).origin(source, content)
  switch (origin.at) {
    case 'path':
      return datasetIn(folderOf(origin.path))
    case 'service':
      return { namespace: origin.service, name: origin.name }
    case 'lake':
      return datasetIn(lake, origin.table ?? content)
    case 'process':
      return { namespace: 'file', name: source.kind }
  }
}

interface Sum {
  readonly dataset: DatasetName
  rowCount: number
  size: number
  readonly files: Set<string>
}

class Sums {
  readonly #sums = new Map<string, Sum>()

  add(dataset: DatasetName, file: string, rows: number, bytes: number): void {
    const key = `${dataset.namespace} ${dataset.name}`
    const sum = this.#sums.get(key) ?? { dataset, rowCount: 0, size: 0, files: new Set() }
    this.#sums.set(key, sum)
    sum.rowCount += rows
    // A source of several partitions is one.
    if (!sum.files.has(file)) sum.size += bytes
    sum.files.add(file)
  }

  all() {
    return [...this.#sums.values()].map(({ dataset, rowCount, size, files }) => ({
      dataset,
      statistics: { rowCount, size, fileCount: files.size },
    }))
  }
}

/** What was read: lines, stored bytes and files of each. */
export const inputDatasets = ({ partitions }: CommittedWork, lake: string): readonly object[] => {
  const sums = new Sums()
  for (const entry of partitions)
    for (const source of entry.sources ?? [{ ...entry.source, counts: entry.counts }])
      sums.add(sourceName(source, entry, lake), source.name, source.counts.lines, source.bytes)
  return sums.all().map(({ dataset, statistics }) => ({
    ...dataset,
    facets: {},
    inputFacets: { inputStatistics: facet('InputStatisticsInputDatasetFacet', statistics) },
  }))
}

const schemaOf = (table: string) => {
  const columns = TABLES.find(({ name }) => name === table)?.columns ?? []
  return facet('SchemaDatasetFacet', {
    fields: columns.map(({ name, type, about }) => ({ name, type, description: about })),
  })
}

/** The tables that rows were written to, with their columns; the version is the number of the snapshot. */
export const outputDatasets = ({ partitions, snapshot }: CommittedWork, lake: string): readonly object[] => {
  if (snapshot === undefined) return []
  const version = facet('DatasetVersionDatasetFacet', { datasetVersion: String(snapshot.snapshot) })
  const known = new Set(TABLES.map(({ name }) => name))
  return [...known].flatMap((table) => {
    const files = partitions.flatMap((entry) => entry.files).filter((file) => file.table === table)
    if (files.length === 0) return []
    const sums = new Sums()
    for (const { path, rows, bytes } of files) sums.add(datasetIn(lake, table), path, rows, bytes)
    return sums.all().map(({ dataset, statistics }) => ({
      ...dataset,
      facets: { schema: schemaOf(table), version },
      outputFacets: { outputStatistics: facet('OutputStatisticsOutputDatasetFacet', statistics) },
    }))
  })
}
