/**
 * The public names of firmlake, one by one: jobs, what they load from, where they deliver to, what one's own source or
 * sink is made of, and the interface as data. Everything else may change without notice. See docs/library.md.
 */

// Jobs, each in one call, with what each takes and resolves to.

export type { CheckReport } from './checks/check-snapshot.ts'
export type { CompactSummary } from './compact/compact-work.ts'
export type { CheckResult } from './core/checks.ts'
export type { TableFormatName } from './core/table-formats.ts'
export type { Machine } from './doctor/check-machine.ts'
export type { ServiceUse } from './doctor/check-service.ts'
export type { MachineFinding } from './doctor/finding.ts'
export type { ForgetSummary } from './forget/forget-summary.ts'
export { check } from './jobs/check.ts'
export { compact } from './jobs/compact.ts'
export { convert } from './jobs/convert.ts'
export { type ConvertedTo, convertTo } from './jobs/convert-to.ts'
export type { CopySummary } from './jobs/copy.ts'
export { copy } from './jobs/copy.ts'
export type { CopyProgress } from './jobs/copy-files.ts'
export { type DiffReport, diff, openDiff } from './jobs/diff.ts'
export { discard } from './jobs/discard.ts'
export { type Diagnosis, doctor } from './jobs/doctor.ts'
export { forget } from './jobs/forget.ts'
export { gc } from './jobs/gc.ts'
export { type PullReport, pull } from './jobs/pull.ts'
export { type BatchFilesReport, pullBatchFiles } from './jobs/pull-batch-files.ts'
export { openQuery, query } from './jobs/query.ts'
export { records } from './jobs/records.ts'
export { type ReleasedLoad, release } from './jobs/release.ts'
export { type ReplayReport, replay } from './jobs/replay.ts'
export { report, type WrittenReport } from './jobs/report.ts'
export { type ResumedRun, type ResumeReport, resume } from './jobs/resume.ts'
export { type ProgramWork, runProgram } from './jobs/run-program.ts'
export {
  type CommitRunReport,
  cancelRun,
  commitRun,
  type PlanRunOptions,
  planRun,
  type RunLoad,
  runStatus,
  type WorkRunOptions,
  workRun,
} from './jobs/run-steps.ts'
export { type ServedLake, serve } from './jobs/serve.ts'
export { type SyncReport, sync } from './jobs/sync.ts'
export { verify } from './jobs/verify.ts'
export type { DiffSummary, LakeDiff } from './lake/diff/open-comparison.ts'
export type { Projection } from './lake/projection/projection.ts'
export type { LakeQuery, QueryResult } from './lake/query/lake-query.ts'
export type { QueryRow } from './lake/query/read-rows.ts'
export type { KeepsRecord } from './load/record-filter.ts'
export type { Garbage } from './manifest/gc/remove-garbage.ts'
export type { Verification } from './manifest/verify/verify-lake.ts'
export { nightly } from './nightly/nightly.ts'
export { withTelemetry } from './observe/observe.ts'
export type { DiscardedLoad } from './run/discard-held.ts'
export type { RunReport } from './run/run-report.ts'
export type { Progress, RunEvent } from './run/work/progress.ts'
export type { PlannedRun } from './shared-run/plan-shared-run.ts'
export type { SharedRunStatus } from './shared-run/shared-run.ts'
export type { UnitChoice, UnitOutcome, WorkSummary } from './shared-run/work-shared-run.ts'
export { type Delivery, deliver } from './targets/deliver.ts'
export { type ExportSummary, exportTables } from './targets/export/export-tables.ts'
export { type PublishSummary, publish } from './targets/publish.ts'
export {
  checkTargets,
  readFormats,
  type TargetEvent,
  type TargetsSummary,
  updateTargets,
} from './targets/update-targets.ts'

// The options of jobs, and the rows of a lake.

export type {
  CommitRunOptions,
  CompactOptions,
  ConvertOptions,
  ConvertToOptions,
  CopyOptions,
  DeliverOptions,
  DiffOptions,
  DiscardOptions,
  DoctorOptions,
  Expectations,
  ExportOptions,
  ForgetOptions,
  GcOptions,
  LakeCheckOptions,
  LoadCheck,
  PublishOptions,
  PullBatchFilesOptions,
  PullOptions,
  QueryOptions,
  RecordsOptions,
  ReleaseOptions,
  ReplayOptions,
  ReportOptions,
  ResumeOptions,
  Rows,
  RunStep,
  ServeOptions,
  ServiceOptions,
  SyncOptions,
  UpdateTargetsOptions,
  VerifyOptions,
} from './options/interfaces.ts'

// Sources.

export { parseSearch } from './pull/windows/search.ts'
export { fromRecords, type Records } from './source/from-records.ts'
export {
  type BatchFiles,
  type BatchFilesChoice,
  batchFiles,
  type Files,
  files,
  type Input,
} from './source/inputs.ts'
export { createService, type Service } from './source/service/service.ts'
export { readToken } from './source/service/token.ts'

// Sinks.

export { type ArrowOptions, arrow } from './sink/arrow/arrow-sink.ts'
export { type CsvOptions, csv } from './sink/csv.ts'
export { duckdbFile } from './sink/duckdb-file.ts'
export { jsonLines } from './sink/json-lines.ts'
export { parquet } from './sink/parquet.ts'
export { type PostgresOptions, postgres } from './sink/postgres/postgres.ts'

// The parts of a source or a sink of one's own.

export type {
  CopyFormat,
  CopyReceipt,
  DeliverySink,
  Receipt,
  RowColumn,
  Sink,
  SinkContext,
  SinkRun,
  TableRows,
} from './core/sink.ts'
export type { Fingerprint, Source } from './core/source.ts'
export { withDeliveredRuns } from './sink/delivered-runs.ts'

// Errors, exit codes, and what the environment says.

export { ERROR_CODES, type ErrorCode, ToolkitError } from './core/errors.ts'
export { EXIT, type ExitCode, exitCodeOf, exitCodeOfStep } from './core/exit-codes.ts'
export { REJECT_CODES, type RejectCode } from './core/lines.ts'
export type { CatalogOptions } from './publish/iceberg/catalog-client.ts'
export { catalogFromEnvironment } from './targets/catalog-environment.ts'

// A lake: its tables and its manifest.

export type {
  Counts,
  DateRange,
  Drift,
  FileEntry,
  PartitionEntry,
  PullEntry,
  Snapshot,
} from './core/partition.ts'
export { QUARANTINE, TABLES, type Table } from './lake/tables/tables.ts'
export { readSnapshot } from './manifest/snapshots/snapshots.ts'

// The service's interface as data.

export { CONSOLIDATIONS, DICTIONARIES, FIGURE_SCALE, type FigureScale } from './contract/dictionaries.ts'
export { LIMITS } from './contract/limits.ts'
export { CATEGORIES, LINE_ITEMS, type LineItem, type Unit } from './contract/line-items.ts'
export {
  COMPANY,
  CONTENT,
  type Company,
  type Content,
  RELATIONS_COMPANY,
  type Relation,
  type RelationsCompany,
} from './contract/objects.ts'
export type { SearchInput, SearchParameters } from './contract/requests.ts'
