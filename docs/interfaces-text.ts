/**
 * `src/options/interfaces.ts`: the options of the library's jobs as interfaces, from their tables, and the rows of a lake's tables
 * and views, from what DuckDB says of them. Written out, an editor shows each option with its default.
 */

import { definitionsFor } from '../src/analysis/definitions.ts'
import { openLakeQuery } from '../src/lake/query/lake-query.ts'
import { LISTINGS, QUARANTINE, TABLES } from '../src/lake/tables/tables.ts'
import { CHECK_LAKE } from '../src/options/check.ts'
import { CHECKED } from '../src/options/common.ts'
import { COMPACT } from '../src/options/compact.ts'
import { CONVERT, CONVERT_TO, CONVERTED, EXPORTED_WITH } from '../src/options/convert.ts'
import { DOCTOR } from '../src/options/doctor.ts'
import type { Entry, OptionTable } from '../src/options/entry.ts'
import { EXPECTATIONS } from '../src/options/expectations.ts'
import { EXPORT } from '../src/options/export.ts'
import { FORGET } from '../src/options/forget.ts'
import { GC } from '../src/options/gc.ts'
import { DISCARD, LOAD_CHECK, RELEASE } from '../src/options/held.ts'
import { COMMON, LOAD } from '../src/options/lake-jobs.ts'
import { NIGHTLY } from '../src/options/nightly.ts'
import { DELIVER, PUBLISH, UPDATE_TARGETS } from '../src/options/publish.ts'
import { OPEN_QUERY, QUERY } from '../src/options/query.ts'
import { COPY, DIFF, RECORDS, VERIFY } from '../src/options/read-jobs.ts'
import { REPORT } from '../src/options/report.ts'
import { REPLAY, RESUME } from '../src/options/resume.ts'
import { PULL, PULL_BATCH_FILES, SYNC } from '../src/options/search.ts'
import { SERVE } from '../src/options/serve.ts'
import { SERVICE } from '../src/options/service.ts'
import { COMMIT_RUN, RUN_PLAN, RUN_STEP, WORK_RUN } from '../src/options/steps.ts'
import { TARGETS } from '../src/options/targets.ts'
import { trueOrFalse } from '../src/options/value-types.ts'

interface Declared {
  /** Name, parameters, and what it extends, as TypeScript writes it. */
  readonly head: string
  readonly about: string
  readonly table: OptionTable
  /** What it extends has these. */
  readonly beyond?: readonly OptionTable[]
}

