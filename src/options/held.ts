/** Options of a load that is checked before it is shown, and of `release` and `discard`. */

import { RULES } from './check.ts'
import { JSON_OUTPUT, LAKE, YES } from './common.ts'
import { type OptionTable, option, withDefault } from './entry.ts'
import { EXPECTATIONS } from './expectations.ts'
import { COMMON, LOAD, MAX_GONE } from './lake-jobs.ts'
import { COMMIT_SERVICE } from './steps.ts'
import { TARGETS } from './targets.ts'
import { callback, choiceOf } from './value-types.ts'

const { maxAgeMs: _age, maxUnlookedMs: _unlooked, ...OF_LOADS } = EXPECTATIONS

/** The checks of a load before it is shown. */
export const LOAD_CHECK = {
  ...OF_LOADS,
  ...RULES,
  held: withDefault(
    choiceOf('<how>', 'wait', 'replace'),
    'while a load is held back: no other one begins (wait), or the next one discards it (replace)',
    'wait',
    { only: 'calls' },
  ),
} as const satisfies OptionTable

const { localBytes, onEvent, check } = LOAD

export const RELEASE = {
  maxGone: MAX_GONE,
  ...TARGETS,
  ...COMMIT_SERVICE,
  yes: YES,
  json: JSON_OUTPUT,
  ...COMMON,
  ...{ localBytes, onEvent, check },
  service: option(
    callback('(url: string) => Service | Promise<Service>'),
    "opens the service of a run that pulled from one, by the address in the run's plan, where it is to be asked for companies that a whole search lacks",
    {
      only: 'calls',
      otherwise: 'with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL',
    },
  ),
} as const satisfies OptionTable

export const DISCARD = { lake: LAKE, yes: YES, json: JSON_OUTPUT } as const satisfies OptionTable
