/** Options of the targets that a job updates after it has committed. */

import { TABLE_FORMAT_NAMES } from '../core/table-formats.ts'
import { TARGET_FORMS } from '../sink/targets.ts'
import { type OptionTable, option } from './entry.ts'
import { anObject, callback, choiceOf, hashKey, manyOf, sinkAddresses, trueOrFalse } from './value-types.ts'

const SINK_FORMS = [...TARGET_FORMS.runFolders, ...TARGET_FORMS.databaseExamples].join(', ')

export const OVERWRITE = option(
  trueOrFalse,
  'replace what a target has: files that are there, and rows that the lake has lost',
  {
    doc: 'Loads targets anew that show what the lake has lost, such as after a backup took its place. @default false: they are refused',
  },
)

export const ADOPT = option(trueOrFalse, 'hand targets that hold the rows of another lake over to this one', {
  doc: 'Hands sinks of another lake over to this one. @default false: they are refused',
})

export const HASH_KEY = option(hashKey, 'key of hashed columns, of at least 16 bytes', {
  only: 'calls',
  doc: 'Key of hashed columns, of at least 16 bytes: it is not kept, a short hash of it is. @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE',
})

export const CATALOG = option(
  anObject('CatalogOptions'),
  'the catalog that keeps the metadata of Iceberg tables',
  {
    only: 'calls',
    otherwise: 'none: it stands in the lake',
  },
)

export const TARGETS = {
  sinks: option(sinkAddresses, `deliver runs there too: ${SINK_FORMS} (repeatable)`, {
    ...{ section: 'targets', flag: '--sink', fileAbout: 'folders and databases to deliver to' },
    doc: 'Sinks that get every run, or addresses of sinks such as `postgres://…`, `csv:out`, `firms.duckdb`. @default none',
  }),
  adopt: ADOPT,
  overwrite: OVERWRITE,
  publish: option(
    manyOf({ ...choiceOf('<format>', ...TABLE_FORMAT_NAMES), ts: 'TableFormatName' }),
    `publish the tables too: ${TABLE_FORMAT_NAMES.join(' or ')} (repeatable)`,
    {
      ...{ section: 'targets', fileAbout: 'table formats to publish' },
      doc: 'Formats in which the tables are published, in place, for other engines. @default none',
    },
  ),
  catalog: CATALOG,
  sinkTake: option(anObject('Projection'), 'rows of the lake that the sinks receive', {
    only: 'calls',
    otherwise: 'everything',
  }),
  hashKey: HASH_KEY,
} as const satisfies OptionTable

export const ON_TARGET = option(
  callback('(event: TargetEvent) => void'),
  'progress of published tables and sinks',
  { only: 'calls' },
)
