/** Options of commands that print what a lake has, and of `rates`: the library has functions without options for them. */

import { JSON_OUTPUT, LAKE, SNAPSHOT } from './common.ts'
import { needed, type OptionTable, option } from './entry.ts'
import { path, trueOrFalse, whole } from './value-types.ts'

const jsonThat = (about: string) => option(JSON_OUTPUT.type, about, { only: 'commands' })

export const VIEWS_COMMAND = {
  lake: LAKE,
  snapshot: SNAPSHOT,
  write: option(trueOrFalse, 'write lake.duckdb and lake.ducklake for the newest snapshot', {
    conflicts: 'snapshot',
  }),
  json: jsonThat('with --write the result as one JSON document; errors as one line of JSON'),
} as const satisfies OptionTable

export const STATUS_COMMAND = {
  lake: LAKE,
  snapshot: SNAPSHOT,
  partitions: option(trueOrFalse, 'each partition too'),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

export const MANIFEST_COMMAND = {
  lake: LAKE,
  snapshot: SNAPSHOT,
  json: jsonThat('errors as one line of JSON; the manifest is JSON in any case'),
} as const satisfies OptionTable

export const LOAD_RATES = {
  file: needed(path(), 'CSV file', { argument: '<file>' }),
  lake: LAKE,
  json: JSON_OUTPUT,
} as const satisfies OptionTable

export const LIST_RATES = {
  lake: LAKE,
  year: option(whole(), 'only what figures of this fiscal year are converted with'),
  json: JSON_OUTPUT,
} as const satisfies OptionTable
