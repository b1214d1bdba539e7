/**
 * The keys of `firmlake.toml`, written once: validation, the JSON Schema for editors, the reference and the defaults
 * of the commands follow from it.
 */

import { BUCKET_FORM } from '../core/lake-address.ts'
import { TABLE_FORMAT_NAMES } from '../core/table-formats.ts'
import {
  choiceOf,
  day,
  duration,
  lakeAddress,
  limit,
  manyOf,
  nameOfPart,
  orText,
  path,
  plainText,
  rate,
  required,
  type Settings,
  search,
  setting,
  share,
  size,
  table,
  tables,
  target,
  trueOrFalse,
  variable,
  whole,
} from './setting-types.ts'

const content = choiceOf('companies', 'relations')
const needed = setting(trueOrFalse, 'stop the nightly run if this step fails', { default: 'false' })

const searched = {
  search: required(search, 'search parameters of the service, as `--search` takes them'),
  currency: setting(plainText, 'currency of the figures of companies', { default: 'USD' }),
  by: setting(plainText, 'date parameter for windows; `since` and `until` refer to it'),
  close_gap: setting(trueOrFalse, 'find companies that no window covers', { default: 'true' }),
  needed,
}

/** The keys of `[take]` and `[sink_take]`. @param optionOf the option of the command line that stands for a field */
const taken = (optionOf: (name: string) => string | undefined) => ({
  only_countries: setting(
    manyOf(plainText),
    'countries whose companies and relations are taken (default: all)',
    { option: optionOf('only-countries') },
  ),
  where: setting(plainText, 'SQL condition on the columns of companies that are taken', {
    option: optionOf('where'),
  }),
  where_relations: setting(plainText, 'the same of relations', { option: optionOf('where-relations') }),
  leave_out: setting(manyOf(plainText), 'tables and columns, or `persons`, that are left out', {
    option: optionOf('leave-out'),
  }),
  mask: setting(manyOf(plainText), 'columns and the texts in their place, such as "companies.email=hidden"', {
    option: optionOf('mask'),
  }),
  hash: setting(manyOf(plainText), 'columns of texts that are hashed', { option: optionOf('hash') }),
  compute: setting(
    manyOf(plainText),
    'further columns and their SQL, such as "companies.has_email=email IS NOT NULL"',
    { option: optionOf('compute') },
  ),
})
const LOADS = [
  ...['convert', 'pull', 'sync', 'batches pull'],
  ...['run plan convert', 'run plan pull', 'run plan sync', 'run plan batches'],
]

