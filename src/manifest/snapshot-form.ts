/** Checks data read from disk against the forms of `core/partition.ts`. Fields that are not known are let through. */

import { CONTENT } from '../contract/objects.ts'
import type {
  BatchEntry,
  Counts,
  DateRange,
  Drift,
  FileEntry,
  PartitionEntry,
  PullEntry,
  Snapshot,
  SourceEntry,
  WindowEntry,
} from '../core/partition.ts'
import { isDataPath } from '../lake/lake/layout.ts'

/** Gives the place of the first misfit, or `null`. */
type Check = (value: unknown, at: string) => string | null

const test =
  (fits: (value: unknown) => boolean): Check =>
  (value, at) =>
    fits(value) ? null : at

const text = test((value) => typeof value === 'string')
const count = test((value) => Number.isSafeInteger(value) && Number(value) >= 0)
const yesNo = test((value) => typeof value === 'boolean')
const hash = test((value) => typeof value === 'string' && /^[0-9a-f]{64}$/.test(value))
const oneOf = (...values: unknown[]): Check => test((value) => values.includes(value))
const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value)

const firstOf = (misfits: Iterable<string | null>): string | null => {
  for (const one of misfits) if (one !== null) return one
  return null
}

const fields =
  <T>(checks: { readonly [K in keyof Required<T>]: Check }): Check =>
  (value, at) =>
    isObject(value)
      ? firstOf(
          Object.entries<Check>(checks).map(([name, check]) =>
            check(Object.hasOwn(value, name) ? value[name] : undefined, `${at}.${name}`),
          ),
        )
      : at
const list =
  (check: Check): Check =>
  (value, at) =>
    Array.isArray(value) ? firstOf(value.map((one, index) => check(one, `${at}.${index}`))) : at
const valuesOf =
  (check: Check): Check =>
  (value, at) =>
    isObject(value) ? firstOf(Object.entries(value).map(([name, one]) => check(one, `${at}.${name}`))) : at
const orNull =
  (check: Check): Check =>
  (value, at) =>
    value === null ? null : check(value, at)
const optional =
  (check: Check): Check =>
  (value, at) =>
    value === undefined ? null : check(value, at)
const FILE_CHECKS = {
  table: text,
  path: test((value) => typeof value === 'string' && isDataPath(value)),
  rows: count,
  bytes: count,
  sha256: hash,
}
const FILE = fields<FileEntry>(FILE_CHECKS)

const search = valuesOf(list(test((value) => typeof value === 'string' || typeof value === 'number')))

const PARTITION = fields<PartitionEntry>({
  id: text,
  run: text,
  content: oneOf(...Object.keys(CONTENT)),
  source: fields<SourceEntry>({
    kind: oneOf('file', 'stdin', 'quarantine', 'search', 'batch', 'compaction'),
    name: text,
    bytes: count,
    sha256: hash,
    block: count,
    firstLine: count,
    offset: count,
    last: yesNo,
    window: optional(
      fields<WindowEntry>({
        service: text,
        search,
        currency: optional(text),
        announced: count,
        received: count,
        pages: count,
      }),
    ),
    batch: optional(
      fields<BatchEntry>({ service: text, id: text, etag: optional(text), announced: optional(count) }),
    ),
  }),
  range: fields<DateRange>({
    field: oneOf('ContentUpdatedAt', 'UpdatedAt'),
    requested: orNull(
      fields<NonNullable<DateRange['requested']>>({ from: optional(text), to: optional(text) }),
    ),
    observed: orNull(fields<NonNullable<DateRange['observed']>>({ least: text, greatest: text })),
  }),
  counts: fields<Counts>({ lines: count, records: count, quarantined: count, rows: valuesOf(count) }),
  files: list(FILE),
  drift: list(
    fields<Drift>({
      kind: oneOf('field', 'category', 'line-item', 'code', 'more'),
      name: text,
      records: count,
      names: optional(count),
    }),
  ),
})

/** The format of snapshots that this release writes; it reads no later one. */
export const FORMAT = 1

const SNAPSHOT = fields<Snapshot>({
  format: oneOf(FORMAT),
  snapshot: count,
  parent: orNull(count),
  run: text,
  pipeline: text,
  tool: text,
  time: text,
  partitions: list(PARTITION),
  files: list(fields<Snapshot['files'][number]>({ ...FILE_CHECKS, run: text })),
  merged: optional(list(PARTITION)),
  pulls: optional(
    list(
      fields<PullEntry>({
        run: text,
        content: oneOf(...Object.keys(CONTENT)),
        service: text,
        search,
        currency: optional(text),
        field: optional(text),
        from: optional(text),
        to: optional(text),
        asOf: text,
        announced: count,
        planned: count,
        received: count,
        gapLeft: optional(count),
      }),
    ),
  ),
})

/** The field of a would-be snapshot that does not fit (`snapshot.partitions.3.counts.lines`), or `null`. */
export const snapshotMisfit = (value: unknown): string | null => SNAPSHOT(value, 'snapshot')
export const isSnapshot = (value: unknown): value is Snapshot => snapshotMisfit(value) === null
export const isPartitionEntry = (value: unknown): value is PartitionEntry => PARTITION(value, '') === null
