/** Options of the jobs that read lakes: `records`, `diff`, `verify` and `copy`. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { CHECKED, JSON_FORMAT, JSON_OUTPUT, LAKE, MEMORY, SNAPSHOT, signalThat, THREADS } from './common.ts'
import { CONTENT_OF_FILES } from './convert.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { MOST_TABLE_ROWS, OPEN_QUERY, UNCHECKED } from './query.ts'
import { TARGETS } from './targets.ts'
import {
  anObject,
  callback,
  choiceOf,
  listOfIds,
  manyOf,
  orText,
  plainText,
  target,
  trueOrFalse,
  whole,
} from './value-types.ts'

const ON_FETCH = option(
  callback('(progress: FetchProgress) => void'),
  "how far the fetch of a lake's files from a bucket is",
  { only: 'calls' },
)

export const RECORDS = {
  lake: LAKE,
  content: option(CONTENT_OF_FILES.type, 'only these', {
    ...{ otherwise: 'companies, then relations' },
    doc: 'The content of the records. @default both, companies first',
  }),
  ids: option(listOfIds, 'only the records of these companies', {
    flag: '--id',
    doc: 'Only the records of these InternalIds. @default all',
  }),
  all: option(trueOrFalse, 'companies that the service does not list any more too', {
    doc: 'Also companies that the service does not list any more.',
  }),
  snapshot: SNAPSHOT,
  memoryBytes: MEMORY,
  threads: THREADS,
  checked: CHECKED,
  json: option(JSON_OUTPUT.type, 'errors as one line of JSON; records are JSON in any case', {
    only: 'commands',
  }),
  signal: signalThat('Stops it.'),
  onFetch: ON_FETCH,
  onRead: option(
    callback('(report: AccessReport) => void'),
    'called with the cost of reading the lake, when all records were read',
    { only: 'calls' },
  ),
} as const satisfies OptionTable

export const DIFF = {
  lake: LAKE,
  from: option(whole(), 'the older snapshot', {
    otherwise: 'the one before the last one that changed data',
    doc: 'Number of the older snapshot. @default the one before the last one up to `to` that changed data',
  }),
  to: option(whole(), 'the newer snapshot', {
    otherwise: 'the newest',
    doc: 'Number of the newer snapshot.',
  }),
  held: option(trueOrFalse, 'the newer snapshot is the one that is held back, the older one the newest', {
    conflicts: 'to',
    doc: 'The newer snapshot is the one that is held back; the older one is the newest, or `from`.',
  }),
  since: option(
    plainText('<time>'),
    'the older snapshot by time: a span (90m, 24h, 7d), a day (2026-11-21, UTC), or last-change',
    {
      conflicts: 'from',
      doc: 'Instead of `from`: the newest snapshot that was there so long ago (`90m`, `24h`, `7d`) or at a time (`2026-11-21`, UTC); `last-change` is the default of `from`.',
    },
  ),
  format: withDefault(choiceOf('<format>', 'table', 'json', 'csv'), 'how the result is printed', 'table', {
    only: 'commands',
  }),
  limit: option(whole(), 'most rows to print', {
    only: 'commands',
    otherwise: `${MOST_TABLE_ROWS} in a table, else all`,
  }),
  only: option(
    choiceOf('<rows>', 'companies', 'restatements'),
    'print only these rows; counts are of everything',
    { only: 'commands' },
  ),
  memoryBytes: MEMORY,
  threads: THREADS,
  unchecked: UNCHECKED,
  json: JSON_FORMAT,
  signal: signalThat('Stops it.'),
  onProgress: option(callback('(progress: DiffProgress) => void'), 'how far it is', { only: 'calls' }),
  onFetch: option(ON_FETCH.type, 'how far the fetch and check of files are', { only: 'calls' }),
  check: OPEN_QUERY.check,
} as const satisfies OptionTable

export const VERIFY = {
  lake: LAKE,
  snapshot: option(SNAPSHOT.type, 'check this snapshot only', {
    otherwise: 'all',
    doc: 'Checks this snapshot and its files only. @default every snapshot that gc has kept',
  }),
  targets: option(
    anObject("Pick<CompareRequest, 'sinks' | 'catalog'>"),
    'sinks, or their addresses, and a catalog that are compared with the lake too, beside the tables published in it',
    { only: 'calls', otherwise: 'none' },
  ),
  concurrency: option(whole(), 'files read at once', { only: 'calls', otherwise: '4' }),
  onProgress: option(callback('(progress: VerifyProgress) => void'), 'how far it is', { only: 'calls' }),
  signal: signalThat('Stops it.'),
} as const satisfies OptionTable

/** The option of commands that look at a sink. */
export const sinksThat = (about: string) =>
  option(manyOf(target), TARGETS.sinks.about.replace('deliver runs there too', about), {
    flag: TARGETS.sinks.flag,
  })

export const VERIFY_COMMAND = {
  lake: LAKE,
  snapshot: VERIFY.snapshot,
  targets: option(
    trueOrFalse,
    'compare targets too: those that are given or configured, and published tables',
  ),
  sinks: { ...sinksThat('with --targets: compare this target'), implies: { targets: true } },
  repair: option(
    trueOrFalse,
    'first write lake.duckdb and lake.ducklake again, as after the lake was moved',
    {
      conflicts: 'snapshot',
    },
  ),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

export const COPY = {
  lake: needed(LAKE.type, LAKE.about, { argument: '<lake>', doc: 'The lake that is copied.' }),
  to: needed(
    { ...LAKE.type, expectedOfCall: `a folder or ${BUCKET_FORM}` },
    `a new folder or ${BUCKET_FORM}, or an earlier copy`,
    { argument: '<to>' },
  ),
  snapshot: option(SNAPSHOT.type, 'the newest snapshot of the copy', { otherwise: 'that of the lake' }),
  snapshots: withDefault(
    {
      ...orText('all', whole()),
      ...{ argument: '<n|all>', ts: "number | 'all'", expectedOfCall: 'a whole number or "all"' },
    },
    'how many snapshots up to that one',
    '1',
    { doc: 'How many snapshots up to that one the copy has at least.' },
  ),
  sameLake: option(
    trueOrFalse,
    'the copy keeps the id of the lake, so that its targets take rows of either',
    {
      doc: 'Gives the copy the id of the lake, so that targets take rows of either. @default false: it gets one of its own',
    },
  ),
  json: JSON_OUTPUT,
  onProgress: option(callback('(progress: CopyProgress) => void'), 'how far it is', { only: 'calls' }),
  signal: signalThat('Stops it; what is copied stays for the next one.'),
} as const satisfies OptionTable
