/** The options of the library's jobs, and the rows of a lake. Made by `npm run docs` from the declarations in `src/`; do not edit. */

import type { DeliverySink } from '../core/sink.ts'
import type { BatchFiles, Input } from '../source/inputs.ts'
import type { SearchInput } from '../contract/requests.ts'
import type { BatchFilesReport } from '../jobs/pull-batch-files.ts'
import type { PublishedRows, TableFormatName } from '../core/table-formats.ts'
import type { OptionalPartName } from '../core/optional-parts.ts'
import type { CopyProgress } from '../jobs/copy-files.ts'
import type { ServiceUse } from '../doctor/check-service.ts'
import type { ReportProgress } from '../jobs/report.ts'
import type { DiffProgress } from '../lake/diff/compare-snapshots.ts'
import type { AccessReport } from '../lake/files/file-access.ts'
import type { VerifyProgress } from '../manifest/verify/verify-lake.ts'
import type { IndexProgress } from '../server/serving-index/build/build-request.ts'
import type { CompareRequest } from '../targets/compare-targets.ts'
import type { RunReport } from '../run/run-report.ts'
import type { CompactEvent, CompactSummary } from '../compact/compact-work.ts'
import type { FileSettings } from '../config/definition.ts'
import type { Environment } from '../nightly/night-settings.ts'
import type { ReleasedLoad } from '../jobs/release.ts'
import type { NightEvent } from '../nightly/nightly.ts'
import type { PullReport } from '../jobs/pull.ts'
import type { PullEvent } from '../pull/windows/pull-settings.ts'
import type { ReplayReport } from '../jobs/replay.ts'
import type { ResumeReport } from '../jobs/resume.ts'
import type { CommitRunReport } from '../jobs/run-steps.ts'
import type { UnitOutcome } from '../shared-run/work-shared-run.ts'
import type { SyncEvent } from '../pull/sync/find-changes.ts'
import type { SyncReport } from '../jobs/sync.ts'
import type { Projection } from '../lake/projection/projection.ts'
import type { AroundFetch } from '../lake/views/lake-views.ts'
import type { KeepsRecord } from '../load/record-filter.ts'
import type { CatalogOptions } from '../publish/iceberg/catalog-client.ts'
import type { RunEvent } from '../run/work/progress.ts'
import type { CsvDelimiter } from '../sink/file-format.ts'
import type { Content } from '../contract/objects.ts'
import type { Service } from '../source/service/service.ts'
import type { Timing } from '../source/service/timing.ts'
import type { ExportProgress, ExportTarget } from '../targets/export/export-tables.ts'
import type { FetchProgress } from '../storage/storage.ts'
import type { DeliverProgress } from '../targets/deliver.ts'
import type { PublishProgress } from '../targets/publish.ts'
import type { TargetEvent } from '../targets/update-targets.ts'
import type { QuarantineLimit } from './value-types.ts'

/** Targets that are kept up to date with a lake. */
export interface TargetOptions {
  /**
   * Sinks that get every run, or addresses of sinks such as `postgres://…`, `csv:out`, `firms.duckdb`.
   * @default none
   */
  readonly sinks?: readonly (DeliverySink | string)[] | undefined
  /** Hands sinks of another lake over to this one. @default false: they are refused */
  readonly adopt?: boolean | undefined
  /**
   * Loads targets anew that show what the lake has lost, such as after a backup took its place.
   * @default false: they are refused
   */
  readonly overwrite?: boolean | undefined
  /** Formats in which the tables are published, in place, for other engines. @default none */
  readonly publish?: readonly TableFormatName[] | undefined
  /** The catalog that keeps the metadata of Iceberg tables. @default none: it stands in the lake */
  readonly catalog?: CatalogOptions | undefined
  /** Rows of the lake that the sinks receive. @default everything */
  readonly sinkTake?: Projection | undefined
  /**
   * Key of hashed columns, of at least 16 bytes: it is not kept, a short hash of it is.
   * @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE
   */
  readonly hashKey?: string | Uint8Array | undefined
}

/** The options of every job that changes a lake. */
export interface CommonOptions<Done> extends TargetOptions {
  /** A folder, made where it is missing, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /**
   * Partitions loaded side by side, each on one thread; threads of other work.
   * @default one a core, as many as there is memory for
   */
  readonly threads?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk while they are compacted or
   * published, in bytes.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** Stops the work cleanly: what is finished is kept, the same call resumes. */
  readonly signal?: AbortSignal | undefined
  /** Called with the result once the lake is committed, before targets are updated (which may fail). */
  readonly onCommitted?: ((done: Done) => void | Promise<void>) | undefined
  /** Progress of published tables and sinks. */
  readonly onTarget?: ((event: TargetEvent) => void) | undefined
}

/** The options of every job that loads. */
export interface LoadOptions<Done> extends CommonOptions<Done> {
  /**
   * Most bad lines to commit with: a count, or a share of all lines such as `0.05` or `'5%'`.
   * @default '1%'
   */
  readonly maxQuarantined?: number | string | QuarantineLimit | undefined
  /** Let figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /**
   * Checks the load before it is shown: where it makes something worse it is held back (`LOAD_HELD`), until
   * `release` shows it or `discard` gives it up.
   * @default it is shown
   */
  readonly check?: LoadCheck | undefined
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them in the drift of a snapshot. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /**
   * The part of the records that is taken; the rest is nowhere below the lake. A lake keeps it: another
   * declaration is refused.
   * @default what the newest load of the lake took; everything, where it is new
   */
  readonly take?: Projection | undefined
  /**
   * Takes what is declared, without a declaration everything, whatever earlier loads of the lake took.
   * @default false
   */
  readonly changeTaken?: boolean | undefined
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  /** Progress of the run. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
}

/**
 * Options of jobs that need parts of a lake in a bucket: where DuckDB's httpfs can be loaded they read those
 * parts where they stand, with lengths and ETags compared and no hashes; else copies of whole files.
 */
export interface InPlaceOptions {
  /** Reads copies that are compared with their hashes in any case. @default false */
  readonly checked?: boolean | undefined
}

/** The expectations; one that is absent is not checked. */
export interface Expectations {
  /** Age of the newest load, in milliseconds. */
  readonly maxAgeMs?: number | undefined
  /**
   * Time since a pull or sync of a whole search last looked for companies that left the service, in
   * milliseconds.
   */
  readonly maxUnlookedMs?: number | undefined
  /** Share by which fewer records the newest whole pull or sync of a search may find than the one before. */
  readonly maxFall?: number | undefined
  /** Companies whose figures the newest load restates, as a share of the lake's companies. */
  readonly maxRestated?: number | undefined
  /** Lines of the newest load that were quarantined, as a share. */
  readonly maxQuarantined?: number | undefined
  /** Records that the newest pull of each search could not find. */
  readonly maxGap?: number | undefined
  /** Companies that are current, at least. */
  readonly minCompanies?: number | undefined
  /** Whether names that the contract does not know fail where no earlier load had them. @default false */
  readonly noNewDrift?: boolean | undefined
}

/** Options of `gc`. */
export interface GcOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Newest snapshots to keep; older ones, and what only they list, are removed. @default all */
  readonly keep?: number | undefined
  /**
   * Days back from now as of which the lake can still be read: older snapshots, and what only they list, are
   * removed. With `keep` at least so many are kept.
   * @default all
   */
  readonly keepDays?: number | undefined
  /** Says how old files and runs are. @default the clock */
  readonly now?: (() => Date) | undefined
  /** Change nothing, report what would be removed. @default false */
  readonly dryRun?: boolean | undefined
  /** A catalog that shows the lake's Iceberg tables; without it they may lose their files. @default none */
  readonly catalog?: CatalogOptions | undefined
  /** Stops it before anything is removed. */
  readonly signal?: AbortSignal | undefined
  /** Progress of updating published tables, before anything is removed. */
  readonly onPublish?: ((progress: PublishProgress) => void) | undefined
  /** Called when removing starts; it is not interrupted any more. */
  readonly onRemove?: (() => void) | undefined
}

/** Options of `compact`. */
export interface CompactOptions extends CommonOptions<CompactSummary> {
  /**
   * Merges only where a table has more than 12 partitions, and of them the newest ones, by their sizes: what
   * a merge costs grows with what was loaded.
   * @default all partitions become one
   */
  readonly auto?: boolean | undefined
  /** Size of a file, in bytes. @default 256 MiB */
  readonly targetBytes?: number | undefined
  /**
   * Past rows go whose end became known longer ago than this, in milliseconds. Current rows keep their first
   * version.
   * @default all are kept
   */
  readonly keepHistoryMs?: number | undefined
  /** Keeps no past rows: the history begins anew. Current rows keep their first version. @default false */
  readonly dropHistory?: boolean | undefined
  /** Says how old past rows are. @default the clock */
  readonly now?: (() => Date) | undefined
  /** Changes nothing, targets neither, and reports what would be done. @default false */
  readonly dryRun?: boolean | undefined
  /** How far it is. */
  readonly onEvent?: ((event: CompactEvent) => void) | undefined
}

