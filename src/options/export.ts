/** Options of `exportTables`. */

import { STREAM_FORMATS } from '../sink/targets.ts'
import { JSON_OUTPUT, LAKE, MEMORY, SNAPSHOT, signalThat, THREADS } from './common.ts'
import { CONVERT_TO, CSV, EXPORTED } from './convert.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { taking } from './projection.ts'
import { ADOPT, HASH_KEY, OVERWRITE } from './targets.ts'
import { anObject, callback, choiceOf, exportTarget, plainText, trueOrFalse } from './value-types.ts'

export const EXPORT = {
  lake: LAKE,
  to: needed(exportTarget, 'where to', {
    doc: 'An address (`x.csv`, `parquet:out`, `firms.duckdb`, `postgres://…`: docs/export.md), or a stream with the format of what goes there.',
  }),
  format: option(choiceOf('<format>', ...STREAM_FORMATS), 'format on standard output', { only: 'commands' }),
  tables: EXPORTED.tables,
  sql: option(plainText('<sql>'), 'the rows of this SELECT; one --table gives their name', {
    doc: 'A SELECT over the views of the lake, in place of its tables.',
  }),
  history: option(trueOrFalse, 'all versions of each record, as in <table>_history', {
    doc: 'The versions of each record in place of the current ones.',
  }),
  all: option(trueOrFalse, 'companies that the service does not list any more too', {
    doc: 'Also companies that the service does not list any more.',
  }),
  names: EXPORTED.names,
  overwrite: option(OVERWRITE.type, OVERWRITE.about, {
    doc: 'Replaces files that are there, loads a database again that shows the same rows already, and anew one that shows what the lake has lost. @default false: they are refused, or left as they are',
  }),
  adopt: option(ADOPT.type, ADOPT.about, {
    doc: 'Writes to a database of another lake too. @default false: it is refused',
  }),
  neutralise: withDefault(
    trueOrFalse,
    'CSV safe for spreadsheets',
    { value: true, text: 'true' },
    { no: 'CSV: leave texts that a spreadsheet takes for formulas as they are' },
  ),
  snapshot: SNAPSHOT,
  memoryBytes: MEMORY,
  threads: THREADS,
  ...CSV,
  take: option(anObject('Projection'), 'rows and columns that are written', {
    ...{ only: 'calls', otherwise: 'everything' },
    doc: 'Rows and columns that are written; columns that are left out are not there.',
  }),
  hashKey: HASH_KEY,
  compute: option(
    anObject<Readonly<Record<string, string>>>('Readonly<Record<string, string>>'),
    'further columns by `table.column`: SQL over the columns of that table, also over those that are left out',
    { only: 'calls', otherwise: 'none' },
  ),
  signal: signalThat('Stops it; no partial file is left.'),
  onProgress: EXPORTED.onProgress,
  onFetch: option(callback('(progress: FetchProgress) => void'), "how far the fetch of a lake's files is", {
    only: 'calls',
    doc: "How far the fetch of a lake's files from a bucket is; several times, as tables are asked for.",
  }),
} as const satisfies OptionTable

const { compute: _compute, ...EXPORTING } = EXPORT

export const EXPORT_COMMAND = {
  ...EXPORTING,
  to: needed(CONVERT_TO.to.type, EXPORT.to.about),
  ...taking('write'),
  json: JSON_OUTPUT,
} as const satisfies OptionTable
