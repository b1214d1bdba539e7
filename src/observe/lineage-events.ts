/**
 * Events of OpenLineage for the attempts at a run, with the datasets that it has read and written and the facets of each.
 * Pure. Source: openlineage.io/spec/2-0-2.
 */

import { createHash } from 'node:crypto'
import { basename, resolve } from 'node:path'
import { failureOf } from '../core/errors.ts'
import { absoluteAddress, folderOf, splitBucket } from '../core/lake-address.ts'
import type { PartitionEntry, SourceEntry } from '../core/partition.ts'
import { kindOf } from '../core/source-kinds.ts'
import type { CommittedWork, RunStage } from '../core/stages.ts'
import { declaredColumns, TABLES } from '../lake/tables/tables.ts'
import { VERSION } from '../support/own-package.ts'

/** An attempt at a run, whoever names it. */
type RunAttempt = Omit<RunStage, 'stage'>

/** Milliseconds of a run id's time: `20261121T094500123Z-1f9a2c`. */
const timeOf = (run: string): number => {
  const [, day = '', time = ''] = /^(\d{8})T(\d{9})Z/.exec(run) ?? []
  const [year, month, date] = [day.slice(0, 4), day.slice(4, 6), day.slice(6)].map(Number)
  const [hour, minute, ms] = [time.slice(0, 2), time.slice(2, 4), time.slice(4)].map(Number)
  return Date.UTC(year ?? 0, (month ?? 1) - 1, date, hour, minute, 0, ms)
}

/** A UUID of version 7 with the run's time; the same in every process that speaks of the attempt. */
const lineageRunId = ({ lake, run, attempt }: RunAttempt): string => {
  const hash = createHash('sha256')
    .update(`${absoluteAddress(lake)}\n${run}\n${attempt}`)
    .digest()
  hash.writeUIntBE(timeOf(run), 0, 6)
  hash.writeUInt8(0x70 | (hash.readUInt8(6) & 0x0f), 6)
  hash.writeUInt8(0x80 | (hash.readUInt8(8) & 0x3f), 8)
  const hex = hash.toString('hex', 0, 16)
  return [hex.slice(0, 8), hex.slice(8, 12), hex.slice(12, 16), hex.slice(16, 20), hex.slice(20)].join('-')
}

const event = (
  eventType: string,
  attempt: RunAttempt,
  namespace: string,
  { now, runFacets = {}, ...data }: { now: Date; runFacets?: object; inputs?: unknown; outputs?: unknown },
): object => ({
  ...{ eventType, eventTime: now.toISOString(), producer: PRODUCER, schemaURL: EVENT_SCHEMA },
  run: {
    runId: lineageRunId(attempt),
    facets: {
      processing_engine: facet('ProcessingEngineRunFacet', { name: 'firmlake', version: VERSION }),
      ...runFacets,
    },
  },
  job: {
    namespace,
    name: `${basename(attempt.lake.replace(/\/+$/, ''))}.${attempt.pipeline}`,
    facets: {
      jobType: facet('JobTypeJobFacet', {
        ...{ processingType: 'BATCH', integration: 'FIRMLAKE', jobType: attempt.pipeline },
      }),
    },
  },
  inputs: [],
  outputs: [],
  ...data,
})

export const startEvent = (attempt: RunAttempt, namespace: string, now: Date): object =>
  event('START', attempt, namespace, { now })

/** @param committed what the run has made visible; absent where it committed nothing */
export const completeEvent = (
  attempt: RunAttempt,
  namespace: string,
  now: Date,
  committed: CommittedWork | undefined,
): object => {
  const { lake } = attempt
  const data = committed && {
    inputs: inputDatasets(committed, lake),
    outputs: outputDatasets(committed, lake),
  }
  return event('COMPLETE', attempt, namespace, { now, ...data })
}