/** Options of `convert`. */
export interface ConvertOptions extends LoadOptions<RunReport> {
  /** Files, folders, patterns, `-` for standard input; `files`, `fromRecords`, or a source of one's own. */
  readonly from: Input | readonly Input[]
  /** The content of all of them. @default detected for each */
  readonly content?: Content | undefined
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /**
   * Changes nothing, and reports how the lake would change: it costs what the load costs, and room among the
   * temporary files.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * A dry run that compares the lake with the whole of its sources, those that it holds too: `dryRun.differs`
   * of the report.
   * @default false
   */
  readonly expectNothing?: boolean | undefined
  /**
   * As of when all of them are: an instant, `'now'`, or `'name'`, the date in each file's name. Of one
   * company the latest data is current.
   * @default the latest stamp in each of them
   */
  readonly asOf?: string | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /** Longest line, in bytes. @default 16 MiB */
  readonly maxLineBytes?: number | undefined
  /** Most decoded bytes for one compressed byte. @default 250 */
  readonly maxRatio?: number | undefined
  /** Deepest nesting of a record. @default 256 */
  readonly maxDepth?: number | undefined
  /**
   * Leaves out the records for which it is false: called with each good record as the service gives it. It
   * has to answer the same each time. Only the same program resumes such a run, and loads into such a lake.
   * @default all are loaded
   */
  readonly keeps?: KeepsRecord | undefined
}

/** Options of `convertTo`. */
export interface ConvertToOptions extends LoadPart, ExportPart {
  /** An address as `export --to` takes it: `parquet:out`, `companies.csv`, `firms.duckdb`, `postgres://…`. */
  readonly to: string
}

/** How a service is called. */
export interface ServiceOptions {
  /** Base address; the operations' paths are appended. */
  readonly url: string
  /** The bearer token. */
  readonly token: string
  /** The most requests a second over everything the service object does. @default learnt from the answers */
  readonly maxRequestsPerSecond?: number | undefined
  /** Longest time one request may wait for its retries, in milliseconds. @default 900_000 */
  readonly maxWaitMs?: number | undefined
  /** Requests that may be under way at once. @default 8 */
  readonly concurrency?: number | undefined
  /** Largest body that is held whole, decompressed, in bytes. @default 1 GiB (500 profiles are about 5 MB) */
  readonly maxBodyBytes?: number | undefined
  /**
   * Largest listing of batch files or search parameters, decompressed, in bytes.
   * @default 64 MiB (some 200,000 files)
   */
  readonly maxListingBytes?: number | undefined
  /** Longest wait for a connection, in milliseconds. @default 10_000 */
  readonly connectTimeoutMs?: number | undefined
  /**
   * Longest wait for the first byte of an answer, in milliseconds.
   * @default 60_000 (a page of 500 takes seconds)
   */
  readonly headersTimeoutMs?: number | undefined
  /** Longest pause between two chunks of a body, in milliseconds. @default 60_000 */
  readonly bodyTimeoutMs?: number | undefined
  /** Clock, pauses and chance. @default the system's */
  readonly timing?: Timing | undefined
  /** The clock of this machine, by which instants of the service are judged. @default the system's */
  readonly now?: (() => Date) | undefined
  /**
   * Takes the instants of the service as they are, where the clock of this machine is wrong.
   * @default false
   */
  readonly trustClock?: boolean | undefined
  /**
   * Called with what is odd about answers that are dealt with all the same, each text once.
   * @default nobody
   */
  readonly onWarning?: ((text: string) => void) | undefined
}

/** Options of `pull`. */
export interface PullOptions extends LoadOptions<PullReport> {
  /** The objects to ask for. */
  readonly content: Content
  /**
   * Search parameters of the interface with their values, such as `{ CountryCode: ['SE'] }`; an id beyond
   * 2^53 is a bigint or a text.
   */
  readonly search: SearchInput
  /** Currency of the figures, of companies only. @default USD */
  readonly currency?: string | undefined
  /** Last day (UTC). @default none */
  readonly until?: string | undefined
  /** Date parameter to cut windows by, and that the days mean. @default the one that covers most */
  readonly by?: string | undefined
  /** Whether companies that no window covers are found along other parameters. @default true */
  readonly closeGap?: boolean | undefined
  /** Records of a page. @default 500 */
  readonly pageSize?: number | undefined
  /** Most records of a window. @default 100,000, what one cursor chain delivers */
  readonly cap?: number | undefined
  /**
   * First day (UTC, `2026-01-31`), or `last`: where the lake's last pull of the same search stood.
   * @default everything
   */
  readonly since?: string | undefined
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that
   * the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so.
   * @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
  /**
   * Changes nothing, and reports how the lake would change: it costs what the load costs, and room among the
   * temporary files.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * A dry run that compares the lake with the whole of its sources, those that it holds too: `dryRun.differs`
   * of the report.
   * @default false
   */
  readonly expectNothing?: boolean | undefined
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
  /** The service; the caller may close it afterwards. */
  readonly from: Service
  /** Progress of the windows. */
  readonly onPull?: ((event: PullEvent) => void) | undefined
}

/** Options of `sync`. */
export interface SyncOptions extends LoadOptions<SyncReport> {
  /**
   * Search parameters of the interface with their values, such as `{ CountryCode: ['SE'] }`; an id beyond
   * 2^53 is a bigint or a text.
   */
  readonly search: SearchInput
  /** Currency of the figures, of companies only. @default USD */
  readonly currency?: string | undefined
  /** Date parameter to cut windows by, and that the days mean. @default the one that covers most */
  readonly by?: string | undefined
  /** Whether companies that no window covers are found along other parameters. @default true */
  readonly closeGap?: boolean | undefined
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that
   * the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so.
   * @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
  /**
   * Changes nothing, and reports how the lake would change: it costs what the load costs, and room among the
   * temporary files.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * A dry run that compares the lake with the whole of its sources, those that it holds too: `dryRun.differs`
   * of the report.
   * @default false
   */
  readonly expectNothing?: boolean | undefined
  /** Windows listed or pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
  /** The service; the caller may close it afterwards. */
  readonly from: Service
  /** Progress of the list and the windows. */
  readonly onSync?: ((event: SyncEvent | Extract<PullEvent, { kind: 'planned' }>) => void) | undefined
}

/** Options of `pullBatchFiles`. */
export interface PullBatchFilesOptions extends LoadOptions<BatchFilesReport> {
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /**
   * Changes nothing, and reports how the lake would change: it costs what the load costs, and room among the
   * temporary files.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * A dry run that compares the lake with the whole of its sources, those that it holds too: `dryRun.differs`
   * of the report.
   * @default false
   */
  readonly expectNothing?: boolean | undefined
  /** Files downloaded side by side. @default 4 */
  readonly concurrency?: number | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /** `batchFiles(service, …)`. */
  readonly from: BatchFiles
  /** Progress of the downloads: bytes received of all files together. */
  readonly onBytes?: ((bytes: number) => void) | undefined
}

