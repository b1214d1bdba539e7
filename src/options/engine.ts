/** Options of commands that hand their run over to an engine, and of its workers. */

import { type OptionTable, option, withDefault } from './entry.ts'
import { choiceOf, duration, plainText, serverAddress, size, trueOrFalse, whole } from './value-types.ts'

/** The longest wait for a service, or for workers, where nothing is said. */
export const DEFAULT_MAX_WAIT = '15m'

export const MOST_UNITS_AT_ONCE = 200

/** The address of Temporal; TLS and an API key are never options. */
export const TEMPORAL = {
  temporal: option(serverAddress, 'address of the Temporal server (or TEMPORAL_ADDRESS)', {
    only: 'commands',
  }),
  namespace: option(plainText('<name>'), 'its namespace (or TEMPORAL_NAMESPACE; default: "default")', {
    only: 'commands',
  }),
  taskQueue: option(plainText('<name>'), 'its task queue (default: "firmlake-" and the release)', {
    only: 'commands',
  }),
} as const satisfies OptionTable

export const ENGINE = {
  engine: option(
    choiceOf('<name>', 'temporal'),
    'let workers on many machines do it, see "firmlake worker"',
    { only: 'commands' },
  ),
  ...TEMPORAL,
  planOnly: option(
    trueOrFalse,
    'cut what there is to load into units for "firmlake run work", and load nothing',
    { only: 'commands' },
  ),
  unitsAtOnce: option(whole(1, MOST_UNITS_AT_ONCE), 'with --engine: most units at work over all machines', {
    only: 'commands',
    otherwise: String(MOST_UNITS_AT_ONCE),
  }),
} as const satisfies OptionTable

/** The engine of `convert`, which has no options of the service. */
export const FILE_ENGINE = {
  ...ENGINE,
  unitBytes: withDefault(
    size(),
    'with --engine or --plan-only: stored bytes of the files of a unit',
    '64MiB',
    {
      only: 'commands',
    },
  ),
  maxWaitMs: withDefault(
    duration(),
    'with --engine: longest wait for workers of this release and for its server',
    DEFAULT_MAX_WAIT,
    { flag: '--max-wait', only: 'commands' },
  ),
} as const satisfies OptionTable
