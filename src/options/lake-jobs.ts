/** Options of the jobs that change a lake, and of those that load. */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { UNKNOWN_LIMITS } from '../core/unknown-names.ts'
import { LAKE, LOCAL_BYTES, MEMORY, signalThat } from './common.ts'
import { needed, type OptionTable, option, withDefault } from './entry.ts'
import { ON_TARGET, TARGETS } from './targets.ts'
import { anObject, callback, limit, modeBits, threadCount, trueOrFalse, whole } from './value-types.ts'

/** Partitions loaded side by side; without it a run takes what the machine has. */
export const PARTITIONS = option(threadCount, 'threads: partitions loaded side by side', {
  ...{ section: 'machine', fileAbout: 'partitions loaded, or threads of queries, side by side' },
  otherwise: 'one a core, as many as --memory is enough for',
  doc: 'Partitions loaded side by side, each on one thread; threads of other work. @default one a core, as many as there is memory for',
})

/** Callbacks of a job and its targets, and the signal that stops it. */
export const AROUND = {
  signal: signalThat('Stops the work cleanly: what is finished is kept, the same call resumes.'),
  onCommitted: option(
    callback('(done: Done) => void | Promise<void>'),
    'called with the result once the lake is committed, before targets are updated (which may fail)',
    { only: 'calls' },
  ),
  onTarget: ON_TARGET,
} as const satisfies OptionTable

/** Options of every job that changes a lake. */
export const COMMON = {
  lake: needed(LAKE.type, LAKE.about, {
    ...{ flag: LAKE.flag, variable: LAKE.variable },
    doc: `A folder, made where it is missing, or \`${BUCKET_FORM}\`.`,
  }),
  memoryBytes: MEMORY,
  threads: PARTITIONS,
  localBytes: LOCAL_BYTES,
  ...AROUND,
} as const satisfies OptionTable

export const MAX_QUARANTINED = withDefault(
  limit,
  'most bad lines to commit with: a count, or a share such as 5%',
  // 1 %: more than stray bad lines means that the source or the contract has changed.
  '1%',
  {
    section: 'load',
    doc: "Most bad lines to commit with: a count, or a share of all lines such as `0.05` or `'5%'`. @default '1%'",
  },
)

export const MAX_GONE = withDefault(
  limit,
  'mark none as gone if more than this many companies would be: a count, or a share such as 5%',
  // 2 %: more is rather a listing that is not what it seems.
  '2%',
  {
    section: 'load',
    doc: "Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so. @default '2%'",
  },
)

/** Limits for names that the contract does not know. */
export const UNKNOWN = {
  maxUnknownPerRecord: withDefault(
    whole(),
    'most names of a record that the contract does not know',
    String(UNKNOWN_LIMITS.perRecord),
    { section: 'load', doc: 'Most names of a record that the contract does not know. @default 1000' },
  ),
  maxUnknownNames: withDefault(
    whole(),
    'most such names in the drift of a snapshot',
    String(UNKNOWN_LIMITS.names),
    { section: 'load', doc: 'Most of them in the drift of a snapshot. @default 10,000' },
  ),
} as const satisfies OptionTable

export const CHANGE_CURRENCY = option(trueOrFalse, 'let figures be replaced by figures in another currency')

export const AGAIN = option(trueOrFalse, 'load files that the lake already holds again', {
  doc: 'Loads sources that the lake holds already once more.',
})

export const SKIP_BAD_FILES = option(
  trueOrFalse,
  'skip files that are damaged or unreadable, load the others, exit with 6',
  {
    ...{ section: 'load', otherwise: 'one bad file stops all' },
    doc: 'Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all',
  },
)

/** The check of a load before it is shown: `check` of a call, of a command the section of the file. */
export const CHECKED_BEFORE = {
  check: option(anObject('LoadCheck'), 'checks the load before it is shown', {
    only: 'calls',
    doc: 'Checks the load before it is shown: where it makes something worse it is held back (`LOAD_HELD`), until `release` shows it or `discard` gives it up. @default it is shown',
  }),
  checked: option(trueOrFalse, 'hold the load back where it makes a check of the section [check] fail', {
    ...{ only: 'commands', flag: '--check' },
  }),
} as const satisfies OptionTable

/** A load without keeping it. */
export const DRY_LOAD = {
  dryRun: option(
    trueOrFalse,
    'change nothing, say what would be new, changed, gone; it costs what the load costs',
    {
      conflicts: 'planOnly',
      doc: 'Changes nothing, and reports how the lake would change: it costs what the load costs, and room among the temporary files.',
    },
  ),
  expectNothing: option(
    trueOrFalse,
    'a dry run that ends with 5 where the lake would change, or has more than what came',
    {
      conflicts: 'planOnly',
      doc: 'A dry run that compares the lake with the whole of its sources, those that it holds too: `dryRun.differs` of the report.',
    },
  ),
} as const satisfies OptionTable

/** How strict a run is, with how much of the machine, and for which targets: what may be said anew when it is resumed. */
export const WORKING = {
  maxQuarantined: MAX_QUARANTINED,
  memoryBytes: MEMORY,
  threads: PARTITIONS,
  changeCurrency: CHANGE_CURRENCY,
  ...CHECKED_BEFORE,
  ...TARGETS,
} as const satisfies OptionTable

/** Options of every job that loads; how much of the records it takes stands in `projection.ts`. */
export const LOAD = {
  ...COMMON,
  localBytes: option(LOCAL_BYTES.type, LOCAL_BYTES.about, { only: 'calls', doc: LOCAL_BYTES.doc }),
  maxQuarantined: MAX_QUARANTINED,
  changeCurrency: CHANGE_CURRENCY,
  ...CHECKED_BEFORE,
  ...TARGETS,
  ...UNKNOWN,
  take: option(anObject('Projection'), 'the part of the records that is taken', {
    only: 'calls',
    doc: 'The part of the records that is taken; the rest is nowhere below the lake. A lake keeps it: another declaration is refused. @default what the newest load of the lake took; everything, where it is new',
  }),
  changeTaken: option(
    trueOrFalse,
    "replace the lake's [take] declaration; without it another declaration is refused",
    {
      doc: 'Takes what is declared, without a declaration everything, whatever earlier loads of the lake took.',
    },
  ),
  mode: option(modeBits, 'who may use a new lake, as for chmod', {
    otherwise: '0700, you alone',
    doc: "Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700",
  }),
  onEvent: option(callback('(event: RunEvent) => void'), 'progress of the run', { only: 'calls' }),
} as const satisfies OptionTable
