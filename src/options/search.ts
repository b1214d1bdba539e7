/** Options of the jobs and commands that search the service, and of those that take its batch files. */

import { LIMITS } from '../contract/limits.ts'
import { JSON_OUTPUT, LAKE } from './common.ts'
import { ENGINE } from './engine.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { AGAIN, DRY_LOAD, LOAD, MAX_GONE, SKIP_BAD_FILES, UNKNOWN, WORKING } from './lake-jobs.ts'
import { TAKEN_BY_LOADS } from './projection.ts'
import { atOnce, CONCURRENCY, calling } from './service.ts'
import {
  anObject,
  callback,
  choiceOf,
  countryCodes,
  manyOf,
  plainText,
  searchText,
  trueOrFalse,
  whole,
} from './value-types.ts'

const CONTENT_TYPE = { ...choiceOf('<content>', 'companies', 'relations'), ts: 'Content' } as const

export const CONTENT_OF_SEARCH = needed(CONTENT_TYPE, 'what to ask for', {
  argument: '<content>',
  doc: 'The objects to ask for.',
})

/** The search of a pull and a sync. */
export const SEARCHED = {
  search: needed(searchText, 'search parameters as JSON, or @file', {
    doc: "Search parameters of the interface with their values, such as `{ CountryCode: ['SE'] }`; an id beyond 2^53 is a bigint or a text.",
  }),
  currency: option(plainText('<code>'), 'currency of the figures of companies', {
    ...{ section: 'search', otherwise: 'USD' },
    doc: 'Currency of the figures, of companies only.',
  }),
  by: option(plainText('<parameter>'), 'date parameter for windows; --since and --until refer to it', {
    ...{ section: 'search', fileAbout: 'date parameter for windows; `since` and `until` refer to it' },
    doc: 'Date parameter to cut windows by, and that the days mean. @default the one that covers most',
  }),
  closeGap: withDefault(
    trueOrFalse,
    'find companies that no window covers',
    { value: true, text: 'true' },
    {
      ...{ section: 'search', no: 'skip companies not covered by any window: no lists, no further requests' },
      doc: 'Whether companies that no window covers are found along other parameters.',
    },
  ),
} as const satisfies OptionTable

/** How far back a search goes, and in which parts it comes. @param since what `last` goes back to */
export const spanned = (since: string) =>
  ({
    search: SEARCHED.search,
    currency: SEARCHED.currency,
    until: option(plainText('<day>'), 'last day (UTC)', { doc: 'Last day (UTC). @default none' }),
    by: SEARCHED.by,
    closeGap: SEARCHED.closeGap,
    pageSize: withDefault(whole(1, LIMITS.pageSize.max), 'records of a page', String(LIMITS.pageSize.max)),
    cap: withDefault(whole(1, LIMITS.cursorCap), 'most records of a window', String(LIMITS.cursorCap), {
      doc: 'Most records of a window. @default 100,000, what one cursor chain delivers',
    }),
    since: option(plainText('<day>'), `first day (UTC), or "last": from the day before ${since}`, {
      doc: "First day (UTC, `2026-01-31`), or `last`: where the lake's last pull of the same search stood. @default everything",
    }),
  }) as const satisfies OptionTable

/** The service of a job. */
const FROM = needed(
  anObject('Service', 'a service, as createService makes it'),
  'the service; the caller may close it afterwards',
  { only: 'calls' },
)

const REQUIRE_RECORDS = option(trueOrFalse, 'exit with 1 where the search finds no record at all', {
  only: 'commands',
})

const { lake, mode, changeTaken } = LOAD

/** How a command that calls the service loads. */
const LOADING = {
  ...WORKING,
  ...UNKNOWN,
  ...TAKEN_BY_LOADS,
  changeTaken,
} as const satisfies OptionTable

/** The last options of a job that searches. */
const LAST = { ...ENGINE, json: JSON_OUTPUT, ...LOAD } as const satisfies OptionTable

export const PULL = {
  ...{ content: CONTENT_OF_SEARCH, lake, mode },
  ...spanned('the last pull of the same search'),
  ...{ requireRecords: REQUIRE_RECORDS, maxGone: MAX_GONE },
  ...DRY_LOAD,
  ...calling(CONCURRENCY),
  ...LOADING,
  ...LAST,
  from: FROM,
  onPull: option(callback('(event: PullEvent) => void'), 'progress of the windows', { only: 'calls' }),
} as const satisfies OptionTable

export const SYNC = {
  ...{ lake, mode },
  ...SEARCHED,
  ...{ requireRecords: REQUIRE_RECORDS, maxGone: MAX_GONE },
  ...DRY_LOAD,
  ...calling(atOnce('windows listed or pulled side by side')),
  ...LOADING,
  ...LAST,
  from: FROM,
  onSync: option(
    callback("(event: SyncEvent | Extract<PullEvent, { kind: 'planned' }>) => void"),
    'progress of the list and the windows',
    { only: 'calls' },
  ),
} as const satisfies OptionTable

/** The command that shows how a search would be pulled. */
export const PLAN = {
  content: CONTENT_OF_SEARCH,
  lake: { ...LAKE, required: false, always: false },
  ...spanned('the last pull into --lake'),
  search: option(searchText, SEARCHED.search.about),
  parameters: option(trueOrFalse, 'print the search parameters that the service has now instead', {
    conflicts: 'search',
  }),
  parameter: option(plainText('<name>'), 'with --parameters: only this one, with all its values', {
    implies: { parameters: true },
  }),
  ...calling(atOnce('windows that would be pulled side by side')),
  json: JSON_OUTPUT,
} as const satisfies OptionTable

/** Filter of the service's batch files; a night chooses so, too. */
export const BATCH_FILTER = {
  content: option(CONTENT_TYPE, 'files of one content only', {
    ...{ section: 'batch_files', only: 'commands', fileAbout: 'files of this content only' },
  }),
  countries: option(countryCodes, 'files of these countries only, such as SE,NO', {
    ...{ section: 'batch_files', only: 'commands', flag: '--country' },
    fileAbout: 'files of these countries only',
  }),
} as const satisfies OptionTable

export const BATCH_FILE_IDS = option(
  manyOf(plainText('<id>')),
  'ids of the files, see "firmlake batches list"',
  {
    ...{ argument: '[id...]', only: 'commands' },
  },
)

export const DOWNLOADING = calling(atOnce('files downloaded side by side'))

export const PULL_BATCH_FILES = {
  ...{ ids: BATCH_FILE_IDS, lake, mode },
  new: option(trueOrFalse, 'all files that the lake does not hold', { only: 'commands' }),
  ...BATCH_FILTER,
  again: AGAIN,
  ...DRY_LOAD,
  ...DOWNLOADING,
  ...LOADING,
  skipBadFiles: SKIP_BAD_FILES,
  ...LAST,
  from: needed(anObject('BatchFiles', 'batchFiles(service)'), '`batchFiles(service, …)`', { only: 'calls' }),
  onBytes: option(
    callback('(bytes: number) => void'),
    'progress of the downloads: bytes received of all files together',
    { only: 'calls' },
  ),
} as const satisfies OptionTable
