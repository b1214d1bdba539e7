/** Options of `compact`. */

import { DRY_RUN, JSON_OUTPUT, LAKE, LOCAL_BYTES, MEMORY, THREADS } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { AROUND } from './lake-jobs.ts'
import { TARGETS } from './targets.ts'
import { age, callback, size, trueOrFalse } from './value-types.ts'

/** Below it most of a file would be metadata of its columns. */
const MIN_BYTES = 1024 ** 2

export const COMPACT = {
  lake: LAKE,
  auto: option(
    trueOrFalse,
    'merge only where a table has more than 12 partitions, and of them the newest ones, by their sizes',
    {
      doc: 'Merges only where a table has more than 12 partitions, and of them the newest ones, by their sizes: what a merge costs grows with what was loaded.',
      otherwise: 'all partitions become one',
    },
  ),
  targetBytes: withDefault(size(MIN_BYTES, '1MiB'), 'size of a file', '256MiB', {
    section: 'compact',
    doc: 'Size of a file, in bytes. @default 256 MiB',
  }),
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  threads: THREADS,
  keepHistoryMs: option(age, 'past rows go whose end became known longer ago than this, such as 2y', {
    ...{ section: 'compact', flag: '--keep-history', key: 'keep_history' },
    doc: 'Past rows go whose end became known longer ago than this, in milliseconds. Current rows keep their first version.',
    otherwise: 'all are kept',
  }),
  dropHistory: option(trueOrFalse, 'keep no past rows: the history begins anew', {
    doc: 'Keeps no past rows: the history begins anew. Current rows keep their first version.',
  }),
  now: option(callback<() => Date>('() => Date'), 'says how old past rows are', {
    only: 'calls',
    otherwise: 'the clock',
  }),
  dryRun: option(DRY_RUN.type, DRY_RUN.about, {
    doc: 'Changes nothing, targets neither, and reports what would be done.',
  }),
  ...TARGETS,
  ...AROUND,
  json: JSON_OUTPUT,
  onEvent: option(callback('(event: CompactEvent) => void'), 'how far it is', { only: 'calls' }),
} as const satisfies OptionTable
