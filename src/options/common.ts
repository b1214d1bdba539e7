/** Options that several jobs share. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { DEFAULT_MEMORY_BYTES, DEFAULT_THREADS } from '../core/memory-shares.ts'
import { type Entry, needed, option, withDefault } from './entry.ts'
import { abortSignal, callback, lakeAddress, path, size, trueOrFalse, whole } from './value-types.ts'

export const LAKE = needed(lakeAddress, `folder of the lake, or ${BUCKET_FORM}`, {
  section: '',
  flag: '-l, --lake',
  variable: 'FIRMLAKE_LAKE',
  doc: `A folder, or \`${BUCKET_FORM}\`.`,
})

/** @param doc what it stops */
export const signalThat = (doc: string): Entry<AbortSignal, false> & { readonly only: 'calls' } =>
  option(abortSignal, 'stops it', { only: 'calls', doc })

export const NOW = option(callback<() => Date>('() => Date'), 'says what time it is', {
  only: 'calls',
  otherwise: 'the clock',
})

export const DRY_RUN = option(trueOrFalse, 'change nothing, report what would be done')

export const JSON_OUTPUT = option(
  trueOrFalse,
  'the result as one JSON document, errors as one line of JSON',
  { only: 'commands' },
)

/** JSON as one of the formats of a command. */
export const JSON_FORMAT = option(trueOrFalse, 'the same as --format json; errors as one line of JSON', {
  only: 'commands',
  implies: { format: 'json' },
})

export const YES = option(trueOrFalse, 'at a terminal: ask nothing, do it', { only: 'commands' })

/** The same on every machine. */
export const MEMORY = withDefault(
  size(),
  'most memory to use in all',
  { value: DEFAULT_MEMORY_BYTES, text: '1GiB, or 70% of a container with less' },
  {
    ...{ section: 'machine', flag: '--memory', key: 'memory' },
    doc: 'Peak memory in all, in bytes. @default 1 GiB, less in a small container',
  },
)

/** Threads of queries, compactions and exports. */
export const THREADS = withDefault(
  whole(),
  'threads of the queries',
  { value: DEFAULT_THREADS, text: '2' },
  { section: 'machine', doc: 'Threads of DuckDB. @default 2' },
)

export const LOCAL_BYTES = option(
  size(),
  "most that files of a lake in a bucket take on this machine's disk at once",
  {
    section: 'machine',
    otherwise: '$FIRMLAKE_CACHE_BYTES, else 20GB',
    doc: "The most that files of a lake in a bucket take on this machine's disk while they are compacted or published, in bytes. @default FIRMLAKE_CACHE_BYTES, else 20 GB",
  },
)

export const HELD_BACK = option(trueOrFalse, 'the snapshot that is held back', {
  ...{ otherwise: 'the newest', conflicts: 'snapshot' },
  doc: 'The snapshot that is held back, in place of the newest.',
})

export const SNAPSHOT = option(whole(), 'the lake as of this snapshot', {
  otherwise: 'the newest',
  doc: 'The lake as of this snapshot.',
})

export const FILES = option(path('<folder>'), 'SQL may read the files of this folder, too', {
  otherwise: 'those that the lake lists',
  doc: 'A folder whose files statements may read, too: Parquet, CSV, JSON. @default none but those of the lake',
})

export const CHECKED = option(
  trueOrFalse,
  'download and verify files before reading them (lakes in buckets)',
  { doc: 'Reads copies that are compared with their hashes in any case.' },
)
