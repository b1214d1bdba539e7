/**
 * The keys of `firmlake.toml`, written once: validation, the JSON Schema for editors, the reference and the defaults
 * of the commands follow from it.
 */

import { CHECK_LAKE } from '../options/check.ts'
import { LAKE } from '../options/common.ts'
import { COMPACT } from '../options/compact.ts'
import { CONVERT } from '../options/convert.ts'
import { EXPECTATIONS } from '../options/expectations.ts'
import { GC } from '../options/gc.ts'
import { MAX_GONE, PARTITIONS } from '../options/lake-jobs.ts'
import { TAKEN_BY_LOADS, taking } from '../options/projection.ts'
import { REPORT } from '../options/report.ts'
import { BATCH_FILTER, SEARCHED } from '../options/search.ts'
import { SERVE_COMMAND } from '../options/serve.ts'
import { CONCURRENCY, calling } from '../options/service.ts'
import { TARGETS } from '../options/targets.ts'
import {
  choiceOf,
  day,
  instantOfFiles,
  manyOf,
  nameOfPart,
  orText,
  path,
  plainText,
  search,
  trueOrFalse,
  variable,
  whole,
} from '../options/value-types.ts'
import { keysFrom, required, type Settings, setting, table, tables, withoutOptions } from './setting-types.ts'

const content = choiceOf('<content>', 'companies', 'relations')
const needed = setting(trueOrFalse, 'stop the nightly run if this step fails', { default: 'false' })

const searched = {
  search: required(search, 'search parameters of the service, as `--search` takes them'),
  ...withoutOptions(keysFrom('search', SEARCHED)),
  needed,
}

/** As `Date.getUTCDay` counts them. */
export const WEEKDAYS = [
  ...(['sunday', 'monday', 'tuesday', 'wednesday'] as const),
  ...(['thursday', 'friday', 'saturday'] as const),
] as const

const LOADS = ['convert', 'pull', 'sync', 'batches pull']

