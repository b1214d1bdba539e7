/** Options of `publish`, `deliver`, `updateTargets` and `checkTargets`. */

import { PUBLISHED_ROWS, TABLE_FORMAT_NAMES } from '../core/table-formats.ts'
import { JSON_OUTPUT, LAKE, LOCAL_BYTES, MEMORY, NOW, signalThat, THREADS } from './common.ts'
import { needed, type OptionTable, option } from './entry.ts'
import { ADOPT, CATALOG, HASH_KEY, ON_TARGET, OVERWRITE, TARGETS } from './targets.ts'
import { anObject, callback, choiceOf, manyOf, plainText, sinkAddresses } from './value-types.ts'

const WHICH_ROWS = choiceOf('<which>', ...PUBLISHED_ROWS)

export const PUBLISH = {
  lake: LAKE,
  formats: needed(
    manyOf({ ...choiceOf('<format>', ...TABLE_FORMAT_NAMES), ts: 'TableFormatName' }),
    'formats in which the tables are published',
  ),
  rows: option(
    manyOf({ ...WHICH_ROWS, ts: 'PublishedRows' }),
    'tables of all versions, of the current rows, or both',
    { otherwise: 'both' },
  ),
  catalog: option(CATALOG.type, "the catalog that keeps the Iceberg tables' metadata", {
    otherwise: CATALOG.otherwise,
  }),
  overwrite: option(OVERWRITE.type, OVERWRITE.about, {
    doc: 'Publishes anew where tables show what the lake does not have, such as after a backup took its place. @default false: they are refused',
  }),
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  threads: THREADS,
  signal: signalThat('Stops it: what is published stays.'),
  now: NOW,
  onProgress: option(callback('(progress: PublishProgress) => void'), 'how far it is', { only: 'calls' }),
} as const satisfies OptionTable

/** Options of `publish` and the name of a format. */
export const PUBLISH_COMMAND = {
  lake: LAKE,
  rows: option(WHICH_ROWS, 'all versions, or the current rows alone', { otherwise: 'both' }),
  overwrite: OVERWRITE,
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  json: JSON_OUTPUT,
} as const satisfies OptionTable

const { lake, ...PUBLISHING } = PUBLISH_COMMAND

/** Options of publishing a format that has a catalog. */
export const PUBLISH_TO_CATALOG = {
  lake,
  catalog: option(plainText('<url>'), 'address of an Iceberg REST catalog', {
    otherwise: '$FIRMLAKE_CATALOG, else metadata in the lake',
  }),
  warehouse: option(plainText('<name>'), 'warehouse of the catalog', {
    otherwise: '$FIRMLAKE_CATALOG_WAREHOUSE',
  }),
  namespace: option(plainText('<name>'), 'namespace of the tables', {
    otherwise: '$FIRMLAKE_CATALOG_NAMESPACE, else firmlake',
  }),
  ...PUBLISHING,
} as const satisfies OptionTable

export const DELIVER = {
  lake: LAKE,
  sinks: needed(sinkAddresses, TARGETS.sinks.about, {
    doc: 'Sinks, or addresses of sinks such as `postgres://…`, `csv:out`, `firms.duckdb`.',
  }),
  take: option(anObject('Projection'), 'rows of the lake that they receive', {
    otherwise: 'everything',
    doc: 'Rows of the lake that they receive, and columns that are computed for them; columns that are left out are NULL.',
  }),
  hashKey: HASH_KEY,
  adopt: ADOPT,
  overwrite: option(OVERWRITE.type, OVERWRITE.about, {
    doc: 'Loads sinks anew that show runs which the lake has lost, such as after a backup took its place. @default false: they are refused',
  }),
  memoryBytes: MEMORY,
  signal: signalThat('Stops between two steps, and the commit of a sink.'),
  onProgress: option(callback('(progress: DeliverProgress) => void'), 'how far it is', { only: 'calls' }),
} as const satisfies OptionTable

export const UPDATE_TARGETS = {
  lake: LAKE,
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  threads: THREADS,
  ...TARGETS,
  signal: signalThat('Stops it: what is done stays, the same call resumes.'),
  onTarget: ON_TARGET,
} as const satisfies OptionTable
