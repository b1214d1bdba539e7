/** Checks data read from disk against the forms of `core/partition.ts`. Fields that are not known are let through. */

import { CONTENT, type Content } from '../contract/objects.ts'
import type {
  BatchEntry,
  Commit,
  Counts,
  DateRange,
  Drift,
  FileEntry,
  FileOfRun,
  LineCounts,
  PartitionEntry,
  PullEntry,
  SharedSource,
  Snapshot,
  SourceEntry,
  WindowEntry,
} from '../core/partition.ts'
import { isDataPath } from '../lake/lake/layout.ts'
import {
  anyText,
  count,
  type Form,
  fits,
  form,
  list,
  misfitOf,
  oneOf,
  optional,
  orNull,
  sha256,
  shapeOf,
  valuesOf,
  yesNo,
} from '../support/json-form.ts'

export const CONTENT_NAME: Form<Content> = form(
  (value): value is Content => typeof value === 'string' && Object.hasOwn(CONTENT, value),
  'companies or relations',
)
const dataPath: Form<string> = form(
  (value): value is string => typeof value === 'string' && isDataPath(value),
  'a path of a file of the lake',
)
const search = valuesOf(
  list(form((value): value is string | number => ['string', 'number'].includes(typeof value), 'a value')),
)

const FILE_CHECKS = {
  table: anyText,
  path: dataPath,
  rows: count,
  bytes: count,
  sha256,
}
const FILE = shapeOf<FileEntry>(FILE_CHECKS)

const SOURCE_CHECKS = {
  kind: oneOf(['file', 'stdin', 'quarantine', 'search', 'batch', 'compaction', 'listing']),
  name: anyText,
  bytes: count,
  sha256,
  block: count,
  firstLine: count,
  offset: count,
  last: yesNo,
  window: optional(
    shapeOf<WindowEntry>({
      service: anyText,
      search,
      currency: optional(anyText),
      announced: count,
      received: count,
      pages: count,
    }),
  ),
  batch: optional(
    shapeOf<BatchEntry>({
      service: anyText,
      id: anyText,
      etag: optional(anyText),
      announced: optional(count),
    }),
  ),
}
const LINE_COUNTS = { lines: count, records: count, quarantined: count, filtered: optional(count) }
export const SOURCE: Form<SourceEntry> = shapeOf<SourceEntry>(SOURCE_CHECKS)
export const SHARED_SOURCE: Form<SharedSource> = shapeOf<SharedSource>({
  ...SOURCE_CHECKS,
  counts: shapeOf<LineCounts>(LINE_COUNTS),
})

export const REQUESTED = shapeOf<NonNullable<DateRange['requested']>>({
  from: optional(anyText),
  to: optional(anyText),
})
export const LEAST_AND_GREATEST = shapeOf<{ readonly least: string; readonly greatest: string }>({
  least: anyText,
  greatest: anyText,
})

const COMMITTED = optional(shapeOf<Commit>({ snapshot: count, time: anyText }))

export const PARTITION_CHECKS = {
  id: anyText,
  run: anyText,
  content: CONTENT_NAME,
  range: shapeOf<DateRange>({
    field: oneOf(['ContentUpdatedAt', 'UpdatedAt']),
    requested: orNull(REQUESTED),
    observed: orNull(LEAST_AND_GREATEST),
  }),
  counts: shapeOf<Counts>({ ...LINE_COUNTS, rows: valuesOf(count) }),
  files: list(FILE),
  drift: list(
    shapeOf<Drift>({
      kind: oneOf(['field', 'category', 'line-item', 'code', 'more']),
      name: anyText,
      records: count,
      names: optional(count),
    }),
  ),
  committed: COMMITTED,
  version: optional(count),
}
const PARTITION = shapeOf<PartitionEntry>({
  ...PARTITION_CHECKS,
  source: SOURCE,
  sources: optional(list(SHARED_SOURCE)),
})

export const PULL_ENTRY: Form<PullEntry> = shapeOf<PullEntry>({
  run: anyText,
  content: CONTENT_NAME,
  service: anyText,
  search,
  currency: optional(anyText),
  field: optional(anyText),
  from: optional(anyText),
  to: optional(anyText),
  asOf: anyText,
  announced: count,
  planned: count,
  received: count,
  gapLeft: optional(count),
})

export const RUN_FILE: Form<FileOfRun> = shapeOf<FileOfRun>({
  ...FILE_CHECKS,
  run: anyText,
  committed: COMMITTED,
  version: optional(count),
})

/** The format of snapshots that are one text, as earlier releases wrote them. */
export const TEXT_FORMAT = 1

export const HEAD_CHECKS = {
  snapshot: count,
  parent: orNull(count),
  run: anyText,
  pipeline: anyText,
  tool: anyText,
  time: anyText,
}

const SNAPSHOT = shapeOf<Snapshot>({
  format: oneOf([TEXT_FORMAT]),
  ...HEAD_CHECKS,
  partitions: list(PARTITION),
  files: list(RUN_FILE),
  merged: optional(list(PARTITION)),
  pulls: optional(list(PULL_ENTRY)),
})

/** The field of a would-be snapshot that does not fit (`snapshot.partitions[3].counts.lines`), or `null`. */
export const snapshotMisfit = (value: unknown): string | null =>
  misfitOf(SNAPSHOT, value, 'snapshot')?.place ?? null
export const isSnapshot = (value: unknown): value is Snapshot => fits(SNAPSHOT, value)
export const isPartitionEntry = (value: unknown): value is PartitionEntry => fits(PARTITION, value)
