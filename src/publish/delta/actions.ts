/** The actions of a Delta log as lines of JSON: made here, and read back. */

import { isObject, type JsonObject } from '../../support/json-form.ts'
import { VERSION } from '../../support/own-package.ts'
import { isRunId } from '../../support/run-ids.ts'
import type { MeasuredFile, StatisticsValue } from '../file-statistics.ts'
import type { ShownSnapshot, TableFile } from '../table-files.ts'
import {
  type LogForm,
  type LoggedFile,
  loggedPlace,
  numberAt,
  objectAt,
  partitionValues,
  textAt,
} from './log-form.ts'

const ENGINE = 'firmlake/'

export interface LoggedMetaData {
  readonly id: string
  readonly schema: string
  readonly partitionColumns: readonly string[]
  readonly createdMs: number
}

/** `load=<run>/<file>` as the log expects it: a relative address, each part URL-encoded. */
const encodePath = (name: string): string =>
  name
    .split('/')
    .map((part) => encodeURIComponent(part).replaceAll('%3D', '='))
    .join('/')

/** Reader 1 and writer 2: every reader of Delta tables knows them. */
export const protocolLine = (): string =>
  JSON.stringify({ protocol: { minReaderVersion: READER, minWriterVersion: WRITER } })
const READER = 1
const WRITER = 2

export const metaDataLine = (
  { configuration }: LogForm,
  { id, schema, partitionColumns, createdMs }: LoggedMetaData,
  table: string,
): string =>
  JSON.stringify({
    metaData: {
      id,
      name: table,
      format: { provider: 'parquet', options: {} },
      schemaString: schema,
      partitionColumns,
      configuration,
      createdTime: createdMs,
    },
  })

export const commitLine = (
  shown: ShownSnapshot & { readonly pipeline: string },
  operation: string,
  nowMs: number,
): string =>
  JSON.stringify({
    commitInfo: {
      timestamp: nowMs,
      operation,
      operationParameters: {
        snapshot: String(shown.snapshot),
        run: shown.run,
        pipeline: shown.pipeline,
      },
      engineInfo: `${ENGINE}${VERSION}`,
    },
  })

export const txnLine = ({ run, snapshot }: ShownSnapshot, nowMs: number): string =>
  JSON.stringify({ txn: { appId: run, version: snapshot, lastUpdated: nowMs } })

/** A file that comes to a table. */
export interface AddedFile {
  readonly file: TableFile
  /** As the log has them. */
  readonly statistics: string
}

export const addLine = (
  form: LogForm,
  { file, statistics }: AddedFile,
  { writtenMs, changesRows }: { readonly writtenMs: number; readonly changesRows: boolean },
): string =>
  JSON.stringify({
    add: {
      path: encodePath(file.name),
      partitionValues: partitionValues(form, file),
      size: file.bytes,
      modificationTime: writtenMs,
      dataChange: changesRows,
      stats: statistics,
    },
  })

// Files whose rows are superseded are a data change: readers that follow changes have to see it. Files whose rows stand in others are none.
export const removeLine = (
  form: LogForm,
  name: string,
  file: LoggedFile,
  { nowMs, changesRows }: { readonly nowMs: number; readonly changesRows: boolean },
): string =>
  JSON.stringify({
    remove: {
      path: encodePath(name),
      deletionTimestamp: nowMs,
      dataChange: changesRows,
      extendedFileMetadata: true,
      partitionValues: partitionValues(form, file),
      size: file.bytes,
    },
  })

/** Longest text that is given as least or greatest, in UTF-16 units: engines take the ends for exact. */
const LONGEST_TEXT = 64

/** A value as JSON; `undefined` where it must not stand in statistics. */
const valueText = (value: StatisticsValue): string | undefined => {
  if (typeof value === 'bigint') return String(value)
  if (typeof value === 'string' && value.length > LONGEST_TEXT) return undefined
  return JSON.stringify(value)
}

/** Members of an object as text: 64-bit integers have to come out whole. */
const members = (pairs: readonly (readonly [string, string | undefined])[]): string =>
  `{${pairs.flatMap(([name, text]) => (text === undefined ? [] : [`${JSON.stringify(name)}:${text}`])).join(',')}}`