const DECLARED: readonly Declared[] = [
  {
    head: 'TargetOptions',
    about: 'Targets that are kept up to date with a lake.',
    table: TARGETS,
  },
  {
    head: 'CommonOptions<Done> extends TargetOptions',
    about: 'The options of every job that changes a lake.',
    table: COMMON,
  },
  {
    head: 'LoadOptions<Done> extends CommonOptions<Done>',
    about: 'The options of every job that loads.',
    table: LOAD,
    beyond: [COMMON, TARGETS],
  },
  {
    head: 'InPlaceOptions',
    about:
      "Options of jobs that need parts of a lake in a bucket: where DuckDB's httpfs can be loaded they read those parts where they stand, with lengths and ETags compared and no hashes; else copies of whole files.",
    table: { checked: CHECKED },
  },
  {
    head: 'Expectations',
    about: 'The expectations; one that is absent is not checked.',
    table: EXPECTATIONS,
  },
  { head: 'GcOptions', about: 'Options of `gc`.', table: GC },
  {
    head: 'CompactOptions extends CommonOptions<CompactSummary>',
    about: 'Options of `compact`.',
    table: COMPACT,
    beyond: [COMMON, TARGETS],
  },
  {
    head: 'ConvertOptions extends LoadOptions<RunReport>',
    about: 'Options of `convert`.',
    table: CONVERT,
    beyond: [LOAD],
  },
  {
    head: 'ConvertToOptions extends LoadPart, ExportPart',
    about: 'Options of `convertTo`.',
    table: CONVERT_TO,
    beyond: [CONVERTED, EXPORTED_WITH],
  },
  { head: 'ServiceOptions', about: 'How a service is called.', table: SERVICE },
  {
    head: 'PullOptions extends LoadOptions<PullReport>',
    about: 'Options of `pull`.',
    table: PULL,
    beyond: [LOAD],
  },
  {
    head: 'SyncOptions extends LoadOptions<SyncReport>',
    about: 'Options of `sync`.',
    table: SYNC,
    beyond: [LOAD],
  },
  {
    head: 'PullBatchFilesOptions extends LoadOptions<BatchFilesReport>',
    about: 'Options of `pullBatchFiles`.',
    table: PULL_BATCH_FILES,
    beyond: [LOAD],
  },
  {
    head: "ResumeOptions extends Omit<LoadOptions<ResumeReport>, 'mode' | 'maxUnknownPerRecord' | 'maxUnknownNames'>",
    about: 'Options of `resume`.',
    table: RESUME,
    beyond: [LOAD],
  },
  {
    head: "ReplayOptions extends Omit<LoadOptions<ReplayReport>, 'maxQuarantined' | 'mode'>",
    about: 'Options of `replay`.',
    table: REPLAY,
    beyond: [LOAD],
  },
  {
    head: 'LoadCheck',
    about:
      'The checks of a load before it is shown. Those that say nothing of the load, such as the age of the newest one, hold none back.',
    table: LOAD_CHECK,
  },
  {
    head: 'ReleaseOptions extends CommonOptions<ReleasedLoad>',
    about: 'Options of `release`.',
    table: RELEASE,
    beyond: [COMMON, TARGETS],
  },
  { head: 'DiscardOptions', about: 'Options of `discard`.', table: DISCARD },
  { head: 'NightlyOptions', about: 'Options of `nightly`.', table: NIGHTLY },
  { head: 'RunStep', about: 'A step of a run, and where the run is.', table: RUN_STEP },
  {
    head: 'RunPlanOptions',
    about: 'Options of `planRun`, whatever is loaded.',
    table: RUN_PLAN,
  },
  {
    head: 'UnitWorkOptions extends RunStep',
    about: 'Options of `workRun` beside the choice of units.',
    table: WORK_RUN,
    beyond: [RUN_STEP, { units: WORK_RUN.units, shard: WORK_RUN.shard }],
  },
  {
    head: 'CommitRunOptions extends RunStep, CommitPart',
    about: 'Options of `commitRun`.',
    table: { maxGone: COMMIT_RUN.maxGone, service: COMMIT_RUN.service },
  },
  {
    head: 'ExportOptions',
    about: 'Options of `exportTables`.',
    table: EXPORT,
  },
  {
    head: 'PublishOptions',
    about: 'Options of `publish`.',
    table: PUBLISH,
  },
  {
    head: 'DeliverOptions',
    about: 'Options of `deliver`.',
    table: DELIVER,
  },
  {
    head: 'UpdateTargetsOptions extends TargetOptions',
    about: 'Options of `updateTargets`.',
    table: UPDATE_TARGETS,
    beyond: [TARGETS],
  },
  {
    head: 'OpenQueryOptions extends InPlaceOptions',
    about: 'Options of `openQuery`.',
    table: OPEN_QUERY,
    beyond: [{ checked: CHECKED }],
  },
  {
    head: 'QueryOptions extends OpenQueryOptions',
    about: 'Options of `query`.',
    table: QUERY,
    beyond: [OPEN_QUERY],
  },
  {
    head: 'LakeCheckOptions extends Expectations',
    about: 'Options of `check`.',
    table: CHECK_LAKE,
    beyond: [EXPECTATIONS],
  },
  {
    head: 'ReportOptions extends Expectations',
    about: 'Options of `report`.',
    table: REPORT,
    beyond: [EXPECTATIONS],
  },
  {
    head: 'ServeOptions',
    about: 'Options of `serve`.',
    table: SERVE,
  },
  {
    head: 'RecordsOptions extends InPlaceOptions',
    about: 'Options of `records`.',
    table: RECORDS,
    beyond: [{ checked: CHECKED }],
  },
  {
    head: 'DiffOptions',
    about: 'Options of `diff` and `openDiff`.',
    table: DIFF,
  },
  {
    head: 'VerifyOptions',
    about: 'Options of `verify`.',
    table: VERIFY,
  },
  {
    head: 'CopyOptions',
    about: 'Options of `copy`.',
    table: COPY,
  },
  {
    head: 'ForgetOptions',
    about: 'Options of `forget`.',
    table: FORGET,
  },
  {
    head: 'DoctorOptions',
    about: 'Options of `doctor`.',
    table: DOCTOR,
  },
]