/** Options of `resume`. */
export interface ResumeOptions extends Omit<LoadOptions<ResumeReport>, 'mode' | 'maxUnknownPerRecord' | 'maxUnknownNames'> {
  /** Id of the run. @default all that were interrupted, except those that would fail again */
  readonly run?: string | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that
   * the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so.
   * @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
  /**
   * Opens the service of a run that pulls from one, by the address in the run's plan; it is closed when the
   * run ends.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: ((url: string) => Service | Promise<Service>) | undefined
}

/** Options of `replay`. */
export interface ReplayOptions extends Omit<LoadOptions<ReplayReport>, 'maxQuarantined' | 'mode'> {
  /** Only lines of sources with these names; `*` stands for any text. @default all */
  readonly sources?: readonly string[] | undefined
  /** Longest line, in bytes. @default 16 MiB */
  readonly maxLineBytes?: number | undefined
  /** Deepest nesting of a record. @default 256 */
  readonly maxDepth?: number | undefined
}

/**
 * The checks of a load before it is shown. Those that say nothing of the load, such as the age of the newest
 * one, hold none back.
 */
export interface LoadCheck {
  /** Share by which fewer records the newest whole pull or sync of a search may find than the one before. */
  readonly maxFall?: number | undefined
  /** Companies whose figures the newest load restates, as a share of the lake's companies. */
  readonly maxRestated?: number | undefined
  /** Lines of the newest load that were quarantined, as a share. */
  readonly maxQuarantined?: number | undefined
  /** Records that the newest pull of each search could not find. */
  readonly maxGap?: number | undefined
  /** Companies that are current, at least. */
  readonly minCompanies?: number | undefined
  /** Whether names that the contract does not know fail where no earlier load had them. @default false */
  readonly noNewDrift?: boolean | undefined
  /** Whether the rules on the data are checked, too. @default true */
  readonly data?: boolean | undefined
  /**
   * Rules of one's own by name: each a SELECT, every row of which is a finding; rows whose column `severity`
   * is `note` fail nothing. One with the name of ours takes its place.
   * @default none
   */
  readonly rules?: Readonly<Record<string, string>> | undefined
  /** Only these rules, of ours and of your own. @default all */
  readonly only?: readonly string[] | undefined
  /** Leaves these rules out. @default none */
  readonly skip?: readonly string[] | undefined
  /** How many findings of a rule pass, by its name. @default none */
  readonly limits?: Readonly<Record<string, number>> | undefined
  /**
   * While a load is held back: no other one begins (wait), or the next one discards it (replace).
   * @default wait
   */
  readonly held?: 'wait' | 'replace' | undefined
}

/** Options of `release`. */
export interface ReleaseOptions extends CommonOptions<ReleasedLoad> {
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that
   * the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so.
   * @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
  /** Progress of the run. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /**
   * Checks the load before it is shown: where it makes something worse it is held back (`LOAD_HELD`), until
   * `release` shows it or `discard` gives it up.
   * @default it is shown
   */
  readonly check?: LoadCheck | undefined
  /**
   * Opens the service of a run that pulled from one, by the address in the run's plan, where it is to be
   * asked for companies that a whole search lacks.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: ((url: string) => Service | Promise<Service>) | undefined
}

/** Options of `discard`. */
export interface DiscardOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
}

/** Options of `nightly`. */
export interface NightlyOptions {
  /**
   * Changes nothing, and reports how the lake would change; nothing is published, delivered, compacted or
   * deleted.
   * @default false
   */
  readonly dryRun?: boolean | undefined
  /**
   * With `dryRun`: asks no service, reads no file, and reports what the night would ask and do.
   * @default false
   */
  readonly offline?: boolean | undefined
  /** Hands sinks of another lake over to this one. @default false: they are refused */
  readonly adopt?: boolean | undefined
  /**
   * Loads targets anew that show what the lake has lost, such as after a backup took its place.
   * @default false: they are refused
   */
  readonly overwrite?: boolean | undefined
  /** Aborted by SIGINT and SIGTERM. */
  readonly signal: AbortSignal
  /** Adds to the summary what is finished, so that it is printed also when the rest fails. */
  readonly report: (finished: object) => void
  /** Variables by name, such as `process.env`: they take precedence over `settings` (docs/nightly.md). */
  readonly env: Environment
  /**
   * The settings of firmlake.toml, read; with a FIRMLAKE_LAKE that is not its lake without targets, checks
   * and report.
   * @default none: companies and relations are pulled
   */
  readonly settings?: FileSettings | undefined
  /** Receives each part that begins, and each that has ended; all loads begin together. @default nobody */
  readonly onPart?: ((event: NightEvent) => void) | undefined
  /** Called with what is odd about answers of the service, as that of `createService`. @default nobody */
  readonly onWarning?: ((text: string) => void) | undefined
}

/** A step of a run, and where the run is. */
export interface RunStep {
  /** Id of the run, as `planRun` gave it. */
  readonly run: string
  /** A folder that all machines reach, or `s3://bucket/prefix`. */
  readonly lake: string
}

/** Options of `planRun`, whatever is loaded. */
export interface RunPlanOptions {
  /** A folder, made where it is missing, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Mode bits of the lake's folder where it is new: what is made in it takes them. @default 0o700 */
  readonly mode?: number | undefined
  /** Loads sources that the lake holds already once more. @default false */
  readonly again?: boolean | undefined
  /** Leaves damaged and unreadable files out and loads the others. @default false: one bad file stops all */
  readonly skipBadFiles?: boolean | undefined
  /** Stored bytes of the files of a unit. @default 64 MiB */
  readonly unitBytes?: number | undefined
  /** Windows listed side by side. @default 4 */
  readonly concurrency?: number | undefined
  /** Requests a second of all workers together; each takes its share. @default learnt by each for itself */
  readonly maxRequestsPerSecond?: number | undefined
  /**
   * Peak memory of a worker, in bytes: the size of blocks follows from it.
   * @default 1 GiB, less in a small container
   */
  readonly memoryBytes?: number | undefined
  /** Partitions that a worker loads side by side. @default as many as cores, and as there is memory for */
  readonly threads?: number | undefined
  /** Most names of a record that the contract does not know. @default 1000 */
  readonly maxUnknownPerRecord?: number | undefined
  /** Most of them in the drift of a snapshot. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /**
   * Takes what is declared, without a declaration everything, whatever earlier loads of the lake took.
   * @default false
   */
  readonly changeTaken?: boolean | undefined
  /** Let figures be replaced by figures in another currency. @default false */
  readonly changeCurrency?: boolean | undefined
  /**
   * The part of the records that is taken; the rest is nowhere below the lake. A lake keeps it: another
   * declaration is refused.
   * @default what the newest load of the lake took; everything, where it is new
   */
  readonly take?: Projection | undefined
  /**
   * Key of hashed columns, of at least 16 bytes: it is not kept, a short hash of it is.
   * @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE
   */
  readonly hashKey?: string | Uint8Array | undefined
  /** Stops the work cleanly: what is finished is kept, the same call resumes. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `workRun` beside the choice of units. */
export interface UnitWorkOptions extends RunStep {
  /** Workers at once, which share the requests a second. @default as many as there are shards, else 1 */
  readonly workers?: number | undefined
  /**
   * Peak memory in all, in bytes: as much as the run was planned with.
   * @default 1 GiB, less in a small container
   */
  readonly memoryBytes?: number | undefined
  /**
   * Partitions loaded side by side, each on one thread; threads of other work.
   * @default one a core, as many as there is memory for
   */
  readonly threads?: number | undefined
  /** Windows pulled side by side. @default 4 */
  readonly concurrency?: number | undefined
  /**
   * Opens the service of a run that pulls from one, by the address in the run's plan and with this worker's
   * share of the requests a second; it is closed when the work ends.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: ((url: string, share: number | undefined) => Service | Promise<Service>) | undefined
  /** Stops the work cleanly: units that are done are kept. */
  readonly signal?: AbortSignal | undefined
  /** Progress of the run. */
  readonly onEvent?: ((event: RunEvent) => void) | undefined
  /** Called with what became of each unit. */
  readonly onUnit?: ((outcome: UnitOutcome) => void) | undefined
}

/** Options of `commitRun`. */
export interface CommitRunOptions extends RunStep, CommitPart {
  /**
   * Most companies of a search that a whole pull or sync may say are gone: a count, or a share of those that
   * the lake has of it, such as `0.05` or `'5%'`. Of more it marks none, and says so.
   * @default '2%'
   */
  readonly maxGone?: number | string | QuarantineLimit | undefined
  /**
   * Opens the service of a run that pulled from one, by the address in the run's plan and with the requests a
   * second of all workers, where it is to be asked for companies that a whole search lacks; it is closed
   * after the commit.
   * @default with the token of FIRMLAKE_TOKEN, for an address of the origin of FIRMLAKE_URL
   */
  readonly service?: ((url: string, share: number | undefined) => Service | Promise<Service>) | undefined
}

/** Options of `exportTables`. */
export interface ExportOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /**
   * An address (`x.csv`, `parquet:out`, `firms.duckdb`, `postgres://…`: docs/export.md), or a stream with the
   * format of what goes there.
   */
  readonly to: string | ExportTarget
  /** Tables and views to export. @default all tables; with `sql` its one name is that of the answer */
  readonly tables?: readonly string[] | undefined
  /** A SELECT over the views of the lake, in place of its tables. */
  readonly sql?: string | undefined
  /** The versions of each record in place of the current ones. @default false */
  readonly history?: boolean | undefined
  /** Also companies that the service does not list any more. @default false */
  readonly all?: boolean | undefined
  /** Names of companies and entities beside their ids; for files. @default false */
  readonly names?: boolean | undefined
  /**
   * Replaces files that are there, loads a database again that shows the same rows already, and anew one that
   * shows what the lake has lost.
   * @default false: they are refused, or left as they are
   */
  readonly overwrite?: boolean | undefined
  /** Writes to a database of another lake too. @default false: it is refused */
  readonly adopt?: boolean | undefined
  /** CSV safe for spreadsheets. @default true */
  readonly neutralise?: boolean | undefined
  /** The lake as of this snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** CSV: begins with a byte order mark, by which Excel knows UTF-8. @default false */
  readonly bom?: boolean | undefined
  /** CSV: between two cells, "," ";" "|" or tab. @default "," */
  readonly delimiter?: CsvDelimiter | undefined
  /** Rows and columns that are written; columns that are left out are not there. @default everything */
  readonly take?: Projection | undefined
  /**
   * Key of hashed columns, of at least 16 bytes: it is not kept, a short hash of it is.
   * @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE
   */
  readonly hashKey?: string | Uint8Array | undefined
  /**
   * Further columns by `table.column`: SQL over the columns of that table, also over those that are left out.
   * @default none
   */
  readonly compute?: Readonly<Record<string, string>> | undefined
  /** Stops it; no partial file is left. */
  readonly signal?: AbortSignal | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: ExportProgress) => void) | undefined
  /** How far the fetch of a lake's files from a bucket is; several times, as tables are asked for. */
  readonly onFetch?: ((progress: FetchProgress) => void) | undefined
}