/** Sections and keys, in the order of the reference. */
export const DEFINITION = {
  lake: setting(lakeAddress, `folder of the lake, or \`${BUCKET_FORM}\``, {
    option: '--lake',
    variable: 'FIRMLAKE_LAKE',
  }),
  ducklake: setting(trueOrFalse, 'keep `lake.ducklake` in step with the lake', {
    default: 'true',
    variable: 'FIRMLAKE_DUCKLAKE',
  }),
  duckdb: setting(trueOrFalse, 'keep `lake.duckdb` of a lake in a folder in step with the lake', {
    default: 'true',
    variable: 'FIRMLAKE_DUCKDB',
  }),
  service: table('The service, for every command that calls it.', {
    url: setting(plainText, 'address', { option: '--url', variable: 'FIRMLAKE_URL' }),
    token_env: setting(variable, 'variable that holds the token', {
      default: 'FIRMLAKE_TOKEN',
      names: 'FIRMLAKE_TOKEN',
    }),
    token_file: setting(path, 'file that holds the token', {
      option: '--token-file',
      variable: 'FIRMLAKE_TOKEN',
    }),
    max_requests_per_second: setting(rate, 'most requests in a second, all together', {
      default: 'learnt from the answers',
      option: '--max-requests-per-second',
    }),
    max_wait: setting(duration, 'longest wait for a busy service', { default: '15m', option: '--max-wait' }),
    trust_clock: setting(
      trueOrFalse,
      'take the dates of the service as they are, where the clock of this machine is wrong',
      { default: 'false', option: '--trust-clock' },
    ),
    concurrency: setting(whole(1), 'windows or downloads side by side', {
      default: '4',
      option: '--concurrency',
    }),
  }),
  machine: table('How much of this machine a command takes.', {
    memory: setting(size, 'most memory to use in all', { default: '1GiB', option: '--memory' }),
    threads: setting(whole(1), 'partitions loaded, or threads of queries, side by side', {
      option: '--threads',
    }),
    local_bytes: setting(size, 'most disk that files of a lake in a bucket take', {
      default: '20GB',
      option: '--local-bytes',
    }),
    httpfs: setting(path, "file of DuckDB's httpfs", { variable: 'FIRMLAKE_HTTPFS' }),
  }),
  log: table('Lines on standard error.', {
    format: setting(choiceOf('text', 'json'), 'for people, or as JSON for programs', {
      default: 'text',
      option: '--log-format',
      variable: 'FIRMLAKE_LOG_FORMAT',
    }),
  }),
  load: table(
    'How strict loads are.',
    {
      max_quarantined: setting(limit, 'most bad lines to commit with', {
        default: '1%',
        option: '--max-quarantined',
      }),
      max_gone: setting(limit, 'most companies of a search that a whole listing may mark as gone', {
        default: '2%',
        option: '--max-gone',
      }),
      skip_bad_files: setting(trueOrFalse, 'skip files that are damaged or unreadable', {
        default: 'false',
        option: '--skip-bad-files',
      }),
      max_unknown_per_record: setting(whole(1), 'most names of a record that the contract does not know', {
        default: '1000',
        option: '--max-unknown-per-record',
      }),
      max_unknown_names: setting(whole(1), 'most such names in the drift of a snapshot', {
        default: '10000',
        option: '--max-unknown-names',
      }),
    },
    ['convert', 'pull', 'sync', 'batches pull', 'resume', 'replay', 'nightly'],
  ),
  take: table(
    'What the lake takes of the records: all but this.',
    {
      ...taken((name) => `--${name}`),
      keep_bad_lines: setting(trueOrFalse, 'keep the text of bad lines also where something is left out', {
        default: 'false',
        option: '--keep-bad-lines',
      }),
      hash_key_env: setting(variable, 'variable that holds the key of hashes', {
        default: 'FIRMLAKE_HASH_KEY',
        names: 'FIRMLAKE_HASH_KEY',
      }),
      hash_key_file: setting(path, 'file that holds the key of hashes', {
        variable: 'FIRMLAKE_HASH_KEY_FILE',
      }),
    },
    [...LOADS, 'nightly'],
  ),
  sink_take: table(
    'What sinks receive of the rows of the lake: all but this.',
    taken(() => undefined),
  ),
  targets: table('What is kept in step with the lake, after every command that commits.', {
    publish: setting(manyOf(choiceOf(...TABLE_FORMAT_NAMES)), 'table formats to publish', {
      option: '--publish',
    }),
    sinks: setting(manyOf(target), 'folders and databases to deliver to', {
      option: '--sink',
    }),
    needed,
  }),
  catalog: table('An Iceberg REST catalog.', {
    url: setting(plainText, 'address', { variable: 'FIRMLAKE_CATALOG' }),
    warehouse: setting(plainText, 'warehouse', { variable: 'FIRMLAKE_CATALOG_WAREHOUSE' }),
    namespace: setting(plainText, 'namespace of the tables', {
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
    content: setting(content, 'files of this content only'),
    countries: setting(manyOf(plainText), 'files of these countries only'),
    needed,
  }),
  files: tables('Files of this machine that the lake does not hold yet.', {
    name: required(nameOfPart, 'how results name it'),
    from: required(manyOf(path), 'files, folders, or patterns such as `batches/*.br`'),
    content: setting(content, 'what all of them hold', { default: 'detected for each' }),
    as_of: setting(plainText, "as of when they are: a date, `now`, or `name`, the date in each file's name", {
      default: 'the latest stamp in each',
    }),
    needed,
  }),
  compact: table(
    'Compaction; with this section a night does it, once the lake has enough partitions.',
    {
      partitions: setting(whole(2), 'a night compacts from so many partitions on', { default: '100' }),
      target_bytes: setting(size, 'size of a file', { default: '256MiB', option: '--target-bytes' }),
      needed,
    },
    ['compact', 'nightly'],
  ),
  gc: table(
    'What is deleted; with this section a night does it.',
    {
      keep: setting(whole(1), 'newest snapshots to keep, at least', { option: '--keep' }),
      keep_days: setting(whole(1), 'days back from now as of which the lake can still be read', {
        option: '--keep-days',
      }),
      needed,
    },
    ['gc', 'nightly'],
  ),
  check: table(
    'What is expected of the lake; with this section a night checks it.',
    {
      max_age: setting(duration, 'longest time since the newest load began', { option: '--max-age' }),
      max_fall: setting(
        share,
        'how much fewer records than the whole pull or sync before the newest may find',
        {
          option: '--max-fall',
        },
      ),
      max_quarantined: setting(share, 'largest share of bad lines in the newest load', {
        option: '--max-quarantined',
      }),
      max_gap: setting(whole(0), 'most records that the newest pull of a search missed', {
        option: '--max-gap',
      }),
      new_drift: setting(trueOrFalse, 'accept names that are unknown and that no earlier load had', {
        default: 'true',
        option: '--no-new-drift',
      }),
      min_companies: setting(whole(1), 'least number of current companies', { option: '--min-companies' }),
      data: setting(trueOrFalse, 'check the rules on the data', { default: 'true', option: '--no-data' }),
      rules: setting(path, 'folder of rules of your own', { option: '--rules' }),
      needed,
    },
    ['check', 'report', 'mcp', 'nightly'],
  ),
  metrics: table(
    'What a night leaves for monitoring.',
    {
      file: setting(path, "text file for Prometheus' node exporter, which ends in .prom", {
        variable: 'FIRMLAKE_METRICS_FILE',
      }),
    },
    ['nightly'],
  ),
  hooks: table(
    'Where a failed night is reported.',
    {
      on_failure: setting(manyOf(plainText), 'a program and its arguments, run without a shell'),
      webhook_env: setting(variable, 'variable that holds the https address of a web hook', {
        names: 'FIRMLAKE_WEBHOOK',
      }),
    },
    ['nightly'],
  ),
  report: table(
    'The page about the lake; with this section a night writes it.',
    {
      to: required(path, 'the HTML file, which ends in .html', { option: '--to' }),
      line_items: setting(manyOf(plainText), 'line items with a heat map of their own', {
        default: 'NetSales, EBITDA',
        option: '--line-item',
      }),
      title: setting(plainText, 'the heading of the page', { default: 'Company data', option: '--title' }),
      logo_text: setting(plainText, 'the name at the top of the page', {
        default: 'firmlake',
        option: '--logo-text',
      }),
      language: setting(plainText, 'language of the numbers: en, sv, de-CH', {
        default: 'en',
        option: '--language',
      }),
      explorer: setting(plainText, 'address of an explorer that names of companies link to', {
        option: '--explorer',
      }),
      needed,
    },
    ['report', 'nightly'],
  ),
  serve: table(
    'The server.',
    {
      host: setting(plainText, 'address to listen at', { default: '127.0.0.1', option: '--host' }),
      port: setting(whole(0, 65_535), 'port; 0 takes any free one', { default: '8080', option: '--port' }),
      tokens: setting(path, 'JSON file of tokens', { option: '--tokens' }),
      follow: setting(trueOrFalse, 'move to each newer snapshot, without a restart', {
        default: 'false',
        option: '--follow',
      }),
      rate_limit: setting(rate, 'most requests a second of each token', { option: '--rate-limit' }),
      max_connections: setting(whole(1), 'most connections at once', {
        default: '500',
        option: '--max-connections',
      }),
      proxy: setting(
        manyOf(plainText),
        'addresses and networks of proxies whose X-Forwarded-For says who asks',
        {
          default: 'none',
          option: '--proxy',
        },
      ),
      log: setting(path, 'append the access log to this file', { option: '--log' }),
    },
    ['serve'],
  ),
} as const

/** The settings of a file, checked. */
export type FileSettings = Settings<typeof DEFINITION>