/** The types that the options name, by where they stand. */
const TYPES: Readonly<Record<string, readonly string[]>> = {
  '../core/sink.ts': ['DeliverySink'],
  '../source/inputs.ts': ['BatchFiles', 'Input'],
  '../contract/requests.ts': ['SearchInput'],
  '../jobs/pull-batch-files.ts': ['BatchFilesReport'],
  '../core/table-formats.ts': ['PublishedRows', 'TableFormatName'],
  '../core/optional-parts.ts': ['OptionalPartName'],
  '../jobs/copy-files.ts': ['CopyProgress'],
  '../doctor/check-service.ts': ['ServiceUse'],
  '../jobs/report.ts': ['ReportProgress'],
  '../lake/diff/compare-snapshots.ts': ['DiffProgress'],
  '../lake/files/file-access.ts': ['AccessReport'],
  '../manifest/verify/verify-lake.ts': ['VerifyProgress'],
  '../server/serving-index/build/build-request.ts': ['IndexProgress'],
  '../targets/compare-targets.ts': ['CompareRequest'],
  '../run/run-report.ts': ['RunReport'],
  '../compact/compact-work.ts': ['CompactEvent', 'CompactSummary'],
  '../config/definition.ts': ['FileSettings'],
  '../nightly/night-settings.ts': ['Environment'],
  '../jobs/release.ts': ['ReleasedLoad'],
  '../nightly/nightly.ts': ['NightEvent'],
  '../jobs/pull.ts': ['PullReport'],
  '../pull/windows/pull-settings.ts': ['PullEvent'],
  '../jobs/replay.ts': ['ReplayReport'],
  '../jobs/resume.ts': ['ResumeReport'],
  '../jobs/run-steps.ts': ['CommitRunReport'],
  '../shared-run/work-shared-run.ts': ['UnitOutcome'],
  '../pull/sync/find-changes.ts': ['SyncEvent'],
  '../jobs/sync.ts': ['SyncReport'],
  '../lake/projection/projection.ts': ['Projection'],
  '../lake/views/lake-views.ts': ['AroundFetch'],
  '../load/record-filter.ts': ['KeepsRecord'],
  '../publish/iceberg/catalog-client.ts': ['CatalogOptions'],
  '../run/work/progress.ts': ['RunEvent'],
  '../sink/file-format.ts': ['CsvDelimiter'],
  '../contract/objects.ts': ['Content'],
  '../source/service/service.ts': ['Service'],
  '../source/service/timing.ts': ['Timing'],
  '../targets/export/export-tables.ts': ['ExportProgress', 'ExportTarget'],
  '../storage/storage.ts': ['FetchProgress'],
  '../targets/deliver.ts': ['DeliverProgress'],
  '../targets/publish.ts': ['PublishProgress'],
  '../targets/update-targets.ts': ['TargetEvent'],
  './value-types.ts': ['QuarantineLimit'],
}

const MOST_COLUMNS = 110

const sentence = (text: string): string =>
  `${text.charAt(0).toUpperCase()}${text.slice(1)}${/[.!?]$/.test(text) ? '' : '.'}`

const namesIn = (table: OptionTable): string =>
  Object.keys(table)
    .map((name) => `'${name}'`)
    .join(' | ')

/** The comment of a declaration, in lines of the width of the code. */
const commentOf = (text: string, indent: string): string[] => {
  const one = `${indent}/** ${text} */`
  if (one.length <= MOST_COLUMNS) return [one]
  const lines: string[] = []
  for (const word of text.split(' ')) {
    const last = lines.at(-1)
    if (last === undefined || word === '@default' || last.length + 1 + word.length > MOST_COLUMNS)
      lines.push(`${indent} * ${word}`)
    else lines[lines.length - 1] = `${last} ${word}`
  }
  return [`${indent}/**`, ...lines, `${indent} */`]
}

const docOf = ({ about, doc, type, default: value, otherwise, required }: Entry): string => {
  const text = sentence(doc ?? about)
  if (text.includes('@default') || required) return (doc ?? text).includes('@default') ? (doc ?? text) : text
  const unset = value?.text ?? otherwise ?? (type === trueOrFalse ? 'false' : undefined)
  return unset === undefined ? text : `${text} @default ${unset}`
}

const memberLines = ([name, entry]: readonly [string, Entry]): string[] => {
  const { type, required } = entry
  const ts = type.ts.includes('=>') && !required ? `(${type.ts})` : type.ts
  return [
    ...commentOf(docOf(entry), '  '),
    required ? `  readonly ${name}: ${ts}` : `  readonly ${name}?: ${ts} | undefined`,
  ]
}