/** Options of `publish`. */
export interface PublishOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Formats in which the tables are published. */
  readonly formats: readonly TableFormatName[]
  /** Tables of all versions, of the current rows, or both. @default both */
  readonly rows?: readonly PublishedRows[] | undefined
  /** The catalog that keeps the Iceberg tables' metadata. @default none: it stands in the lake */
  readonly catalog?: CatalogOptions | undefined
  /**
   * Publishes anew where tables show what the lake does not have, such as after a backup took its place.
   * @default false: they are refused
   */
  readonly overwrite?: boolean | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk while they are compacted or
   * published, in bytes.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Stops it: what is published stays. */
  readonly signal?: AbortSignal | undefined
  /** Says what time it is. @default the clock */
  readonly now?: (() => Date) | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: PublishProgress) => void) | undefined
}

/** Options of `deliver`. */
export interface DeliverOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Sinks, or addresses of sinks such as `postgres://…`, `csv:out`, `firms.duckdb`. */
  readonly sinks: readonly (DeliverySink | string)[]
  /**
   * Rows of the lake that they receive, and columns that are computed for them; columns that are left out are
   * NULL.
   * @default everything
   */
  readonly take?: Projection | undefined
  /**
   * Key of hashed columns, of at least 16 bytes: it is not kept, a short hash of it is.
   * @default FIRMLAKE_HASH_KEY, else the file FIRMLAKE_HASH_KEY_FILE
   */
  readonly hashKey?: string | Uint8Array | undefined
  /** Hands sinks of another lake over to this one. @default false: they are refused */
  readonly adopt?: boolean | undefined
  /**
   * Loads sinks anew that show runs which the lake has lost, such as after a backup took its place.
   * @default false: they are refused
   */
  readonly overwrite?: boolean | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Stops between two steps, and the commit of a sink. */
  readonly signal?: AbortSignal | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: DeliverProgress) => void) | undefined
}

/** Options of `updateTargets`. */
export interface UpdateTargetsOptions extends TargetOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk while they are compacted or
   * published, in bytes.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Stops it: what is done stays, the same call resumes. */
  readonly signal?: AbortSignal | undefined
  /** Progress of published tables and sinks. */
  readonly onTarget?: ((event: TargetEvent) => void) | undefined
}

/** Options of `openQuery`. */
export interface OpenQueryOptions extends InPlaceOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /**
   * A folder whose files statements may read, too: Parquet, CSV, JSON.
   * @default none but those of the lake
   */
  readonly files?: string | undefined
  /** The lake as of this snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** The snapshot that is held back, in place of the newest. @default the newest */
  readonly held?: boolean | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** When copies are compared with their hashes. @default the first time that this machine reads them */
  readonly check?: 'first-read' | 'every-read' | 'never' | undefined
  /** Done around each fetch and check of files. @default without progress and signal */
  readonly aroundFetch?: AroundFetch | undefined
  /** A further folder, absolute, for the files that relations are copied to. */
  readonly outFolder?: string | undefined
}

/** Options of `query`. */
export interface QueryOptions extends OpenQueryOptions {
  /** A SELECT (also WITH, FROM, PIVOT, DESCRIBE, …). */
  readonly sql: string
  /** Stops the statement. */
  readonly signal?: AbortSignal | undefined
  /**
   * Called after the answer with each note on it: a sum over several currencies, both consolidations or years
   * of several lengths, a name that does not occur.
   * @default nobody looks for them
   */
  readonly onNote?: ((note: string) => void) | undefined
}

/** Options of `check`. */
export interface LakeCheckOptions extends Expectations {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** The snapshot that is held back, in place of the newest. @default the newest */
  readonly held?: boolean | undefined
  /** Whether the rules on the data are checked, too. @default true */
  readonly data?: boolean | undefined
  /**
   * Rules of one's own by name: each a SELECT, every row of which is a finding; rows whose column `severity`
   * is `note` fail nothing. One with the name of ours takes its place.
   * @default none
   */
  readonly rules?: Readonly<Record<string, string>> | undefined
  /** Only these rules, of ours and of your own. @default all */
  readonly only?: readonly string[] | undefined
  /** Leaves these rules out. @default none */
  readonly skip?: readonly string[] | undefined
  /** How many findings of a rule pass, by its name. @default none */
  readonly limits?: Readonly<Record<string, number>> | undefined
  /**
   * Counts only findings that the lake did not have then: a span such as `24h` or `7d`, or a day such as
   * `2026-11-21` (its beginning, in UTC).
   */
  readonly since?: string | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Says what time it is. @default the clock */
  readonly now?: (() => Date) | undefined
}

/** Options of `report`. */
export interface ReportOptions extends Expectations {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** The file, or `s3://bucket/prefix/report.html`, which ends in `.html`; one that is there is replaced. */
  readonly to: string
  /** Line items with a heat map of their own. @default NetSales, EBITDA */
  readonly lineItems?: readonly string[] | undefined
  /** The heading of the page. @default Company data */
  readonly title?: string | undefined
  /** The name at the top of the page. @default firmlake */
  readonly logoText?: string | undefined
  /** Language of the numbers, as of BCP 47, such as `sv` or `de-CH`. @default en */
  readonly language?: string | undefined
  /**
   * Address of an explorer: names of companies link to their pages there.
   * @default none; they link to a table of the report
   */
  readonly explorer?: string | undefined
  /** The lake as of this snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** The snapshot that is held back, in place of the newest. @default the newest */
  readonly held?: boolean | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** When copies are compared with their hashes. @default the first time that this machine reads them */
  readonly check?: 'first-read' | 'every-read' | 'never' | undefined
  /** Done around each fetch and check of files. @default without progress and signal */
  readonly aroundFetch?: AroundFetch | undefined
  /** Stops it: an earlier report stays. */
  readonly signal?: AbortSignal | undefined
  /** The part that begins now. */
  readonly onProgress?: ((progress: ReportProgress) => void) | undefined
  /** Says what time it is. @default the clock */
  readonly now?: (() => Date) | undefined
}

/** Options of `serve`. */
export interface ServeOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** 0 takes any free one. @default 8080 */
  readonly port?: number | undefined
  /** Address to listen at; beyond this machine only with tokens given. @default 127.0.0.1 */
  readonly host?: string | undefined
  /** This snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /**
   * Moves to each newer snapshot, without a failed request; its index is built by another process, which
   * takes up to `memoryBytes` too. Only without `snapshot`.
   * @default false
   */
  readonly follow?: boolean | undefined
  /**
   * JSON file of tokens and their rights (docs/serving.md), read again when it changes; it counts more than
   * `token`.
   * @default none
   */
  readonly tokens?: string | undefined
  /** Most requests a second of each token. @default none */
  readonly rateLimit?: number | undefined
  /** Most connections at once. @default 500 */
  readonly maxConnections?: number | undefined
  /**
   * Proxies whose `X-Forwarded-For` says who asks: addresses and networks, this machine's own too.
   * @default none
   */
  readonly proxies?: readonly string[] | undefined
  /** JSON file of faults to make, for testing clients (docs/serving.md). @default none */
  readonly faults?: string | undefined
  /** Most companies of one cursor chain. @default 100000 */
  readonly cursorCap?: number | undefined
  /** Longest time of one query, in milliseconds; then 503. @default 30_000 */
  readonly queryTimeoutMs?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Stops the making of a serving index. */
  readonly signal?: AbortSignal | undefined
  /** How far the serving index is. */
  readonly onProgress?: ((progress: IndexProgress) => void) | undefined
  /** Called with why the serving index in the lake cannot be used, before it is made again. */
  readonly onUnusable?: ((reason: Error) => void) | undefined
  /** With `follow`, called with the number of each snapshot that it has moved to. */
  readonly onMove?: ((snapshot: number) => void) | undefined
  /**
   * With `follow`, called with why a newer snapshot cannot be served yet; the server keeps what it has, and
   * tries again.
   */
  readonly onFollowError?: ((reason: Error) => void) | undefined
  /** The one token, which may see everything. @default a fresh one, on this machine only */
  readonly token?: string | undefined
  /** Called with why `tokens` cannot be read after a change; its last tokens still count. */
  readonly onTokensError?: ((reason: Error) => void) | undefined
  /**
   * Secret of at least 32 characters that signs cursors, so that they outlive a restart.
   * @default a fresh one
   */
  readonly cursorKey?: string | undefined
  /** Receives the access log, a line of JSON per request. @default none */
  readonly log?: { write(line: string): void } | undefined
}

