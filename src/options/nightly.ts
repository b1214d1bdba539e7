/** Options of `nightly`. */

import { needed, type OptionTable, option } from './entry.ts'
import { ADOPT, OVERWRITE } from './targets.ts'
import { abortSignal, anObject, callback, trueOrFalse } from './value-types.ts'

export const NIGHTLY = {
  text: option(trueOrFalse, 'a table of the parts, also where standard output is no terminal', {
    only: 'commands',
  }),
  dryRun: option(
    trueOrFalse,
    'load nothing: say what would be new, changed, gone; it costs what the loads cost',
    {
      doc: 'Changes nothing, and reports how the lake would change; nothing is published, delivered, compacted or deleted.',
    },
  ),
  offline: option(trueOrFalse, 'with --dry-run: ask nothing, say what would be asked and done', {
    doc: 'With `dryRun`: asks no service, reads no file, and reports what the night would ask and do.',
  }),
  adopt: ADOPT,
  overwrite: OVERWRITE,
  json: option(trueOrFalse, 'one line of JSON, also on a terminal', {
    ...{ only: 'commands', conflicts: 'text' },
  }),
  signal: needed(abortSignal, 'aborted by SIGINT and SIGTERM', { only: 'calls' }),
  report: needed(
    callback('(finished: object) => void'),
    'adds to the summary what is finished, so that it is printed also when the rest fails',
    { only: 'calls' },
  ),
  env: needed(
    anObject('Environment', 'variables by name, such as process.env'),
    'variables by name, such as `process.env`: they take precedence over `settings` (docs/nightly.md)',
    { only: 'calls' },
  ),
  settings: option(
    anObject('FileSettings'),
    'the settings of firmlake.toml, read; with a FIRMLAKE_LAKE that is not its lake without targets, checks and report',
    { only: 'calls', otherwise: 'none: companies and relations are pulled' },
  ),
  onPart: option(
    callback('(event: NightEvent) => void'),
    'receives each part that begins, and each that has ended; all loads begin together',
    { only: 'calls', otherwise: 'nobody' },
  ),
  onWarning: option(
    callback('(text: string) => void'),
    'called with what is odd about answers of the service, as that of `createService`',
    { only: 'calls', otherwise: 'nobody' },
  ),
} as const satisfies OptionTable