/** Parts of interfaces that others extend by. */
const PARTS = [
  `type CommitPart = Omit<CommonOptions<CommitRunReport>, 'lake'> &
  Pick<LoadOptions<CommitRunReport>, 'maxQuarantined' | 'changeCurrency' | 'check' | 'onEvent'>`,
  `type LoadPart = Pick<ConvertOptions, ${namesIn(CONVERTED)}>`,
  `type ExportPart = Pick<ExportOptions, ${namesIn(EXPORTED_WITH)}>`,
]

const interfaceText = ({ head, about, table, beyond = [] }: Declared): string => {
  const inherited = new Set(beyond.flatMap((one) => Object.keys(one)))
  const own = Object.entries(table).filter(([name, { only }]) => only !== 'commands' && !inherited.has(name))
  return [...commentOf(about, ''), `export interface ${head} {`, ...own.flatMap(memberLines), '}'].join('\n')
}

const SIMPLE: Readonly<Record<string, string>> = {
  BIGINT: 'number | bigint',
  INTEGER: 'number',
  SMALLINT: 'number',
  DOUBLE: 'number',
  BOOLEAN: 'boolean',
  VARCHAR: 'string',
  DATE: 'string',
  'TIMESTAMP WITH TIME ZONE': 'string',
}

/** The members of `STRUCT(a VARCHAR, "b" VARCHAR[])`. */
const membersOf = (list: string): string =>
  list
    .split(/,\s*/)
    .map((member) => {
      const [, name = '', type = ''] = /^"?(\w+)"? (.+)$/.exec(member) ?? []
      return `readonly ${name}: ${typeOf(type)} | null`
    })
    .join('; ')

/** What `query` makes of a value of a type of DuckDB. @throws {Error} of one that no table has */
const typeOf = (type: string): string => {
  if (type.endsWith('[]')) {
    const item = typeOf(type.slice(0, -2))
    return `readonly ${/ \| /.test(item) ? `(${item})` : item}[]`
  }
  const struct = /^STRUCT\((.*)\)$/s.exec(type)?.[1]
  if (struct !== undefined) return `{ ${membersOf(struct)} }`
  const simple = SIMPLE[type]
  if (simple === undefined)
    throw new Error(`Cannot say what "${type}" is in TypeScript, expected a type of SIMPLE`)
  return simple
}

/** The views of a lake, in the order of their names: those of tables, of their histories, of the analysis layer. */
const VIEWS: readonly string[] = [
  ...[...TABLES, QUARANTINE, LISTINGS].map(({ name }) => name),
  ...TABLES.map(({ name }) => `${name}_history`),
  ...definitionsFor()
    .filter(({ kind }) => kind === 'view')
    .map(({ name }) => name),
].sort()

/** The columns that are never NULL, by table. */
const KEYS = new Map([...TABLES, QUARANTINE, LISTINGS].map(({ name, key }) => [name, new Set(key)]))

const rowsText = async (): Promise<string> => {
  const query = await openLakeQuery({
    lake: '.',
    snapshot: { files: [], partitions: [], versions: [] },
    memoryBytes: 400e6,
    facts: async function* () {},
  })
  try {
    const views: string[] = []
    for (const view of VIEWS) {
      views.push(`  readonly ${view}: {`)
      for await (const chunk of (await query.run(`DESCRIBE ${view}`)).rows)
        for (const [name, type] of chunk) {
          const isKey = KEYS.get(view)?.has(String(name))
          const member = /^[a-z_]\w*$/i.test(String(name)) ? name : `'${name}'`
          views.push(`    readonly ${member}: ${typeOf(String(type))}${isKey ? '' : ' | null'}`)
        }
      views.push('  }')
    }
    const about =
      "Rows of a lake's tables and views, as `query` gives them: `query<Rows['companies']>({ lake, sql: 'FROM companies' })`."
    return [...commentOf(about, ''), 'export interface Rows {', ...views, '}'].join('\n')
  } finally {
    query.close()
  }
}

/** The text of the file. @param made says where it comes from */
export const interfacesText = async (made: string): Promise<string> => {
  const interfaces = [...DECLARED.map(interfaceText), ...PARTS].join('\n\n')
  const imports = Object.entries(TYPES).flatMap(([file, names]) => {
    const used = names.filter((name) => new RegExp(`\\b${name}\\b`).test(interfaces))
    return used.length === 0 ? [] : [`import type { ${used.join(', ')} } from '${file}'`]
  })
  return `/** The options of the library's jobs, and the rows of a lake. ${made} */\n\n${imports.join('\n')}\n\n${interfaces}\n\n${await rowsText()}\n`
}