/** Options of `records`. */
export interface RecordsOptions extends InPlaceOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** The content of the records. @default both, companies first */
  readonly content?: Content | undefined
  /** Only the records of these InternalIds. @default all */
  readonly ids?: readonly (bigint | number)[] | undefined
  /** Also companies that the service does not list any more. @default false */
  readonly all?: boolean | undefined
  /** The lake as of this snapshot. @default the newest */
  readonly snapshot?: number | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Stops it. */
  readonly signal?: AbortSignal | undefined
  /** How far the fetch of a lake's files from a bucket is. */
  readonly onFetch?: ((progress: FetchProgress) => void) | undefined
  /** Called with the cost of reading the lake, when all records were read. */
  readonly onRead?: ((report: AccessReport) => void) | undefined
}

/** Options of `diff` and `openDiff`. */
export interface DiffOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Number of the older snapshot. @default the one before the last one up to `to` that changed data */
  readonly from?: number | undefined
  /** Number of the newer snapshot. @default the newest */
  readonly to?: number | undefined
  /**
   * The newer snapshot is the one that is held back; the older one is the newest, or `from`.
   * @default false
   */
  readonly held?: boolean | undefined
  /**
   * Instead of `from`: the newest snapshot that was there so long ago (`90m`, `24h`, `7d`) or at a time
   * (`2026-11-21`, UTC); `last-change` is the default of `from`.
   */
  readonly since?: string | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** Stops it. */
  readonly signal?: AbortSignal | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: DiffProgress) => void) | undefined
  /** How far the fetch and check of files are. */
  readonly onFetch?: ((progress: FetchProgress) => void) | undefined
  /** When copies are compared with their hashes. @default the first time that this machine reads them */
  readonly check?: 'first-read' | 'every-read' | 'never' | undefined
}

/** Options of `verify`. */
export interface VerifyOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** Checks this snapshot and its files only. @default every snapshot that gc has kept */
  readonly snapshot?: number | undefined
  /**
   * Sinks, or their addresses, and a catalog that are compared with the lake too, beside the tables published
   * in it.
   * @default none
   */
  readonly targets?: Pick<CompareRequest, 'sinks' | 'catalog'> | undefined
  /** Files read at once. @default 4 */
  readonly concurrency?: number | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: VerifyProgress) => void) | undefined
  /** Stops it. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `copy`. */