/** Sections and keys, in the order of the reference. */
export const DEFINITION = {
  ...keysFrom('', { lake: LAKE }),
  ducklake: setting(trueOrFalse, 'keep `lake.ducklake` in step with the lake', {
    default: 'true',
    variable: 'FIRMLAKE_DUCKLAKE',
  }),
  duckdb: setting(trueOrFalse, 'keep `lake.duckdb` of a lake in a folder in step with the lake', {
    default: 'true',
    variable: 'FIRMLAKE_DUCKDB',
  }),
  service: table('The service, for every command that calls it.', {
    ...keysFrom('service', calling(CONCURRENCY)),
    token_env: setting(variable, 'variable that holds the token', {
      default: 'FIRMLAKE_TOKEN',
      names: 'FIRMLAKE_TOKEN',
    }),
  }),
  machine: table('How much of this machine a command takes.', {
    ...keysFrom('machine', { ...COMPACT, threads: PARTITIONS }),
    httpfs: setting(path(), "file of DuckDB's httpfs", { variable: 'FIRMLAKE_HTTPFS' }),
  }),
  log: table('Lines on standard error.', {
    format: setting(choiceOf('<format>', 'text', 'json'), 'for people, or as JSON for programs', {
      default: 'text',
      option: '--log-format',
      variable: 'FIRMLAKE_LOG_FORMAT',
    }),
  }),
  load: table(
    'How strict loads are.',
    {
      ...keysFrom('load', { ...CONVERT, maxGone: MAX_GONE }),
    },
    ['convert', 'pull', 'sync', 'batches pull', 'resume', 'quarantine replay', 'nightly'],
  ),
  take: table(
    'What the lake takes of the records: all but this.',
    {
      ...keysFrom('take', TAKEN_BY_LOADS),
      hash_key_env: setting(variable, 'variable that holds the key of hashes', {
        default: 'FIRMLAKE_HASH_KEY',
        names: 'FIRMLAKE_HASH_KEY',
      }),
      hash_key_file: setting(path(), 'file that holds the key of hashes', {
        variable: 'FIRMLAKE_HASH_KEY_FILE',
      }),
    },
    [...LOADS, 'nightly'],
  ),
  sink_take: table(
    'What sinks receive of the rows of the lake: all but this.',
    withoutOptions(keysFrom('take', taking('deliver'))),
  ),
  targets: table('What is kept in step with the lake, after every command that commits.', {
    ...keysFrom('targets', TARGETS),
    needed,
  }),
  catalog: table('An Iceberg REST catalog.', {
    url: setting(plainText(), 'address', { variable: 'FIRMLAKE_CATALOG' }),
    warehouse: setting(plainText(), 'warehouse', { variable: 'FIRMLAKE_CATALOG_WAREHOUSE' }),
    namespace: setting(plainText(), 'namespace of the tables', {
      default: 'firmlake',
      variable: 'FIRMLAKE_CATALOG_NAMESPACE',
    }),
    token_env: setting(variable, 'variable that holds the bearer token', { names: 'FIRMLAKE_CATALOG_TOKEN' }),
    credential_env: setting(variable, 'variable that holds id:secret', {
      names: 'FIRMLAKE_CATALOG_CREDENTIAL',
    }),
  }),
  pull: tables('A pull of the night: what a search finds, page by page.', {
    name: required(nameOfPart, 'how results name it'),
    content: required(content, 'what to pull'),
    ...searched,
    whole: setting(
      choiceOf('<weekday>', ...WEEKDAYS),
      'the day of the week (UTC) on which a night pulls all of it, which finds companies that left',
    ),
    since: setting(
      orText('last', orText('all', day)),
      'first day, `last` (from where the last pull ended) or `all`',
      {
        default: 'last',
      },
    ),
  }),
  sync: tables('A sync of the night: companies of a search that are new or changed by their timestamps.', {
    name: required(nameOfPart, 'how results name it'),
    ...searched,
  }),
  batch_files: tables('Batch files of the service that the lake does not hold yet.', {
    name: required(nameOfPart, 'how results name it'),
    ...withoutOptions(keysFrom('batch_files', BATCH_FILTER)),
    needed,
  }),
  files: tables('Files of this machine that the lake does not hold yet.', {
    name: required(nameOfPart, 'how results name it'),
    from: required(manyOf(path()), 'files, folders, or patterns such as `batches/*.br`'),
    content: setting(content, 'what all of them hold', { default: 'detected for each' }),
    as_of: setting(
      instantOfFiles,
      "as of when they are: a date, `now`, or `name`, the date in each file's name",
      {
        default: 'the latest stamp in each',
      },
    ),
    needed,
  }),
  compact: table(
    'Compaction; with this section a night does it, once the lake has enough partitions.',
    {
      partitions: setting(whole(2), 'a night compacts from so many partitions on', { default: '100' }),
      auto: setting(trueOrFalse, 'a night merges as `compact --auto` does, and `partitions` does not count', {
        default: 'false',
      }),
      ...keysFrom('compact', COMPACT),
      needed,
    },
    ['compact', 'nightly'],
  ),
  gc: table(
    'What is deleted; with this section a night does it.',
    {
      ...keysFrom('gc', GC),
      needed,
    },
    ['gc', 'nightly'],
  ),
  check: table(
    'What is expected of the lake; with this section a night checks it.',
    {
      ...keysFrom('check', CHECK_LAKE),
      max_unlooked: setting(EXPECTATIONS.maxUnlookedMs.type, EXPECTATIONS.maxUnlookedMs.about, {
        ...{ default: '8d', withSection: '8d', option: '--max-unlooked' },
      }),
      before: setting(
        choiceOf('<when>', 'commit'),
        'commit: a night checks what it has loaded before it is shown, and holds it back where it makes a check fail',
      ),
      held: setting(
        choiceOf('<how>', 'wait', 'replace'),
        'while a load is held back: no other one begins (wait), or the next one discards it (replace)',
        { default: 'wait' },
      ),
      new_drift: setting(trueOrFalse, 'accept names that are unknown and that no earlier load had', {
        default: 'true',
        option: '--no-new-drift',
      }),
      needed,
    },
    ['check', 'report', 'mcp', 'nightly'],
  ),
  metrics: table(
    'What a night leaves for monitoring.',
    {
      file: setting(path(), "text file for Prometheus' node exporter, which ends in .prom", {
        variable: 'FIRMLAKE_METRICS_FILE',
      }),
    },
    ['nightly'],
  ),
  hooks: table(
    'Where a failed night is reported.',
    {
      on_failure: setting(manyOf(plainText()), 'a program and its arguments, run without a shell'),
      webhook_env: setting(variable, 'variable that holds the https address of a web hook', {
        names: 'FIRMLAKE_WEBHOOK',
      }),
    },
    ['nightly'],
  ),
  report: table(
    'The page about the lake; with this section a night writes it.',
    {
      to: required(path(), 'the HTML file, which ends in .html', { option: '--to' }),
      ...keysFrom('report', REPORT),
      needed,
    },
    ['report', 'nightly'],
  ),
  serve: table(
    'The server.',
    {
      ...keysFrom('serve', SERVE_COMMAND),
    },
    ['serve'],
  ),
} as const

/** The settings of a file, checked. */
export type FileSettings = Settings<typeof DEFINITION>