const endText = (value: StatisticsValue | undefined): string | undefined =>
  // The format has no order of true and false.
  value === undefined || typeof value === 'boolean' ? undefined : valueText(value)

const statisticsText = ({ file, statistics }: MeasuredFile): string => {
  const columns = [...statistics]
  return members([
    ['numRecords', String(file.rows)],
    ['minValues', members(columns.map(([name, { min }]) => [name, endText(min)]))],
    ['maxValues', members(columns.map(([name, { max }]) => [name, endText(max)]))],
    [
      'nullCount',
      members(columns.map(([name, { nulls }]) => [name, nulls === undefined ? undefined : String(nulls)])),
    ],
  ])
}

export const addedFile = (measured: MeasuredFile): AddedFile => ({
  file: measured.file,
  statistics: statisticsText(measured),
})

/** An action of a log as far as this tool uses it. */
export type Action =
  | {
      readonly kind: 'add'
      readonly name: string
      readonly file: LoggedFile
    }
  | { readonly kind: 'remove'; readonly name: string }
  | { readonly kind: 'metaData'; readonly metaData: LoggedMetaData }
  | { readonly kind: 'protocol'; readonly reader: number; readonly writer: number }
  | { readonly kind: 'shown'; readonly shown: ShownSnapshot }
  | { readonly kind: 'engine'; readonly engine: string }
  /** Nothing that changes what the table holds. */
  | { readonly kind: 'other' }
  /** An action that this tool never writes. */
  | { readonly kind: 'strange'; readonly what: string }

const parseAdd = (add: JsonObject, form: LogForm): Action => {
  const path = textAt(add, 'path') ?? ''
  const place = loggedPlace(form, add)
  if (place === undefined) return { kind: 'strange', what: `file "${path}"` }
  const file = { ...place, bytes: numberAt(add, 'size') ?? 0 }
  return { kind: 'add', name: decodeURIComponent(path), file }
}

const parseMetaData = (metaData: JsonObject, { partitionColumns }: LogForm): Action => {
  const [id, schema] = [textAt(metaData, 'id'), textAt(metaData, 'schemaString')]
  const isOwn = JSON.stringify(metaData.partitionColumns) === JSON.stringify(partitionColumns)
  if (id === undefined || schema === undefined || !isOwn) return { kind: 'strange', what: 'a schema' }
  const createdMs = numberAt(metaData, 'createdTime') ?? 0
  return { kind: 'metaData', metaData: { id, schema, partitionColumns, createdMs } }
}

const parseTxn = (txn: JsonObject): Action => {
  const [run, snapshot] = [textAt(txn, 'appId') ?? '', numberAt(txn, 'version') ?? 0]
  return isRunId(run) ? { kind: 'shown', shown: { run, snapshot } } : { kind: 'other' }
}

const PARSERS: Readonly<Record<string, (action: JsonObject, form: LogForm) => Action>> = {
  add: parseAdd,
  remove: (remove) => ({ kind: 'remove', name: decodeURIComponent(textAt(remove, 'path') ?? '') }),
  metaData: parseMetaData,
  protocol: (protocol) => ({
    kind: 'protocol',
    reader: numberAt(protocol, 'minReaderVersion') ?? Number.NaN,
    writer: numberAt(protocol, 'minWriterVersion') ?? Number.NaN,
  }),
  txn: parseTxn,
  commitInfo: (info) => ({ kind: 'engine', engine: textAt(info, 'engineInfo') ?? 'an unknown program' }),
  cdc: () => ({ kind: 'strange', what: 'a change file' }),
}

/** Reads one action: of a line of the log, or a row of a checkpoint. @throws {SyntaxError}, {URIError} */
export const parseAction = (text: string, form: LogForm): Action => {
  const line: unknown = JSON.parse(text)
  if (!isObject(line)) return { kind: 'strange', what: 'an action' }
  for (const [name, parse] of Object.entries(PARSERS)) {
    const action = objectAt(line, name)
    if (action) return parse(action, form)
  }
  return { kind: 'other' }
}

export const isOwnEngine = (engine: string): boolean => engine.startsWith(ENGINE)

/** Whether this tool supports tables of these versions. */
export const isKnownProtocol = (reader: number, writer: number): boolean =>
  reader === READER && writer === WRITER
