/** Options of `compact`. */

import { DRY_RUN, JSON_OUTPUT, LAKE, LOCAL_BYTES, MEMORY, THREADS } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { AROUND } from './lake-jobs.ts'
import { TARGETS } from './targets.ts'
import { callback, size } from './value-types.ts'

/** Below it most of a file would be metadata of its columns. */
const LEAST_BYTES = 1024 ** 2

export const COMPACT = {
  lake: LAKE,
  targetBytes: withDefault(size(LEAST_BYTES, '1MiB'), 'size of a file', '256MiB', {
    section: 'compact',
    doc: 'Size of a file, in bytes. @default 256 MiB',
  }),
  memoryBytes: MEMORY,
  localBytes: LOCAL_BYTES,
  threads: THREADS,
  dryRun: option(DRY_RUN.type, DRY_RUN.about, {
    doc: 'Changes nothing, targets neither, and reports what would be done.',
  }),
  ...TARGETS,
  ...AROUND,
  json: JSON_OUTPUT,
  onEvent: option(callback('(event: CompactEvent) => void'), 'how far it is', { only: 'calls' }),
} as const satisfies OptionTable
