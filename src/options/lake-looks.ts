/** Options of commands that print what a lake has, and of `rates`: the library has functions without options for them. */

import { JSON_OUTPUT, LAKE, SNAPSHOT } from './common.ts'
import { needed, type OptionTable, option } from './entry.ts'
import { path, trueOrFalse, whole } from './value-types.ts'

export const VIEWS_COMMAND = {
  lake: LAKE,
  snapshot: SNAPSHOT,
  json: option(JSON_OUTPUT.type, 'errors as one line of JSON', { only: 'commands' }),
} as const satisfies OptionTable

export const STATUS_COMMAND = {
  lake: LAKE,
  snapshot: SNAPSHOT,
  partitions: option(trueOrFalse, 'each partition too'),
  manifest: option(trueOrFalse, 'the manifest instead, with all of its parts, as one JSON document', {
    conflicts: 'partitions',
  }),
  json: JSON_OUTPUT,
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
