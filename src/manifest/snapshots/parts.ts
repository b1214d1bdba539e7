/**
 * The lists of a snapshot and the parts that they consist of: what the lines of each are, reading one part, and walking
 * over those that a reader needs. A part is checked against the hash that its root says of it whenever it is read.
 */

import { ToolkitError } from '../../core/errors.ts'
import type { CheckEntry, CommittedPartition, FileOfRun, PullEntry } from '../../core/partition.ts'
import { partPath } from '../../lake/files/layout.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { sha256Of } from '../../support/hash.ts'
import { FormError } from '../../support/json-form.ts'
import { isLaterTool } from '../../support/own-package.ts'
import { CHECK_ENTRY, PULL_ENTRY, RUN_FILE } from '../form/entry-form.ts'
import {
  type PartSummary,
  summaryOfChecks,
  summaryOfFiles,
  summaryOfPartitions,
  summaryOfPulls,
} from '../form/part-summary.ts'
import { lineToPartition, PART_REF, type PartRef, partitionToLine } from '../form/root-form.ts'

/** The lists of a snapshot, and what an entry of each is. */
export interface Lists {
  readonly partitions: CommittedPartition
  readonly files: FileOfRun
  readonly pulls: PullEntry
  readonly merged: CommittedPartition
  readonly checks: CheckEntry
}
export type ListName = keyof Lists

interface ListKind<Entry> {
  readonly summarise: (entries: readonly Entry[]) => PartSummary
  /** How many sources an entry lists. */
  readonly sources: (entry: Entry) => number
  readonly toLine: (entry: Entry) => object
  readonly fromLine: (value: unknown) => Entry
}

const PARTITIONS: ListKind<CommittedPartition> = {
  summarise: summaryOfPartitions,
  sources: ({ sources }) => sources?.length ?? 1,
  toLine: partitionToLine,
  fromLine: lineToPartition,
}

export const LISTS: { readonly [Name in ListName]: ListKind<Lists[Name]> } = {
  partitions: PARTITIONS,
  files: {
    ...{ summarise: summaryOfFiles, sources: () => 0 },
    ...{ toLine: (file) => file, fromLine: (value) => RUN_FILE(value, '') },
  },
  pulls: {
    ...{ summarise: summaryOfPulls, sources: () => 0 },
    ...{ toLine: (pull) => pull, fromLine: (value) => PULL_ENTRY(value, '') },
  },
  merged: PARTITIONS,
  checks: {
    ...{ summarise: summaryOfChecks, sources: () => 0 },
    ...{ toLine: (check) => check, fromLine: (value) => CHECK_ENTRY(value, '') },
  },
}

export const LIST_NAMES = [
  'partitions',
  'files',
  'pulls',
  'merged',
  'checks',
] as const satisfies readonly ListName[]

/** A part of a list, stored in its file. */
export interface Part {
  readonly ref: PartRef
  /** The tool that made the snapshot which lists it: a later release may know more. */
  readonly tool: string
}

export const storedBy =
  (tool: string) =>
  (ref: PartRef): Part => ({ ref, tool })

export const countEntries = (parts: readonly Part[]): number =>
  parts.reduce((sum, { ref }) => sum + ref.entries, 0)

type PartRead =
  | { readonly kind: 'whole'; readonly bytes: Buffer }
  | {
      readonly kind: 'missing' | 'unreadable' | 'cut' | 'changed'
      readonly detail: string
      readonly cause?: unknown
    }

/** The bytes of a part, compared with what is known of it. */
export const readPart = async (
  lake: string,
  { name, bytes, sha256 }: Pick<PartRef, 'name' | 'bytes' | 'sha256'>,
): Promise<PartRead> => {
  let found: Buffer | null
  try {
    found = await storageOf(lake).read(partPath(name))
  } catch (cause) {
    // A bucket that does not answer is no damage.
    if (cause instanceof ToolkitError) throw cause
    return { kind: 'unreadable', detail: 'it is not readable', cause }
  }
  if (found === null) return { kind: 'missing', detail: 'it is missing' }
  if (found.length !== bytes)
    return {
      kind: found.length < bytes ? 'cut' : 'changed',
      detail: `it has ${found.length} bytes, expected ${bytes}`,
    }
  const hash = sha256Of(found)
  return hash === sha256
    ? { kind: 'whole', bytes: found }
    : { kind: 'changed', detail: `its SHA-256 is ${hash}, expected ${sha256}` }
}

const damagedPart = (lake: string, { name }: PartRef, reason: string, cause?: unknown): ToolkitError =>
  new ToolkitError(
    'SNAPSHOT_DAMAGED',
    `Cannot read "${partPath(name)}", a part of a snapshot: ${reason}`,
    { lake, path: partPath(name) },
    cause,
  )

const newerPart = ({ name }: PartRef, tool: string): ToolkitError =>
  new ToolkitError(
    'LAKE_NEWER',
    `Cannot read "${partPath(name)}", a part of a snapshot: made by a later release, needs ${tool} or later`,
    { path: partPath(name), tool },
  )

