/** Options of `resume` and `replay`. */

import { JSON_OUTPUT } from './common.ts'
import { LINES } from './convert.ts'
import { type OptionTable, option } from './entry.ts'
import { LOAD, MAX_GONE, MAX_QUARANTINED, SKIP_BAD_FILES, UNKNOWN, WORKING } from './lake-jobs.ts'
import { CONCURRENCY, calling } from './service.ts'
import { TARGETS } from './targets.ts'
import { callback, limit, manyOf, plainText } from './value-types.ts'

const { lake, mode: _mode, maxQuarantined: _limit, ...LOADED } = LOAD
const { maxUnknownPerRecord: _perRecord, maxUnknownNames: _names, ...RESUMED } = LOADED

/** The plan of a run says what it takes. */
const changeTaken = { ...LOAD.changeTaken, only: 'calls' } as const

export const RESUME = {
  run: option(plainText(), 'id of the run, see "firmlake status"', {
    argument: '[run]',
    doc: 'Id of the run. @default all that were interrupted, except those that would fail again',
  }),
  lake,
  ...WORKING,
  // The choice of runs depends on whether it is given.
  maxQuarantined: option(limit, MAX_QUARANTINED.about, {
    ...{ otherwise: MAX_QUARANTINED.default.text, doc: MAX_QUARANTINED.doc },
  }),
  skipBadFiles: SKIP_BAD_FILES,
  maxGone: MAX_GONE,
  ...calling(CONCURRENCY),
  json: JSON_OUTPUT,
  ...RESUMED,
  changeTaken,
  service: option(
    callback('(url: string) => Service | Promise<Service>'),
    "opens the service of a run that pulls from one, by the address in the run's plan; it is closed when the run ends",
    {
      only: 'calls',
      otherwise: 'with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL',
    },
  ),
} as const satisfies OptionTable

const { maxLineBytes, maxDepth } = LINES
const { memoryBytes, threads, changeCurrency } = LOAD

export const REPLAY = {
  lake,
  sources: option(manyOf(plainText('<pattern...>')), 'only lines of these sources; * stands for any text', {
    flag: '--source',
    doc: 'Only lines of sources with these names; `*` stands for any text. @default all',
  }),
  ...{ maxLineBytes, maxDepth, memoryBytes, threads, changeCurrency },
  ...UNKNOWN,
  ...TARGETS,
  json: JSON_OUTPUT,
  ...LOADED,
  changeTaken,
} as const satisfies OptionTable
