/** Options of `query` and `openQuery`. */

import {
  CHECKED,
  FILES,
  HELD_BACK,
  JSON_FORMAT,
  LAKE,
  MEMORY,
  SNAPSHOT,
  signalThat,
  THREADS,
} from './common.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { callback, choiceOf, path, plainText, trueOrFalse, whole } from './value-types.ts'

/** Beyond these a table is cut, with a remark. */
export const MOST_TABLE_ROWS = 1000

const RESULT_FORMAT = choiceOf('<format>', 'table', 'json', 'csv', 'markdown', 'parquet')
export type ResultFormat = (typeof RESULT_FORMAT.choices)[number]

/** The option of commands that remember which files this machine has hashed before. */
export const UNCHECKED = option(
  trueOrFalse,
  'compare lengths only where files are read for the first time, no hashes',
  { only: 'commands' },
)

/** Options of a lake that is opened for questions. */
export const OPEN_QUERY = {
  lake: LAKE,
  files: FILES,
  snapshot: SNAPSHOT,
  held: HELD_BACK,
  memoryBytes: MEMORY,
  threads: THREADS,
  check: option(
    choiceOf('<when>', 'first-read', 'every-read', 'never'),
    'when copies are compared with their hashes',
    { only: 'calls', otherwise: 'the first time that this machine reads them' },
  ),
  aroundFetch: option(callback('AroundFetch'), 'done around each fetch and check of files', {
    only: 'calls',
    otherwise: 'without progress and signal',
  }),
  outFolder: option(path(), 'a further folder, absolute, for the files that relations are copied to', {
    only: 'calls',
  }),
  unchecked: UNCHECKED,
  checked: CHECKED,
} as const satisfies OptionTable

const { lake, ...OPENED } = OPEN_QUERY

export const QUERY = {
  lake,
  sql: needed(
    { ...plainText(), expectedOfCall: 'one SELECT' },
    'the statement; - reads it from standard input',
    {
      argument: '[sql]',
      doc: 'A SELECT (also WITH, FROM, PIVOT, DESCRIBE, …).',
    },
  ),
  signal: signalThat('Stops the statement.'),
  onNote: option(callback('(note: string) => void'), 'notes on sums that add what does not add up', {
    only: 'calls',
    otherwise: 'nobody looks for them',
    doc: 'Called after the answer with each note on it: a sum over several currencies, both consolidations or years of several lengths, a name that does not occur.',
  }),
  describe: option(
    plainText('<name>'),
    'without SQL: print a table, view or macro with its columns and an example',
    { only: 'commands' },
  ),
  format: withDefault(RESULT_FORMAT, 'how rows are printed', 'table', { only: 'commands' }),
  limit: option(whole(), 'most rows to print', {
    only: 'commands',
    otherwise: `${MOST_TABLE_ROWS} in a table, else all`,
  }),
  width: option(whole(), 'columns that a table is cut to', {
    only: 'commands',
    otherwise: "the terminal's; not cut where standard output is none",
  }),
  neutralise: withDefault(
    trueOrFalse,
    'CSV safe for spreadsheets',
    { value: true, text: 'true' },
    { only: 'commands', no: 'CSV: leave texts that a spreadsheet takes for formulas as they are' },
  ),
  notes: withDefault(
    trueOrFalse,
    'notes on sums that add what does not add up',
    { value: true, text: 'true' },
    {
      only: 'commands',
      no: 'print no notes on sums that add what does not add up, or on names that do not occur',
    },
  ),
  ...OPENED,
  json: JSON_FORMAT,
} as const satisfies OptionTable