/** The lines of a part's bytes. @throws {ToolkitError} `SNAPSHOT_DAMAGED` when one does not fit, `LAKE_NEWER` */
export const linesOf = <T>(
  lake: string,
  { ref, tool }: Part,
  bytes: Buffer,
  fromLine: (value: unknown) => T,
): readonly T[] => {
  const lines = bytes.toString('utf8').split('\n').slice(0, -1)
  return lines.map((line, at) => {
    try {
      return fromLine(JSON.parse(line))
    } catch (error) {
      if (error instanceof ToolkitError) throw error
      const place = error instanceof FormError ? ` at "${error.place}"` : ''
      if (isLaterTool(tool)) throw newerPart(ref, tool)
      throw damagedPart(lake, ref, `line ${at + 1} does not fit${place}`, error)
    }
  })
}

const readLines = async <T>(
  lake: string,
  part: Part,
  fromLine: (value: unknown) => T,
): Promise<readonly T[]> => {
  const read = await readPart(lake, part.ref)
  if (read.kind !== 'whole') throw damagedPart(lake, part.ref, read.detail, read.cause)
  return linesOf(lake, part, read.bytes, fromLine)
}

export const refOfLine = (value: unknown): PartRef => PART_REF(value, '')

/** The parts that a part of a higher level lists. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
export const readBelow = async (lake: string, part: Part): Promise<readonly Part[]> =>
  (await readLines(lake, part, refOfLine)).map(storedBy(part.tool))

/** The entries of a part that holds some. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const readEntries = <Name extends ListName>(
  lake: string,
  name: Name,
  part: Part,
): Promise<readonly Lists[Name][]> => readLines<Lists[Name]>(lake, part, LISTS[name].fromLine)

/** Whether a reader needs what a part holds. */
export type PartFilter = (summary: PartSummary) => boolean

/** A part, mostly one that holds entries, and the place of its first one in the list. */
export interface Leaf {
  readonly place: number
  readonly part: Part
}

const PARTS_AT_ONCE = 8

/** Does work for items in their order, a few ahead of whoever asks for the results. */
async function* ahead<Item, Result>(
  items: AsyncIterable<Item>,
  atOnce: number,
  work: (item: Item) => Promise<Result>,
): AsyncGenerator<Result> {
  const begun: Promise<Result>[] = []
  for await (const item of items) {
    const result = work(item)
    // The awaiting caller handles it; this avoids an unhandledRejection meanwhile.
    result.catch(() => undefined)
    begun.push(result)
    const first = begun.length < atOnce ? undefined : begun.shift()
    if (first) yield await first
  }
  for (const result of begun) yield await result
}

async function* inOrder<Item>(items: Iterable<Item>): AsyncGenerator<Item> {
  yield* items
}

/** Parts of a list with the place of each one's first entry. */
export const placesOf = (parts: readonly Part[], from: number): Leaf[] => {
  let place = from
  return parts.map((part) => {
    const own = { part, place }
    place += part.ref.entries
    return own
  })
}

/** The parts with entries below some parts, in the order of the list; a part that does not pass the filter is not opened. */
export async function* leavesOf(
  lake: string,
  parts: readonly Part[],
  filter: PartFilter,
  from = 0,
): AsyncGenerator<Leaf> {
  const needed = placesOf(parts, from).filter(({ part }) => filter(part.ref))
  const opened = ahead(inOrder(needed), PARTS_AT_ONCE, async ({ part, place }) => ({
    part,
    place,
    below: part.ref.level > 0 ? await readBelow(lake, part) : null,
  }))
  for await (const { part, place, below } of opened) {
    if (below === null) yield { part, place }
    else yield* leavesOf(lake, below, filter, place)
  }
}

/** Entries that stand beside each other, and the place of the first one in the list. */
export interface Entries<Entry> {
  readonly place: number
  readonly entries: readonly Entry[]
}

const ENTRIES_AT_ONCE = 2

/** The entries of the parts that pass the filter, part by part. @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const entriesOf = <Name extends ListName>(
  lake: string,
  name: Name,
  parts: readonly Part[],
  filter: PartFilter = () => true,
): AsyncGenerator<Entries<Lists[Name]>> =>
  ahead(leavesOf(lake, parts, filter), ENTRIES_AT_ONCE, async ({ place, part }) => ({
    place,
    entries: await readEntries(lake, name, part),
  }))

const isSame = (a: Leaf, b: Leaf): boolean =>
  a.place === b.place && a.part.ref.name === b.part.ref.name && a.part.ref.sha256 === b.part.ref.sha256

const levelOf = ({ part }: Leaf): number => part.ref.level

/** Whether the first of one list comes before the first of the other, and of two at one place the longer one. */
const isFirst = (one: Leaf, other: Leaf | undefined): boolean =>
  other === undefined ||
  one.place < other.place ||
  (one.place === other.place && levelOf(one) >= levelOf(other))

/** Parts with entries that only one of two lists has at their places. */
interface PartDifference {
  readonly before: readonly Leaf[]
  readonly after: readonly Leaf[]
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const differingParts = async (
  lake: string,
  before: readonly Part[],
  after: readonly Part[],
): Promise<PartDifference> => {
  const a = { left: placesOf(before, 0), only: [] as Leaf[] }
  const b = { left: placesOf(after, 0), only: [] as Leaf[] }
  for (;;) {
    const [first, second] = [a.left[0], b.left[0]]
    if (!first && !second) return { before: a.only, after: b.only }
    if (first && second && isSame(first, second)) {
      a.left.shift()
      b.left.shift()
      continue
    }
    const side = first && isFirst(first, second) ? a : b
    const taken = side.left.shift()
    if (!taken) continue
    if (levelOf(taken) > 0) side.left.unshift(...placesOf(await readBelow(lake, taken.part), taken.place))
    else side.only.push(taken)
  }
}
