/**
 * Appends entries to the lists of parts of a snapshot. Small parts at its end are merged so that each entry is written a number of times
 * that grows with the logarithm; parts that will not change any more are listed by parts of their own, so that the root
 * stays small however long the list is. A part is created before any root names it, and never written again.
 */

import { ToolkitError } from '../core/errors.ts'
import type { FileEntry } from '../core/partition.ts'
import { partName, partPath } from '../lake/files/layout.ts'
import { type PartSummary, summaryOfParts } from '../manifest/form/part-summary.ts'
import type { PartRef } from '../manifest/form/root-form.ts'
import type { RunLease } from '../manifest/runs/run-lease.ts'
import {
  LISTS,
  type ListName,
  type Lists,
  type Part,
  readEntries,
  storedBy,
} from '../manifest/snapshots/parts.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { storageOf } from '../storage/open-storage.ts'
import { sha256Of } from '../support/hash.ts'
import { TOOL } from '../support/own-package.ts'
import type { RandomBytes } from '../support/run-ids.ts'

/** Entries in a part. */
const MOST_ENTRIES = 1000
/** Bytes of a part: an entry of small files that share a partition lists up to a thousand. */
const MOST_BYTES = 1024 * 1024
/** About what an entry takes besides its sources, and each of these. */
const ENTRY_BYTES = 400
const SOURCE_BYTES = 240
/** So many parts that will not change are listed by one of their own. */
const PARTS_PER_PART = 8

/** Writes the parts of one attempt of a commit, under names that nobody else has. */
export class PartWriter {
  readonly lake: string
  readonly #run: string
  readonly #random: RandomBytes
  readonly #written: string[] = []

  /** @param lease its run's name stands in the parts' names: gc leaves those of a run that is at work alone */
  constructor({ lake, run }: Pick<RunLease, 'lake' | 'run'>, random: RandomBytes) {
    this.lake = lake
    this.#run = run
    this.#random = random
  }