/** `ABORT` for a run that was interrupted and can be resumed, `FAIL` for others. */
export const failEvent = (attempt: RunAttempt, namespace: string, now: Date, error: unknown): object => {
  const failure = failureOf(error)
  if (failure === undefined) return event('ABORT', attempt, namespace, { now })
  const message = `${failure.code}: ${failure.message}`
  const errorMessage = facet('ErrorMessageRunFacet', { message, programmingLanguage: 'TypeScript' })
  return event('FAIL', attempt, namespace, { now, runFacets: { errorMessage } })
}

/** Name and namespace of a dataset. */
interface DatasetName {
  readonly namespace: string
  readonly name: string
}

/** `s3://bucket/lake` → the bucket and `lake/companies`; a folder → `file` and its absolute path. */
const datasetIn = (place: string, below = ''): DatasetName => {
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

const sumOf = <Key extends string>(rows: readonly Readonly<Record<Key, number>>[], key: Key): number =>
  rows.reduce((sum, row) => sum + row[key], 0)

/** The datasets that were read, each with its lines, stored bytes and files. */
const inputDatasets = ({ partitions }: CommittedWork, lake: string): readonly object[] => {
  const sources = partitions.flatMap((entry) =>
    (entry.sources ?? [{ ...entry.source, counts: entry.counts }]).map((source) => {
      const { name, bytes, counts } = source
      return { dataset: sourceName(source, entry, lake), name, bytes, lines: counts.lines }
    }),
  )
  const byDataset = Map.groupBy(sources, ({ dataset }) => `${dataset.namespace} ${dataset.name}`)
  return [...byDataset.values()].map((own) => {
    // A source of several partitions is one.
    const bytesOf = new Map(own.map(({ name, bytes }) => [name, bytes]))
    const size = [...bytesOf.values()].reduce((sum, bytes) => sum + bytes, 0)
    const statistics = { rowCount: sumOf(own, 'lines'), size, fileCount: bytesOf.size }
    return {
      ...own[0]?.dataset,
      facets: {},
      inputFacets: { inputStatistics: facet('InputStatisticsInputDatasetFacet', statistics) },
    }
  })
}

const schemaOf = (table: string) =>
  facet('SchemaDatasetFacet', {
    fields: declaredColumns(table).map(({ name, type, about }) => ({ name, type, description: about })),
  })

/** The tables that rows were written to, with their columns; the version is the number of the snapshot. */
const outputDatasets = ({ partitions, snapshot }: CommittedWork, lake: string): readonly object[] => {
  if (snapshot === undefined) return []
  const version = facet('DatasetVersionDatasetFacet', { datasetVersion: String(snapshot.snapshot) })
  return [...new Set(TABLES.map(({ name }) => name))].flatMap((table) => {
    const files = partitions.flatMap((entry) => entry.files).filter((file) => file.table === table)
    if (files.length === 0) return []
    const [rowCount, size] = [sumOf(files, 'rows'), sumOf(files, 'bytes')]
    const statistics = { rowCount, size, fileCount: new Set(files.map(({ path }) => path)).size }
    return {
      ...datasetIn(lake, table),
      facets: { schema: schemaOf(table), version },
      outputFacets: { outputStatistics: facet('OutputStatisticsOutputDatasetFacet', statistics) },
    }
  })
}

const PRODUCER = `urn:firmlake:${VERSION}`
const SPEC = 'https://openlineage.io/spec'
const EVENT_SCHEMA = `${SPEC}/2-0-2/OpenLineage.json#/$defs/RunEvent`

/** The facets that are sent, with the version of each. */
const FACETS = {
  SchemaDatasetFacet: '1-2-0',
  DatasetVersionDatasetFacet: '1-0-1',
  InputStatisticsInputDatasetFacet: '1-0-0',
  OutputStatisticsOutputDatasetFacet: '1-0-2',
  ErrorMessageRunFacet: '1-0-1',
  ProcessingEngineRunFacet: '1-1-1',
  JobTypeJobFacet: '2-0-4',
} as const

export const facet = (kind: keyof typeof FACETS, facts: object): object => ({
  _producer: PRODUCER,
  _schemaURL: `${SPEC}/facets/${FACETS[kind]}/${kind}.json#/$defs/${kind}`,
  ...facts,
})
