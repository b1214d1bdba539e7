/** What firmlake offers to programs, name by name. Everything else may change without notice. */

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
export type { Block, OverlongLine } from './core/block.ts'
export { ERROR_CODES, type ErrorCode, ToolkitError } from './core/errors.ts'
export type {
  Counts,
  DateRange,
  Drift,
  FileEntry,
  PartitionEntry,
  PullEntry,
  Snapshot,
} from './core/partition.ts'
export { REJECT_CODES, type RejectCode } from './core/reject.ts'
export type { DeliverySink, Receipt, Sink, SinkContext, SinkRun } from './core/sink.ts'
export type { Fingerprint, Source } from './core/source.ts'
export type { CopyFormat, CopyReceipt, TableRows as RowRelation } from './core/table-rows.ts'
export { BlockMemory } from './decode/block-memory.ts'
export { type DecodeOptions, decodeBlocks } from './decode/decode-blocks.ts'
export { DECODE_LIMITS } from './decode/decode-limits.ts'
export type { SnapshotsToCompare } from './lake/diff/compare-snapshots.ts'
export {
  type DiffOptions,
  type DiffRows,
  type DiffSummary,
  type LakeDiff,
  openDiff,
} from './lake/diff/open-diff.ts'
export { Engine, type EngineOptions } from './lake/duckdb/engine.ts'
export { type LakeQuery, openLakeQuery, type QueryResult } from './lake/lake/lake-query.ts'
export { inLake } from './lake/lake/layout.ts'
export { QUARANTINE, TABLES, type Table } from './lake/tables/tables.ts'
export { type Loader, openLoader } from './load/loader.ts'
export { type RestoreRequest, restoreRecords } from './load/restore/restore.ts'
export { collectGarbage, type Garbage } from './manifest/collect-garbage.ts'
export type { RunLease } from './manifest/run-lease.ts'
export { readSnapshot } from './manifest/snapshots.ts'
export { type SnapshotSummary, summariseSnapshot } from './manifest/summarise-snapshot.ts'
export { type Verification, verifyLake } from './manifest/verify-lake.ts'
export { compact } from './pipeline/compact/compact.ts'
export type { CompactedTable, CompactOptions, CompactSummary } from './pipeline/compact/compact-work.ts'
export type { CompactEvent } from './pipeline/compact/watch-statement.ts'
export { type ExportOptions, type ExportSummary, exportLake } from './pipeline/export/export-tables.ts'
export { type PulledWindow, type PullRunOptions, type PullSummary, pull } from './pipeline/pull/pull.ts'
export type { PullSettings } from './pipeline/pull/pull-settings.ts'
export { parseSearch } from './pipeline/pull/search.ts'
export { type Resumed, type ResumeFailed, type ResumeOptions, resume } from './pipeline/resume.ts'
export type { LoadSummary } from './pipeline/run/commit-loaded.ts'
export type { CurrencyChange } from './pipeline/run/currency-change.ts'
export { loadIntoLake, type RunOptions } from './pipeline/run/load-into-lake.ts'
export { DEFAULT_MEMORY_BYTES, divideMemory } from './pipeline/run/memory-shares.ts'
export type { OpenedJob } from './pipeline/run/opened-job.ts'
export type { Progress, RunEvent } from './pipeline/run/progress.ts'
export { parseQuarantineLimit, type QuarantineLimit } from './pipeline/run/quarantine-limit.ts'
export type { Job, RunLimits, RunPlan } from './pipeline/run/run-plan.ts'
export { type RunScope, withRun } from './pipeline/run/with-run.ts'
export {
  type DeliverOptions,
  type DeliverProgress,
  type Delivery,
  deliver,
} from './pipeline/targets/deliver.ts'
export { chooseSink, openSinks, readAddress, type TargetAddress } from './pipeline/targets/open-sink.ts'
export {
  type PublishedTable,
  type PublishOptions,
  type PublishProgress,
  type PublishSummary,
  publish,
  publishedFormats,
  TABLE_FORMAT_NAMES,
  type TableFormatName,
} from './pipeline/targets/publish.ts'
export { stagingFolder } from './pipeline/targets/staging-folder.ts'
export type { CatalogOptions } from './publish/iceberg/catalog-client.ts'
export { type ArrowOptions, arrow } from './sink/arrow/arrow-sink.ts'
export { type CsvOptions, csv } from './sink/csv.ts'
export { duckdbFile } from './sink/duckdb-file.ts'
export { jsonLines } from './sink/json-lines.ts'
export { parquet } from './sink/parquet.ts'
export { type ParquetLakeOptions, parquetLake } from './sink/parquet-lake.ts'
export { type PostgresOptions, postgres } from './sink/postgres/postgres.ts'
export { withLoaded } from './sink/with-loaded.ts'
export { localSources } from './source/local-sources.ts'
export { openService, type Service, type ServiceOptions } from './source/service/service.ts'
export { readToken } from './source/service/token.ts'