  /** @throws {ToolkitError} `WRITE_FAILED`, `DISK_FULL`, and those of the storage */
  async write(level: number, lines: readonly object[], summary: PartSummary): Promise<PartRef> {
    const bytes = Buffer.from(lines.map((line) => `${JSON.stringify(line)}\n`).join(''))
    return { ...(await this.#create(bytes, 'jsonl')), level, ...summary }
  }

  /** Places the bytes of a Parquet file. @throws as `write` */
  place(bytes: Buffer): Promise<Pick<PartRef, 'name' | 'bytes' | 'sha256'>> {
    return this.#create(bytes, 'parquet')
  }

  async #create(
    bytes: Buffer,
    ending: 'jsonl' | 'parquet',
  ): Promise<Pick<PartRef, 'name' | 'bytes' | 'sha256'>> {
    const name = partName(this.#run, this.#random, ending)
    const path = partPath(name)
    const storage = storageOf(this.lake)
    this.#written.push(path)
    // A bucket may have created it although its answer was lost.
    if (!(await storage.create(path, bytes, false)) && !(await storage.read(path))?.equals(bytes))
      throw new ToolkitError('WRITE_FAILED', `Cannot write "${path}": another file has its name`, { path })
    return { name, bytes: bytes.length, sha256: sha256Of(bytes) }
  }

  /** Takes files that were written into the tables for this attempt alone: they are discarded with its parts. */
  adopt(files: readonly FileEntry[]): void {
    this.#written.push(...files.map(({ path }) => path))
  }

  /** Brings the names of what was written to the disk, and those of other files with them, before a snapshot lists them. */
  async sync(paths: readonly string[]): Promise<void> {
    await storageOf(this.lake).sync([...paths, ...this.#written])
  }

  /** Removes what was written, where it is certain that no snapshot lists it. What cannot be removed is gc's. */
  async discard(): Promise<void> {
    if (this.#written.length === 0) return
    await storageOf(this.lake)
      .remove(this.#written)
      .catch(() => undefined)
  }
}

const bytesOf = <Name extends ListName>(name: Name, entry: Lists[Name]): number =>
  ENTRY_BYTES + SOURCE_BYTES * LISTS[name].sources(entry)

/** A part that is to become longer, and one that is not written yet. */
type Growing<Entry> = { readonly length: number; readonly bytes: number } & (
  | { readonly kind: 'stored'; readonly part: Part }
  | { readonly kind: 'fresh'; readonly entries: readonly Entry[] }
)

const stored = (part: Part): Growing<never> => ({
  ...{ kind: 'stored', part },
  ...{ length: part.ref.entries, bytes: part.ref.bytes },
})

/** Cuts entries into parts that are not written yet. */
const freshParts = <Name extends ListName>(
  name: Name,
  entries: readonly Lists[Name][],
): Growing<Lists[Name]>[] => {
  const parts: Growing<Lists[Name]>[] = []
  let own: Lists[Name][] = []
  let bytes = 0
  const close = (): void => {
    if (own.length > 0) parts.push({ kind: 'fresh', entries: own, length: own.length, bytes })
    own = []
    bytes = 0
  }
  for (const entry of entries) {
    const more = bytesOf(name, entry)
    if (own.length === MOST_ENTRIES || bytes + more > MOST_BYTES) close()
    own.push(entry)
    bytes += more
  }
  close()
  return parts
}

/** Whether neighbours may ever become one part. */
const fitTogether = (a: Growing<unknown>, b: Growing<unknown>): boolean =>
  a.length + b.length <= MOST_ENTRIES && a.bytes + b.bytes <= MOST_BYTES

const isLeaf = (part: Growing<unknown>): boolean => part.kind === 'fresh' || part.part.ref.level === 0

/** Merges the last part with those before it that are less than twice as long. */
const mergeTail = async <Name extends ListName>(
  lake: string,
  name: Name,
  parts: readonly Growing<Lists[Name]>[],
): Promise<readonly Growing<Lists[Name]>[]> => {
  const entriesIn = async (one: Growing<Lists[Name]>): Promise<readonly Lists[Name][]> =>
    one.kind === 'fresh' ? one.entries : readEntries(lake, name, one.part)
  const [before, last] = [parts.at(-2), parts.at(-1)]
  if (!before || !last || !isLeaf(before) || !fitTogether(before, last)) return parts
  if (before.length >= 2 * last.length) return parts
  const entries = [...(await entriesIn(before)), ...(await entriesIn(last))]
  return mergeTail(lake, name, [...parts.slice(0, -2), ...freshParts(name, entries)])
}

const writeFresh = async <Name extends ListName>(
  writer: PartWriter,
  name: Name,
  part: Growing<Lists[Name]>,
): Promise<PartRef> => {
  if (part.kind === 'stored') return part.part.ref
  const { toLine, summarise } = LISTS[name]
  return writer.write(0, part.entries.map(toLine), summarise(part.entries))
}

/** How many parts at the beginning will never be merged: some later one would not fit to its neighbour. */
const countSettled = (refs: readonly PartRef[]): number => {
  const parts = refs.map(storedBy(TOOL)).map(stored)
  return (
    parts.findLastIndex((part, at) => {
      const next = parts[at + 1]
      return next !== undefined && !fitTogether(part, next)
    }) + 1
  )
}

/** Has the parts that will not change listed by parts of their own, level by level. */
const listSettled = async (
  writer: PartWriter,
  refs: readonly PartRef[],
  level = 0,
): Promise<readonly PartRef[]> => {
  const first = refs.findIndex((ref) => ref.level === level)
  if (first < 0) return refs
  // Higher levels come first in the list.
  let [higher, own, lower] = [
    refs.slice(0, first),
    refs.filter((ref) => ref.level === level),
    refs.filter((ref) => ref.level < level),
  ]
  for (;;) {
    const settled = level === 0 ? countSettled(own) : own.length
    if (settled < PARTS_PER_PART) break
    const some = own.slice(0, PARTS_PER_PART)
    higher = [...higher, await writer.write(level + 1, some, summaryOfParts(some))]
    own = own.slice(PARTS_PER_PART)
  }
  return listSettled(writer, [...higher, ...own, ...lower], level + 1)
}

export const extendList = async <Name extends ListName>(
  writer: PartWriter,
  name: Name,
  parts: readonly Part[],
  added: readonly Lists[Name][] = [],
): Promise<readonly Part[]> => {
  let list: readonly Growing<Lists[Name]>[] = parts.map(stored)
  for (const part of freshParts(name, added)) list = await mergeTail(writer.lake, name, [...list, part])
  const written: PartRef[] = []
  for (const part of list) written.push(await writeFresh(writer, name, part))
  return (await listSettled(writer, written)).map(storedBy(TOOL))
}

type SnapshotLists = SnapshotRoot['lists']

export const NO_LISTS: SnapshotLists = { partitions: [], files: [], pulls: [], merged: [], checks: [] }

/**
 * The lists of a snapshot with more entries at their ends, every part of them in its file.
 *
 * @throws {ToolkitError} `SNAPSHOT_DAMAGED` where a part that is to be merged is, `DISK_FULL`, `WRITE_FAILED`
 */
export const extendLists = async (
  writer: PartWriter,
  lists: SnapshotLists,
  added: { readonly [Name in ListName]?: readonly Lists[Name][] | undefined },
): Promise<SnapshotLists> => ({
  partitions: await extendList(writer, 'partitions', lists.partitions, added.partitions),
  files: await extendList(writer, 'files', lists.files, added.files),
  pulls: await extendList(writer, 'pulls', lists.pulls, added.pulls),
  merged: await extendList(writer, 'merged', lists.merged, added.merged),
  checks: await extendList(writer, 'checks', lists.checks, added.checks),
})
