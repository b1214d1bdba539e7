/** Checks data read from disk against the forms of `core/partition.ts`. Fields that are not known are let through. */

import { CONTENT, type Content } from '../../contract/objects.ts'
import type { CheckResult, KeptResult } from '../../core/checks.ts'
import type {
  CheckEntry,
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
  SourceEntry,
} from '../../core/partition.ts'
import { SEARCH, SOURCE_FACTS, SOURCE_KIND_NAMES } from '../../core/source-kinds.ts'
import { isDataPath } from '../../lake/files/layout.ts'
import {
  anyText,
  count,
  type Form,
  finiteNumber,
  form,
  list,
  oneOf,
  optional,
  orNull,
  sha256,
  shapeOf,
  valuesOf,
  yesNo,
} from '../../support/json-form.ts'

export const CONTENT_NAME: Form<Content> = form(
  (value): value is Content => typeof value === 'string' && Object.hasOwn(CONTENT, value),
  'companies or relations',
)
const dataPath: Form<string> = form(
  (value): value is string => typeof value === 'string' && isDataPath(value),
  'a path of a file of the lake',
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
  kind: oneOf(SOURCE_KIND_NAMES),
  name: anyText,
  bytes: count,
  sha256,
  block: count,
  firstLine: count,
  offset: count,
  last: yesNo,
  ...SOURCE_FACTS,
}
const LINE_COUNTS = { lines: count, records: count, quarantined: count, filtered: optional(count) }
export const SOURCE: Form<SourceEntry> = shapeOf<SourceEntry>(SOURCE_CHECKS)
export const SHARED_SOURCE: Form<SharedSource> = shapeOf<SharedSource>({
  ...SOURCE_CHECKS,
  counts: shapeOf<LineCounts>(LINE_COUNTS),
  asOf: optional(anyText),
})

export const REQUESTED = shapeOf<NonNullable<DateRange['requested']>>({
  from: optional(anyText),
  to: optional(anyText),
})
export const MIN_AND_MAX = shapeOf<{ readonly least: string; readonly greatest: string }>({
  least: anyText,
  greatest: anyText,
})

/** The fields that a commit adds to an entry. */
export const COMMITTED_CHECKS = {
  committed: shapeOf<Commit>({ snapshot: count, time: anyText }),
  version: count,
}

export const PARTITION_CHECKS = {
  id: anyText,
  run: anyText,
  content: CONTENT_NAME,
  range: shapeOf<DateRange>({
    field: oneOf(['ContentUpdatedAt', 'UpdatedAt']),
    requested: orNull(REQUESTED),
    observed: orNull(MIN_AND_MAX),
  }),
  counts: shapeOf<Counts>({ ...LINE_COUNTS, rows: valuesOf(count) }),
  older: optional(count),
  olderThan: optional(anyText),
  pastSince: optional(anyText),
  files: list(FILE),
  drift: list(
    shapeOf<Drift>({
      kind: oneOf(['field', 'category', 'line-item', 'code', 'more']),
      name: anyText,
      records: count,
      names: optional(count),
    }),
  ),
}
/** A partition that is not committed yet. */
export const PARTITION: Form<PartitionEntry> = shapeOf<PartitionEntry>({
  ...PARTITION_CHECKS,
  asOf: optional(anyText),
  source: SOURCE,
  sources: optional(list(SHARED_SOURCE)),
})

export const PULL_ENTRY: Form<PullEntry> = shapeOf<PullEntry>({
  run: anyText,
  content: CONTENT_NAME,
  service: anyText,
  search: SEARCH,
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

const CHECK_FIELDS = {
  ...{ name: anyText, expected: anyText, limit: optional(finiteNumber) },
  status: oneOf(['passed', 'failed', 'note'] as const),
  value: orNull(finiteNumber),
}
/** A check and its result. */
export const CHECK_RESULT: Form<CheckResult> = shapeOf<CheckResult>(CHECK_FIELDS)

const KEPT_FIELDS = { ...CHECK_FIELDS, keys: optional(list(anyText)) }
/** The same as it is kept. */
export const KEPT_RESULT: Form<KeptResult> = shapeOf<KeptResult>(KEPT_FIELDS)

export const CHECK_ENTRY: Form<CheckEntry> = shapeOf<CheckEntry>({
  ...{ ...KEPT_FIELDS, run: anyText, snapshot: count, time: anyText },
})

export const RUN_FILE: Form<FileOfRun> = shapeOf<FileOfRun>({
  ...FILE_CHECKS,
  run: anyText,
  ...COMMITTED_CHECKS,
})

export const HEAD_CHECKS = {
  snapshot: count,
  parent: orNull(count),
  run: anyText,
  pipeline: anyText,
  tool: anyText,
  time: anyText,
}
