/** Options of `convert` and `convertTo`. */

import { DEFAULT_MAX_DEPTH } from '../check/drift/check-options.ts'
import { DECODE_LIMITS } from '../core/decode-limits.ts'
import { JSON_OUTPUT, LAKE } from './common.ts'
import { FILE_ENGINE } from './engine.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { AGAIN, DRY_LOAD, LOAD, SKIP_BAD_FILES } from './lake-jobs.ts'
import { TAKEN_BY_LOADS } from './projection.ts'
import {
  callback,
  choiceOf,
  delimiter,
  inputs,
  instantOfFiles,
  manyOf,
  plainText,
  size,
  target,
  trueOrFalse,
  whole,
} from './value-types.ts'

/** Limits of the lines of files. */
export const LINES = {
  maxLineBytes: withDefault(
    size(),
    'longest line',
    { value: DECODE_LIMITS.maxLineBytes, text: '16MiB' },
    { doc: 'Longest line, in bytes. @default 16 MiB' },
  ),
  maxRatio: withDefault(
    whole(),
    'most decoded bytes for one compressed byte',
    String(DECODE_LIMITS.maxRatio),
  ),
  maxDepth: withDefault(whole(), 'deepest nesting of a record', String(DEFAULT_MAX_DEPTH)),
} as const satisfies OptionTable

export const CONTENT_OF_FILES = option(
  { ...choiceOf('<content>', 'companies', 'relations'), ts: 'Content' },
  'what the files hold',
  {
    otherwise: 'detected for each',
    doc: 'The content of all of them.',
  },
)

export const AS_OF = option(
  instantOfFiles,
  "as of when the files are: a date or date-time, now, or name (the date in each file's name)",
  {
    otherwise: 'the latest stamp in each',
    doc: "As of when all of them are: an instant, `'now'`, or `'name'`, the date in each file's name. Of one company the latest data is current. @default the latest stamp in each of them",
  },
)

/** How CSV is written for a spreadsheet that expects it otherwise. */
export const CSV = {
  bom: option(trueOrFalse, 'CSV: begin with a byte order mark, by which Excel knows UTF-8', {
    doc: 'CSV: begins with a byte order mark, by which Excel knows UTF-8.',
  }),
  delimiter: option(delimiter, 'CSV: between two cells, "," ";" "|" or tab', { otherwise: '","' }),
} as const satisfies OptionTable

const FROM = needed(inputs, 'files, folders, patterns; - for standard input', {
  argument: '<path...>',
  doc: "Files, folders, patterns, `-` for standard input; `files`, `fromRecords`, or a source of one's own.",
})

const { maxQuarantined, changeCurrency, ...LOADING } = LOAD

export const CONVERT = {
  from: FROM,
  content: CONTENT_OF_FILES,
  again: AGAIN,
  ...DRY_LOAD,
  asOf: AS_OF,
  maxQuarantined,
  changeCurrency,
  skipBadFiles: SKIP_BAD_FILES,
  ...LINES,
  ...LOADING,
  keeps: option(callback('KeepsRecord'), 'leaves out the records for which it is false', {
    only: 'calls',
    doc: 'Leaves out the records for which it is false: called with each good record as the service gives it. It has to answer the same each time. Only the same program resumes such a run, and loads into such a lake. @default all are loaded',
  }),
} as const satisfies OptionTable

/** The tables that an export writes, and how. */
export const EXPORTED = {
  tables: option(manyOf(plainText('<name>')), 'a table or view to export, may be repeated', {
    ...{ flag: '--table', otherwise: 'all' },
    doc: 'Tables and views to export. @default all tables; with `sql` its one name is that of the answer',
  }),
  names: option(trueOrFalse, 'names of companies, owners and persons beside their ids; for files', {
    doc: 'Names of companies and entities beside their ids; for files.',
  }),
  neutralise: option(trueOrFalse, 'CSV safe for spreadsheets', { only: 'calls', otherwise: 'true' }),
  onProgress: option(callback('(progress: ExportProgress) => void'), 'how far it is', { only: 'calls' }),
} as const satisfies OptionTable

const { overwrite, adopt, memoryBytes, threads, signal, onEvent, take, hashKey } = LOAD
const { maxUnknownPerRecord, maxUnknownNames } = LOAD
const { content, skipBadFiles, keeps } = CONVERT

/** Options that `convertTo` takes as `convert` does. */
export const CONVERTED = {
  ...{ from: FROM, content, skipBadFiles, ...LINES, maxQuarantined, maxUnknownPerRecord, maxUnknownNames },
  ...{ memoryBytes, threads, signal, onEvent, take, hashKey, keeps },
} as const satisfies OptionTable

/** Options that `convertTo` takes as `exportTables` does. */
export const EXPORTED_WITH = { ...EXPORTED, ...CSV, overwrite, adopt } as const satisfies OptionTable

export const CONVERT_TO = {
  to: needed(target, 'no lake: into files or a database, as export --to', {
    doc: 'An address as `export --to` takes it: `parquet:out`, `companies.csv`, `firms.duckdb`, `postgres://…`.',
  }),
  ...CONVERTED,
  ...EXPORTED_WITH,
} as const satisfies OptionTable

const { from, lake: _lake, changeTaken, ...LOADED } = CONVERT

/** Options of the command `convert`, which does both. */
export const CONVERT_COMMAND = {
  from,
  lake: { ...LAKE, required: false, always: false },
  to: option(CONVERT_TO.to.type, CONVERT_TO.to.about),
  ...EXPORTED,
  ...LOADED,
  ...CSV,
  ...TAKEN_BY_LOADS,
  changeTaken,
  ...FILE_ENGINE,
  json: JSON_OUTPUT,
} as const satisfies OptionTable
