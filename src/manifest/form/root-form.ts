/** Forms of what a snapshot in parts consists of: its root, what it says of parts, and their lines. */

import type { CommittedPartition, SnapshotHead, VersionFile } from '../../core/partition.ts'
import { runOfPart } from '../../lake/files/layout.ts'
import {
  anyText,
  count,
  type FormOf,
  fits,
  form,
  list,
  misfitOf,
  objectOf,
  oneOf,
  optional,
  orNull,
  sha256,
  shapeOf,
  someOf,
} from '../../support/json-form.ts'
import { COMPACTIONS, type WithCompactions } from './compactions.ts'
import {
  COMMITTED_CHECKS,
  CONTENT_NAME,
  HEAD_CHECKS,
  MIN_AND_MAX,
  PARTITION_CHECKS,
  REQUESTED,
  SHARED_SOURCE,
  SOURCE,
} from './entry-form.ts'
import { FORGOTTEN_CHECKS, type Forgotten } from './forgotten.ts'
import { SUMMARY_FORMS } from './part-summary.ts'
import { TAKEN, type WithTaken } from './projections.ts'
import { togetherAs } from './sources.ts'
import type { ContentTotals, TableTotals, Totals } from './totals.ts'
import type { WithVersions } from './version-numbers.ts'

/** A partition as a line of a part. */
const PARTITION_LINE = objectOf({
  ...{ ...PARTITION_CHECKS, ...COMMITTED_CHECKS, asOf: anyText, sources: someOf(SOURCE) },
})
/** The same of several small sources, each with its own counts. */
const SHARED_LINE = objectOf({ sources: someOf(SHARED_SOURCE) })

export const partitionToLine = ({
  id,
  run,
  content,
  source,
  sources,
  ...rest
}: CommittedPartition): object => ({
  ...{ id, run, content, sources: sources ?? [source] },
  ...rest,
})

/** @throws {FormError} */
export const lineToPartition = (value: unknown): CommittedPartition => {
  const { sources, ...rest } = PARTITION_LINE(value, '')
  const [source] = sources
  if (source !== undefined && sources.length === 1) return { ...rest, source }
  const shared = SHARED_LINE(value, '').sources
  return { ...rest, source: togetherAs(shared), sources: shared }
}

/** Facts of a part that are known without opening it; a part of level 0 holds entries, of level 1 such parts, and so on. */
const PART_NAME = form(
  (value): value is string => typeof value === 'string' && runOfPart(value) !== null,
  'a part',
)
export const PART_REF = objectOf({
  name: PART_NAME,
  level: count,
  bytes: count,
  sha256,
  ...SUMMARY_FORMS,
})
export type PartRef = FormOf<typeof PART_REF>

const TOTALS = shapeOf<Totals>({
  runs: count,
  contents: list(
    shapeOf<ContentTotals>({
      content: CONTENT_NAME,
      partitions: count,
      sources: count,
      sourceBytes: count,
      lines: count,
      records: count,
      quarantined: count,
      filtered: optional(count),
      requested: orNull(REQUESTED),
      observed: orNull(MIN_AND_MAX),
    }),
  ),
  tables: list(shapeOf<TableTotals>({ table: anyText, files: count, rows: count, bytes: count })),
})

/** The format that is written and read. A commit drops no field of the root before. */
export const FORMAT = 7

/**
 * The file of a snapshot. A field that is added later is optional, here, in `ROOT` and in `SnapshotRoot`:
 * every commit hands on what the root before has, known or not.
 */
export interface RootDocument extends SnapshotHead, Forgotten, WithTaken, WithVersions, WithCompactions {
  readonly format: typeof FORMAT
  readonly totals: Totals
  readonly partitions: readonly PartRef[]
  readonly files: readonly PartRef[]
  readonly pulls: readonly PartRef[]
  readonly merged: readonly PartRef[]
  readonly checks?: readonly PartRef[] | undefined
  readonly versions: readonly VersionFile[]
  readonly sha256: string
}

/** A file that lists versions of records, as a snapshot names it. */
export const VERSION_FILE = shapeOf<VersionFile>({
  kind: oneOf(['last', 'superseded', 'confirmed']),
  table: anyText,
  name: PART_NAME,
  rows: count,
  records: count,
  bytes: count,
  sha256,
})

const ROOT = shapeOf<RootDocument>({
  format: oneOf([FORMAT]),
  ...HEAD_CHECKS,
  totals: TOTALS,
  ...FORGOTTEN_CHECKS,
  partitions: list(PART_REF),
  files: list(PART_REF),
  pulls: list(PART_REF),
  merged: list(PART_REF),
  checks: optional(list(PART_REF)),
  versions: list(VERSION_FILE),
  taken: optional(TAKEN),
  nextVersion: count,
  compactions: COMPACTIONS,
  sha256,
})

/** The field of a would-be root that does not fit (`snapshot.partitions[3].sha256`), or `null`. */
export const rootMisfit = (value: unknown): string | null => misfitOf(ROOT, value, 'snapshot')?.place ?? null
export const isRoot = (value: unknown): value is RootDocument => fits(ROOT, value)