export interface CopyOptions {
  /** The lake that is copied. */
  readonly lake: string
  /** A new folder or s3://bucket/prefix, or an earlier copy. */
  readonly to: string
  /** The newest snapshot of the copy. @default that of the lake */
  readonly snapshot?: number | undefined
  /** How many snapshots up to that one the copy has at least. @default 1 */
  readonly snapshots?: number | 'all' | undefined
  /**
   * Gives the copy the id of the lake, so that targets take rows of either.
   * @default false: it gets one of its own
   */
  readonly sameLake?: boolean | undefined
  /** How far it is. */
  readonly onProgress?: ((progress: CopyProgress) => void) | undefined
  /** Stops it; what is copied stays for the next one. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `forget`. */
export interface ForgetOptions {
  /** A folder, or `s3://bucket/prefix`. */
  readonly lake: string
  /** InternalIds of companies: their records go, and they as entities of others' relations. @default none */
  readonly companies?: readonly (bigint | number)[] | undefined
  /** InternalIds of persons, who go as entities of all relations. @default none */
  readonly persons?: readonly (bigint | number)[] | undefined
  /** OrgNo or NationalIdentificationNumber of companies and persons that the lake knows. @default none */
  readonly nationalIds?: readonly string[] | undefined
  /** Country of those that national ids mean, ISO 3166-1 alpha-2. @default any */
  readonly country?: string | undefined
  /** Whether a later load may bring the same ids back. @default false */
  readonly allowLater?: boolean | undefined
  /** Change nothing, report what would be done. @default false */
  readonly dryRun?: boolean | undefined
  /** Peak memory in all, in bytes. @default 1 GiB, less in a small container */
  readonly memoryBytes?: number | undefined
  /**
   * The most that files of a lake in a bucket take on this machine's disk while they are compacted or
   * published, in bytes.
   * @default FIRMLAKE_CACHE_BYTES, else 20 GB
   */
  readonly localBytes?: number | undefined
  /** Threads of DuckDB. @default 2 */
  readonly threads?: number | undefined
  /** A catalog that shows the lake's Iceberg tables. @default none */
  readonly catalog?: CatalogOptions | undefined
  /** Stops it; the same call completes it. */
  readonly signal?: AbortSignal | undefined
}

/** Options of `doctor`. */
export interface DoctorOptions {
  /** The lake whose bucket is meant: a folder, or `s3://bucket/prefix`. @default none */
  readonly lake?: string | undefined
  /** Addresses that runs are delivered to, such as `csv:out` and `postgres://…`. @default FIRMLAKE_SINKS */
  readonly sinks?: readonly string[] | undefined
  /** Address of the service. @default FIRMLAKE_URL */
  readonly url?: string | undefined
  /** File that holds the token. @default FIRMLAKE_TOKEN_FILE */
  readonly tokenFile?: string | undefined
  /**
   * Takes the instants of the service as they are, where the clock of this machine is wrong.
   * @default false
   */
  readonly trustClock?: boolean | undefined
  /**
   * Asks what is configured whether it answers: the service, buckets and PostgreSQL. In each bucket one small
   * object of an own name is written and removed.
   * @default false
   */
  readonly online?: boolean | undefined
  /** Longest wait for each answer, in milliseconds. @default 15_000 */
  readonly limitMs?: number | undefined
  /** Name of the variable that holds the token. @default 'FIRMLAKE_TOKEN' */
  readonly tokenVariable?: string | undefined
  /** The parts of the service that are used. @default ['companies'] */
  readonly uses?: readonly ServiceUse[] | undefined
  /** Optional parts that must be there, besides those that the lake and the sinks take. @default none */
  readonly needs?: readonly OptionalPartName[] | undefined
  /** The variables. @default those of this process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

type CommitPart = Omit<CommonOptions<CommitRunReport>, 'lake'> &
  Pick<LoadOptions<CommitRunReport>, 'maxQuarantined' | 'changeCurrency' | 'check' | 'onEvent'>

type LoadPart = Pick<ConvertOptions, 'from' | 'content' | 'skipBadFiles' | 'maxLineBytes' | 'maxRatio' | 'maxDepth' | 'maxQuarantined' | 'maxUnknownPerRecord' | 'maxUnknownNames' | 'memoryBytes' | 'threads' | 'signal' | 'onEvent' | 'take' | 'hashKey' | 'keeps'>

type ExportPart = Pick<ExportOptions, 'tables' | 'names' | 'neutralise' | 'onProgress' | 'bom' | 'delimiter' | 'overwrite' | 'adopt'>

/**
 * Rows of a lake's tables and views, as `query` gives them: `query<Rows['companies']>({ lake, sql: 'FROM
 * companies' })`.
 */
export interface Rows {
  readonly board_seats: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly person_id: number | bigint | null
    readonly person_name: string | null
    readonly role: string | null
    readonly since: string | null
    readonly is_protected: boolean | null
  }
  readonly check_results: {
    readonly snapshot: number | null
    readonly run: string | null
    readonly checked_at: string | null
    readonly rule: string | null
    readonly status: string | null
    readonly value: number | null
    readonly value_limit: number | null
    readonly expected: string | null
    readonly keys: readonly (number | bigint)[] | null
  }
  readonly companies: {
    readonly internal_id: number | bigint
    readonly company_name: string | null
    readonly org_no: string | null
    readonly country_code: string | null
    readonly company_type: number | bigint | null
    readonly company_type_name: string | null
    readonly operational_status: number | bigint | null
    readonly operational_status_name: string | null
    readonly legal_form: number | bigint | null
    readonly legal_form_name: string | null
    readonly listing_type: string | null
    readonly address_street: string | null
    readonly address_zipcode: string | null
    readonly address_city: string | null
    readonly address_county: string | null
    readonly address_muncipality: string | null
    readonly business_description_eng: string | null
    readonly business_description_original: string | null
    readonly industry_codes: readonly ({ readonly code: string | null; readonly text: string | null; readonly type: string | null })[] | null
    readonly weighted_group_industry_codes: readonly ({ readonly code: string | null; readonly text: string | null; readonly type: string | null })[] | null
    readonly email: string | null
    readonly phone: string | null
    readonly url: string | null
    readonly additional_urls: readonly string[] | null
    readonly vat_number: string | null
    readonly registration_date: string | null
    readonly signatory: string | null
    readonly previous_names: readonly string[] | null
    readonly has_reported_missing_ubo: boolean | null
    readonly has_foreign_ultimate_parent: boolean | null
    readonly has_group_structure: boolean | null
    readonly keywords: readonly string[] | null
    readonly private_equity_owner: string | null
    readonly website_summary: string | null
    readonly ultimate_parent_org_no: string | null
    readonly ultimate_parent_company_name: string | null
    readonly enhanced_url: string | null
    readonly enhanced_additional_urls: readonly string[] | null
    readonly local_currency_code: string | null
    readonly current_currency_code: string | null
    readonly financial_figure_scale: string | null
    readonly fiscal_year_length: number | bigint | null
    readonly last_fiscal_year_end: string | null
    readonly last_report_quarter: string | null
    readonly beneficial_owner_updated_at: string | null
    readonly company_info_updated_at: string | null
    readonly financials_updated_at: string | null
    readonly secondary_financials_updated_at: string | null
    readonly key_people_updated_at: string | null
    readonly owners_updated_at: string | null
    readonly content_updated_at: string | null
    readonly relations_updated_at: string | null
    readonly generated_at: string | null
    readonly linkedin: { readonly name: string | null; readonly description: string | null; readonly industry: string | null; readonly classification: string | null; readonly classification_code: string | null; readonly company_type: string | null; readonly company_founded: string | null; readonly company_website: string | null; readonly country: string | null; readonly addresses: readonly string[] | null; readonly number_of_employees: number | bigint | null; readonly size_range: string | null; readonly followers: number | bigint | null; readonly keywords: readonly string[] | null; readonly source_url: string | null } | null
    readonly score: number | null
    readonly as_reported: string | null
    readonly extra: string | null
  }
  readonly companies_history: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly org_no: string | null
    readonly country_code: string | null
    readonly company_type: number | bigint | null
    readonly company_type_name: string | null
    readonly operational_status: number | bigint | null
    readonly operational_status_name: string | null
    readonly legal_form: number | bigint | null
    readonly legal_form_name: string | null
    readonly listing_type: string | null
    readonly address_street: string | null
    readonly address_zipcode: string | null
    readonly address_city: string | null
    readonly address_county: string | null
    readonly address_muncipality: string | null
    readonly business_description_eng: string | null
    readonly business_description_original: string | null
    readonly industry_codes: readonly ({ readonly code: string | null; readonly text: string | null; readonly type: string | null })[] | null
    readonly weighted_group_industry_codes: readonly ({ readonly code: string | null; readonly text: string | null; readonly type: string | null })[] | null
    readonly email: string | null
    readonly phone: string | null
    readonly url: string | null
    readonly additional_urls: readonly string[] | null
    readonly vat_number: string | null
    readonly registration_date: string | null
    readonly signatory: string | null
    readonly previous_names: readonly string[] | null
    readonly has_reported_missing_ubo: boolean | null
    readonly has_foreign_ultimate_parent: boolean | null
    readonly has_group_structure: boolean | null
    readonly keywords: readonly string[] | null
    readonly private_equity_owner: string | null
    readonly website_summary: string | null
    readonly ultimate_parent_org_no: string | null
    readonly ultimate_parent_company_name: string | null
    readonly enhanced_url: string | null
    readonly enhanced_additional_urls: readonly string[] | null
    readonly local_currency_code: string | null
    readonly current_currency_code: string | null
    readonly financial_figure_scale: string | null
    readonly fiscal_year_length: number | bigint | null
    readonly last_fiscal_year_end: string | null
    readonly last_report_quarter: string | null
    readonly beneficial_owner_updated_at: string | null
    readonly company_info_updated_at: string | null
    readonly financials_updated_at: string | null
    readonly secondary_financials_updated_at: string | null
    readonly key_people_updated_at: string | null
    readonly owners_updated_at: string | null
    readonly content_updated_at: string | null
    readonly relations_updated_at: string | null
    readonly generated_at: string | null
    readonly linkedin: { readonly name: string | null; readonly description: string | null; readonly industry: string | null; readonly classification: string | null; readonly classification_code: string | null; readonly company_type: string | null; readonly company_founded: string | null; readonly company_website: string | null; readonly country: string | null; readonly addresses: readonly string[] | null; readonly number_of_employees: number | bigint | null; readonly size_range: string | null; readonly followers: number | bigint | null; readonly keywords: readonly string[] | null; readonly source_url: string | null } | null
    readonly score: number | null
    readonly as_reported: string | null
    readonly extra: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly company_changes: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly column_name: string | null
    readonly old_value: string | null
    readonly new_value: string | null
    readonly as_of: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly company_industries: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly is_group: boolean | null
    readonly position: number | bigint | null
    readonly type: string | null
    readonly code: string | null
    readonly text: string | null
    readonly section: string | null
    readonly division: string | null
  }
  readonly company_names: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
  }
  readonly company_profiles: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly org_no: string | null
    readonly previous_names: readonly string[] | null
    readonly status: string | null
    readonly legal_form: string | null
    readonly company_type: string | null
    readonly listing_type: string | null
    readonly city: string | null
    readonly url: string | null
    readonly industry_code: string | null
    readonly industry: string | null
    readonly ultimate_parent_name: string | null
    readonly currency: string | null
    readonly registration_date: string | null
    readonly registration_date_text: string | null
    readonly last_fiscal_year_end: string | null
  }
  readonly company_sector: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly type: string | null
    readonly code: string | null
    readonly text: string | null
    readonly section: string | null
    readonly division: string | null
  }
  readonly coverage: {
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly category: string | null
    readonly line_item: string | null
    readonly companies: number | bigint | null
    readonly share: number | null
  }
  readonly drift: {
    readonly run: string | null
    readonly content: string | null
    readonly partition: string | null
    readonly kind: string | null
    readonly name: string | null
    readonly records: number | bigint | null
  }
  readonly employees: {
    readonly internal_id: number | bigint
    readonly country_code: string | null
    readonly consolidation: string
    readonly fiscal_year: number
    readonly employees: number | null
    readonly is_preferred: boolean | null
  }
  readonly employees_history: {
    readonly internal_id: number | bigint | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly employees: number | null
    readonly is_preferred: boolean | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly figure_changes: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly category: string | null
    readonly line_item: string | null
    readonly value: number | null
    readonly previous_value: number | null
    readonly growth: number | null
    readonly currency: string | null
    readonly months: number | null
    readonly previous_months: number | null
    readonly per_12_months: number | null
    readonly previous_per_12_months: number | null
    readonly reason: string | null
    readonly is_preferred: boolean | null
  }
  readonly figures: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly category: string | null
    readonly line_item: string | null
    readonly value: number | null
    readonly currency: string | null
    readonly consolidation: string | null
    readonly months: number | null
  }
  readonly financials: {
    readonly internal_id: number | bigint
    readonly country_code: string | null
    readonly consolidation: string
    readonly category: string
    readonly line_item: string
    readonly fiscal_year: number
    readonly value: number | null
    readonly currency: string | null
    readonly reported: number | null
    readonly months: number | null
    readonly is_preferred: boolean | null
  }
  readonly financials_history: {
    readonly internal_id: number | bigint | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly category: string | null
    readonly line_item: string | null
    readonly fiscal_year: number | null
    readonly value: number | null
    readonly currency: string | null
    readonly reported: number | null
    readonly months: number | null
    readonly is_preferred: boolean | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly financials_wide: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly currency: string | null
    readonly months: number | null
    readonly is_preferred: boolean | null
    readonly AccountsPayable: number | null
    readonly AccountReceivables: number | null
    readonly CashEquivalents: number | null
    readonly CurrentFinancialAssets: number | null
    readonly CurrentFinancialLiabilities: number | null
    readonly GoodwillAndIntangibleAssets: number | null
    readonly Inventories: number | null
    readonly MinorityInterest: number | null
    readonly NonCurrentFinancialLiabilities: number | null
    readonly NonCurrentFinancialReceivables: number | null
    readonly OtherCurrentOperatingAssets: number | null
    readonly OtherCurrentOperatingLiabilities: number | null
    readonly OtherNonCurrentOperatingAssets: number | null
    readonly OtherNonCurrentOperatingLiabilities: number | null
    readonly PostEmployeeLiabilities: number | null
    readonly ProfitAndLossAccount: number | null
    readonly PropertyPlantAndEquipment: number | null
    readonly ShareCapital: number | null
    readonly ShareholderEquity: number | null
    readonly TotalAssets: number | null
    readonly TotalCurrentAssets: number | null
    readonly TotalCurrentLiabilities: number | null
    readonly TotalEquity: number | null
    readonly TotalNonCurrentAssets: number | null
    readonly AdministrativeExpenses: number | null
    readonly Amortisation: number | null
    readonly CostOfSales: number | null
    readonly Depreciation: number | null
    readonly DepreciationAmortisation: number | null
    readonly EBIT: number | null
    readonly EBITA: number | null
    readonly EBITD: number | null
    readonly EBITDA: number | null
    readonly FinancialExpenses: number | null
    readonly FinancialIncome: number | null
    readonly GrossProfit: number | null
    readonly NetFinancialIncomeOrExpenses: number | null
    readonly NetProfit: number | null
    readonly NetSales: number | null
    readonly OtherExternalExpenses: number | null
    readonly PersonelExpenses: number | null
    readonly PreTaxProfit: number | null
    readonly RawMaterialsAndConsumables: number | null
    readonly SellingExpenses: number | null
    readonly TotalRevenue: number | null
    readonly CashFlowBeforeFinancialActivites: number | null
    readonly CashflowOperating: number | null
    readonly NetChangeInCash: number | null
    readonly Cagr3YearsNetSales: number | null
    readonly Cagr5YearsNetSales: number | null
    readonly Cagr3YearsEBIT: number | null
    readonly Cagr5YearsEBIT: number | null
    readonly Cagr3YearsGrossProfit: number | null
    readonly Cagr5YearsGrossProfit: number | null
    readonly Cagr3YearsEBITDA: number | null
    readonly Cagr5YearsEBITDA: number | null
    readonly Cagr3YearsNumberOfEmployees: number | null
    readonly Cagr5YearsNumberOfEmployees: number | null
    readonly Cagr3YearsTotalAssets: number | null
    readonly Cagr5YearsTotalAssets: number | null
    readonly Cagr3YearsTotalCurrentAssets: number | null
    readonly Cagr5YearsTotalCurrentAssets: number | null
    readonly Dividends: number | null
    readonly DPS: number | null
    readonly EV: number | null
    readonly EBITDAGrowth: number | null
    readonly EBITDAMargin: number | null
    readonly EBITGrowth: number | null
    readonly EBITMargin: number | null
    readonly EmployeeGrowth: number | null
    readonly EPS: number | null
    readonly EVToEBIT: number | null
    readonly EVToEBITDA: number | null
    readonly EVToNetSales: number | null
    readonly EquityRatio: number | null
    readonly GrossProfitGrowth: number | null
    readonly GrossProfitMargin: number | null
    readonly MarketCap: number | null
    readonly NetCapex: number | null
    readonly NetDebt: number | null
    readonly NetDebtToEquity: number | null
    readonly NetDebtToEBIT: number | null
    readonly NetDebtToEBITDA: number | null
    readonly NetProfitGrowth: number | null
    readonly NetProfitMargin: number | null
    readonly NetSalesGrowth: number | null
    readonly PE: number | null
    readonly PreTaxProfitMargin: number | null
    readonly PriceToBookValue: number | null
    readonly RetainedEarnings: number | null
    readonly ReturnOnEquity: number | null
    readonly RRK: number | null
    readonly UltimateParentDeprAmo: number | null
    readonly UltimateParentEBIT: number | null
    readonly UltimateParentEBITDA: number | null
    readonly UltimateParentNetSales: number | null
    readonly ChargesOutstanding: number | null
    readonly FiscalYearEndMonth: number | null
    readonly FiscalYearLength: number | null
    readonly ShareIssuePriceEarnings: number | null
    readonly ShareIssuePriceEquity: number | null
    readonly ShareIssuePriceSales: number | null
    readonly TotalCharges: number | null
    readonly TotalShareIssueAmount: number | null
  }
  readonly first_reported: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly category: string | null
    readonly line_item: string | null
    readonly fiscal_year: number | null
    readonly first_value: number | null
    readonly first_currency: string | null
    readonly first_as_of: string | null
    readonly newest_value: number | null
    readonly newest_currency: string | null
    readonly percent: number | null
    readonly is_current: boolean | null
  }
  readonly groups: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
  }
  readonly growth_of_main_items: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly category: string | null
    readonly line_item: string | null
    readonly value: number | null
    readonly previous_value: number | null
    readonly growth: number | null
    readonly currency: string | null
    readonly months: number | null
    readonly previous_months: number | null
    readonly per_12_months: number | null
    readonly previous_per_12_months: number | null
    readonly reason: string | null
  }
  readonly headcounts: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly employees: number | bigint | null
    readonly employees_exact: number | null
  }
  readonly history_begins: {
    readonly content: string | null
    readonly is_compacted: boolean | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly merged_loads: number | bigint | null
  }
  readonly latest_figures: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly category: string | null
    readonly line_item: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly value: number | null
    readonly currency: string | null
    readonly months: number | null
    readonly per_12_months: number | null
  }
  readonly latest_headcounts: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly employees: number | bigint | null
    readonly employees_exact: number | null
  }
  readonly line_item_names: {
    readonly category: string | null
    readonly line_item: string | null
    readonly name: string | null
    readonly unit: string | null
    readonly kind: string | null
    readonly position: number | null
  }
  readonly line_items: {
    readonly line_item: string
    readonly category: string
    readonly unit: string | null
    readonly scaled: boolean | null
    readonly kind: string | null
  }
  readonly line_items_history: {
    readonly line_item: string | null
    readonly category: string | null
    readonly unit: string | null
    readonly scaled: boolean | null
    readonly kind: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly listings: {
    readonly internal_id: number | bigint
    readonly service: string | null
    readonly search: string | null
    readonly seen: string | null
    readonly gone_since: string | null
  }
  readonly load_changes: {
    readonly run: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly companies: number | bigint | null
    readonly added: number | bigint | null
    readonly restated: number | bigint | null
    readonly changed: number | bigint | null
    readonly unchanged: number | bigint | null
    readonly older: number | bigint | null
  }
  readonly load_companies: {
    readonly run: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly change: string | null
  }
  readonly missing_years: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly fiscal_year: number | null
    readonly first_year: number | null
    readonly last_year: number | null
  }
  readonly owner_holdings: {
    readonly owner_id: number | bigint | null
    readonly owned_id: number | bigint | null
    readonly min_stake: number | null
    readonly max_stake: number | null
    readonly is_stated: boolean | null
    readonly records: number | bigint | null
  }
  readonly owner_names: {
    readonly owner_id: number | bigint | null
    readonly owner_name: string | null
  }
  readonly owners_current: {
    readonly kind: string | null
    readonly owner_id: number | bigint | null
    readonly owned_id: number | bigint | null
    readonly stake: number | null
    readonly min_stake: number | null
    readonly max_stake: number | null
    readonly share_class: string | null
    readonly since: string | null
    readonly reported_by_id: number | bigint | null
  }
  readonly owners_stated: {
    readonly owner_id: number | bigint | null
    readonly owned_id: number | bigint | null
    readonly kind: string | null
    readonly by_owned: boolean | null
    readonly stake: number | null
    readonly min_stake: number | null
    readonly max_stake: number | null
    readonly share_class: string | null
    readonly since: string | null
    readonly reported_by_id: number | bigint | null
  }
  readonly ownerships: {
    readonly company_id: number | bigint
    readonly entity_no: number | bigint
    readonly no: number | bigint
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly kind: string | null
    readonly ownership_stake: number | null
    readonly min_ownership_stake: number | null
    readonly max_ownership_stake: number | null
    readonly number_of_shares: number | null
    readonly number_of_votes: number | null
    readonly min_votes: number | null
    readonly max_votes: number | null
    readonly share_class: string | null
    readonly protocol_date: string | null
    readonly in_date: string | null
    readonly out_date: string | null
    readonly updated_at: string | null
    readonly case_no: string | null
    readonly registration_id: string | null
    readonly status_code: string | null
    readonly suspicion_date: string | null
    readonly suspicion_level: string | null
    readonly suspicion_case_no: string | null
    readonly suspicion_issue_id: string | null
    readonly proxy_company_registration_number: string | null
    readonly proxy_company_name: string | null
    readonly text: string | null
    readonly as_reported: string | null
  }
  readonly ownerships_history: {
    readonly company_id: number | bigint | null
    readonly entity_no: number | bigint | null
    readonly no: number | bigint | null
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly kind: string | null
    readonly ownership_stake: number | null
    readonly min_ownership_stake: number | null
    readonly max_ownership_stake: number | null
    readonly number_of_shares: number | null
    readonly number_of_votes: number | null
    readonly min_votes: number | null
    readonly max_votes: number | null
    readonly share_class: string | null
    readonly protocol_date: string | null
    readonly in_date: string | null
    readonly out_date: string | null
    readonly updated_at: string | null
    readonly case_no: string | null
    readonly registration_id: string | null
    readonly status_code: string | null
    readonly suspicion_date: string | null
    readonly suspicion_level: string | null
    readonly suspicion_case_no: string | null
    readonly suspicion_issue_id: string | null
    readonly proxy_company_registration_number: string | null
    readonly proxy_company_name: string | null
    readonly text: string | null
    readonly as_reported: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly partitions: {
    readonly partition: string | null
    readonly run: string | null
    readonly content: string | null
    readonly is_merged: boolean | null
    readonly lines: number | bigint | null
    readonly records: number | bigint | null
    readonly quarantined: number | bigint | null
    readonly filtered: number | bigint | null
    readonly rows: number | bigint | null
    readonly files: number | null
    readonly bytes: number | bigint | null
    readonly requested_from: string | null
    readonly requested_to: string | null
    readonly seen_from: string | null
    readonly seen_to: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
  }
  readonly people: {
    readonly person_id: number | bigint | null
    readonly person_name: string | null
    readonly birth_year: number | null
    readonly national_id: string | null
    readonly country_code: string | null
    readonly is_protected: boolean | null
    readonly companies: number | bigint | null
  }
  readonly pulls: {
    readonly run: string | null
    readonly content: string | null
    readonly service: string | null
    readonly search: string | null
    readonly currency: string | null
    readonly field: string | null
    readonly requested_from: string | null
    readonly requested_to: string | null
    readonly as_of: string | null
    readonly announced: number | bigint | null
    readonly planned: number | bigint | null
    readonly received: number | bigint | null
    readonly gap_left: number | bigint | null
  }
  readonly quality_balance: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_currency: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_cycles: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_duplicates: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_findings: {
    readonly rule: string | null
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_future: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_gaps: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_scale: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quality_stakes: {
    readonly severity: string | null
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly item: string | null
    readonly value: number | null
    readonly expected: number | null
  }
  readonly quarantine: {
    readonly partition: string
    readonly source: string
    readonly content: string | null
    readonly line: number | bigint
    readonly byte_offset: number | bigint | null
    readonly size_bytes: number | bigint | null
    readonly code: string | null
    readonly reason: string | null
    readonly raw: string | null
    readonly raw_base64: string | null
  }
  readonly quarantine_by_load: {
    readonly run: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly content: string | null
    readonly source: string | null
    readonly code: string | null
    readonly lines: number | bigint | null
  }
  readonly rates: {
    readonly currency: string | null
    readonly year: number | null
    readonly units_per_usd: number | null
  }
  readonly rates_by_year: {
    readonly currency: string | null
    readonly fiscal_year: number | null
    readonly units_per_usd: number | null
    readonly rate_year: number | null
  }
  readonly relation_entities: {
    readonly company_id: number | bigint
    readonly entity_no: number | bigint
    readonly parent_no: number | bigint | null
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly depth: number | null
    readonly name: string | null
    readonly first_name: string | null
    readonly last_name: string | null
    readonly org_no: string | null
    readonly birth_date: string | null
    readonly national_identification_number: string | null
    readonly gender: string | null
    readonly citizenships: readonly string[] | null
    readonly country_of_residences: readonly string[] | null
    readonly addresses: readonly ({ readonly street: string | null; readonly zip_code: string | null; readonly city: string | null; readonly country_code: string | null })[] | null
    readonly country_code: string | null
    readonly is_company: boolean | null
    readonly is_searchable_entity: boolean | null
    readonly is_protected: boolean | null
    readonly registration_date: string | null
    readonly updated_at: string | null
    readonly masked: string | null
    readonly empty_lists: readonly string[] | null
    readonly as_reported: string | null
  }
  readonly relation_entities_history: {
    readonly company_id: number | bigint | null
    readonly entity_no: number | bigint | null
    readonly parent_no: number | bigint | null
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly depth: number | null
    readonly name: string | null
    readonly first_name: string | null
    readonly last_name: string | null
    readonly org_no: string | null
    readonly birth_date: string | null
    readonly national_identification_number: string | null
    readonly gender: string | null
    readonly citizenships: readonly string[] | null
    readonly country_of_residences: readonly string[] | null
    readonly addresses: readonly ({ readonly street: string | null; readonly zip_code: string | null; readonly city: string | null; readonly country_code: string | null })[] | null
    readonly country_code: string | null
    readonly is_company: boolean | null
    readonly is_searchable_entity: boolean | null
    readonly is_protected: boolean | null
    readonly registration_date: string | null
    readonly updated_at: string | null
    readonly masked: string | null
    readonly empty_lists: readonly string[] | null
    readonly as_reported: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly relations: {
    readonly internal_id: number | bigint
    readonly name: string | null
    readonly org_no: string | null
    readonly country_code: string | null
    readonly legal_form: number | bigint | null
    readonly legal_form_name: string | null
    readonly operational_status: number | bigint | null
    readonly operational_status_name: string | null
    readonly total_number_of_shares: number | null
    readonly total_number_of_votes: number | null
    readonly ubo_has_reported_missing_ubo: boolean | null
    readonly ubo_case_no: string | null
    readonly ubo_registration_id: string | null
    readonly ubo_status: string | null
    readonly ubo_suspicion_level: string | null
    readonly ubo_suspicion_date: string | null
    readonly ubo_suspicion_case_no: string | null
    readonly ubo_is_ubo_excluded: boolean | null
    readonly empty_lists: readonly string[] | null
    readonly extra: string | null
  }
  readonly relations_history: {
    readonly internal_id: number | bigint | null
    readonly name: string | null
    readonly org_no: string | null
    readonly country_code: string | null
    readonly legal_form: number | bigint | null
    readonly legal_form_name: string | null
    readonly operational_status: number | bigint | null
    readonly operational_status_name: string | null
    readonly total_number_of_shares: number | null
    readonly total_number_of_votes: number | null
    readonly ubo_has_reported_missing_ubo: boolean | null
    readonly ubo_case_no: string | null
    readonly ubo_registration_id: string | null
    readonly ubo_status: string | null
    readonly ubo_suspicion_level: string | null
    readonly ubo_suspicion_date: string | null
    readonly ubo_suspicion_case_no: string | null
    readonly ubo_is_ubo_excluded: boolean | null
    readonly empty_lists: readonly string[] | null
    readonly extra: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly restatements: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly consolidation: string | null
    readonly category: string | null
    readonly line_item: string | null
    readonly fiscal_year: number | null
    readonly old_value: number | null
    readonly new_value: number | null
    readonly percent: number | null
    readonly old_currency: string | null
    readonly new_currency: string | null
    readonly as_of: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly roles: {
    readonly company_id: number | bigint
    readonly entity_no: number | bigint
    readonly no: number | bigint
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly id: number | bigint | null
    readonly text: string | null
    readonly category: string | null
    readonly in_date: string | null
    readonly out_date: string | null
    readonly updated_at: string | null
    readonly as_reported: string | null
  }
  readonly roles_history: {
    readonly company_id: number | bigint | null
    readonly entity_no: number | bigint | null
    readonly no: number | bigint | null
    readonly direction: string | null
    readonly entity_id: number | bigint | null
    readonly is_history: boolean | null
    readonly id: number | bigint | null
    readonly text: string | null
    readonly category: string | null
    readonly in_date: string | null
    readonly out_date: string | null
    readonly updated_at: string | null
    readonly as_reported: string | null
    readonly snapshot: number | null
    readonly run: string | null
    readonly loaded_at: string | null
    readonly as_of: string | null
    readonly version: number | bigint | null
    readonly until: number | bigint | null
    readonly until_as_of: string | null
    readonly shown_from: string | null
    readonly shown_until: string | null
    readonly known_since: string | null
    readonly is_current: boolean | null
  }
  readonly runs: {
    readonly run: string | null
    readonly snapshot: number | null
    readonly loaded_at: string | null
    readonly partitions: number | bigint | null
    readonly lines: number | bigint | null
    readonly records: number | bigint | null
    readonly quarantined: number | bigint | null
    readonly filtered: number | bigint | null
    readonly rows: number | bigint | null
    readonly bytes: number | bigint | null
  }
  readonly snapshots: {
    readonly snapshot: number | null
    readonly parent: number | null
    readonly run: string | null
    readonly pipeline: string | null
    readonly tool: string | null
    readonly committed_at: string | null
  }
  readonly sources: {
    readonly run: string | null
    readonly content: string | null
    readonly partition: string | null
    readonly kind: string | null
    readonly name: string | null
    readonly bytes: number | bigint | null
    readonly sha256: string | null
    readonly block: number | null
    readonly is_last: boolean | null
    readonly lines: number | bigint | null
    readonly records: number | bigint | null
    readonly quarantined: number | bigint | null
    readonly filtered: number | bigint | null
    readonly service: string | null
    readonly currency: string | null
    readonly announced: number | bigint | null
    readonly received: number | bigint | null
  }
  readonly statements: {
    readonly internal_id: number | bigint | null
    readonly company_name: string | null
    readonly country_code: string | null
    readonly fiscal_year: number | null
    readonly consolidation: string | null
    readonly currency: string | null
    readonly months: number | null
    readonly figures: number | bigint | null
    readonly is_preferred: boolean | null
  }
}
