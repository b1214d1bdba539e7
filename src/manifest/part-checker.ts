/** Checks the parts of snapshots, every byte of them, and what the snapshots say of them. */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../core/errors.ts'
import type { Snapshot } from '../core/partition.ts'
import { partPath, snapshotPath } from '../lake/lake/layout.ts'
import type { Findings, ProblemKind } from './findings.ts'
import { type PartSummary, summaryOfParts } from './part-summary.ts'
import {
  LISTS,
  type ListName,
  type Lists,
  linesOf,
  readPart,
  refOfLine,
  type StoredPart,
  storedBy,
} from './parts.ts'
import type { PartRef } from './root-form.ts'
import { headOf, type SnapshotRoot } from './snapshot-root.ts'
import { totalsOf } from './totals.ts'

type Report = (path: string, problem: ProblemKind, detail: string) => void

/** What is said of a part, without its file; what later releases say besides is left to them. */
const saidOf = (ref: PartRef, known: PartSummary): object =>
  Object.fromEntries(
    [...new Set([...SUMMARY_FIELDS, ...Object.keys(known)])].flatMap((name) =>
      Object.hasOwn(ref, name) ? [[name, Reflect.get(ref, name)]] : [],
    ),
  )
const SUMMARY_FIELDS = ['contents', 'drift', 'quarantine', 'differing', 'currencies', 'services', 'keys']

/** Lines of parts by the parts' names, those of the last snapshot; `null` where one is damaged. */
class PartLines<Line> {
  readonly #read: (part: StoredPart) => Promise<readonly Line[] | null>
  #before = new Map<string, readonly Line[] | null>()
  #now = new Map<string, readonly Line[] | null>()

  constructor(read: (part: StoredPart) => Promise<readonly Line[] | null>) {
    this.#read = read
  }

  nextSnapshot(): void {
    this.#before = this.#now
    this.#now = new Map()
  }

  async of(part: StoredPart): Promise<readonly Line[] | null> {
    const key = `${part.ref.name} ${part.ref.sha256}`
    const known = this.#now.get(key) ?? this.#before.get(key)
    const lines = known === undefined ? await this.#read(part) : known
    this.#now.set(key, lines)
    return lines
  }
}

/** Reads the lines of a part that is whole; reports one that is not. */
const readChecked = async <Line>(
  lake: string,
  part: StoredPart,
  fromLine: (value: unknown) => Line,
  summarise: (lines: readonly Line[]) => PartSummary,
  report: Report,
): Promise<readonly Line[] | null> => {
  const { ref } = part
  const path = partPath(ref.name)
  const read = await readPart(lake, ref)
  if (read.kind !== 'whole') {
    report(path, read.kind, read.detail)
    return null
  }
  try {
    const lines = linesOf(lake, part, read.bytes, fromLine)
    const summary = summarise(lines)
    if (!isDeepStrictEqual(saidOf(ref, summary), { ...summary }))
      report(path, 'listing', 'it does not hold what is said of it where it is listed')
    return lines
  } catch (error) {
    if (!(error instanceof ToolkitError) || error.code !== 'SNAPSHOT_DAMAGED') throw error
    report(path, 'changed', error.message)
    return null
  }
}

/** Reads one list of snapshot after snapshot. */
class ListChecker<Name extends ListName> {
  readonly #name: Name
  readonly #refs: PartLines<PartRef>
  readonly #entries: PartLines<Lists[Name]>
  readonly #listed: Set<string>

  constructor(lake: string, name: Name, listed: Set<string>, report: Report) {
    const { fromLine, summarise } = LISTS[name]
    this.#name = name
    this.#listed = listed
    this.#refs = new PartLines((part) => readChecked(lake, part, refOfLine, summaryOfParts, report))
    this.#entries = new PartLines((part) => readChecked<Lists[Name]>(lake, part, fromLine, summarise, report))
  }

  /** The entries of parts that are whole; `damaged` when one is not. */
  async read({ lists }: SnapshotRoot): Promise<{ entries: Lists[Name][]; damaged: boolean }> {
    this.#refs.nextSnapshot()
    this.#entries.nextSnapshot()
    const found = { entries: [] as Lists[Name][], damaged: false }
    for (const part of lists[this.#name]) {
      if (part.kind === 'stored') await this.#take(part, found)
      else for (const entry of part.entries) found.entries.push(entry)
    }
    return found
  }

  async #take(part: StoredPart, found: { readonly entries: Lists[Name][]; damaged: boolean }): Promise<void> {
    this.#listed.add(part.ref.name)
    if (part.ref.level > 0) {
      const below = await this.#refs.of(part)
      if (below === null) found.damaged = true
      for (const one of below ?? []) await this.#take(storedBy(part.tool)(one), found)
      return
    }
    const entries = await this.#entries.of(part)
    if (entries === null) found.damaged = true
    for (const entry of entries ?? []) found.entries.push(entry)
  }
}

/** Reads snapshots whole, oldest first; a part that the one before lists too is not read again. */
export class PartChecker {
  readonly #report: Report
  readonly #partitions: ListChecker<'partitions'>
  readonly #files: ListChecker<'files'>
  readonly #pulls: ListChecker<'pulls'>
  readonly #merged: ListChecker<'merged'>
  /** Names of all parts that a snapshot lists. */
  readonly listed = new Set<string>()

  constructor(lake: string, { problems }: Findings) {
    const reported = new Set<string>()
    // Once, however many snapshots list it.
    this.#report = (path, problem, detail) => {
      if (!reported.has(path)) problems.push({ path, problem, detail })
      reported.add(path)
    }
    this.#partitions = new ListChecker(lake, 'partitions', this.listed, this.#report)
    this.#files = new ListChecker(lake, 'files', this.listed, this.#report)
    this.#pulls = new ListChecker(lake, 'pulls', this.listed, this.#report)
    this.#merged = new ListChecker(lake, 'merged', this.listed, this.#report)
  }

  /** All that a snapshot lists, as far as its parts are whole. @throws {ToolkitError} `LAKE_NEWER` */
  async readAllListed(root: SnapshotRoot): Promise<Snapshot> {
    const partitions = await this.#partitions.read(root)
    const files = await this.#files.read(root)
    const pulls = await this.#pulls.read(root)
    const merged = await this.#merged.read(root)
    const whole: Snapshot = {
      format: 1,
      ...headOf(root),
      partitions: partitions.entries,
      files: files.entries,
      pulls: pulls.entries,
      merged: merged.entries,
    }
    const isWhole = ![partitions, files, pulls, merged].some(({ damaged }) => damaged)
    if (isWhole && !isDeepStrictEqual(totalsOf(whole), root.totals))
      this.#report(snapshotPath(root.snapshot), 'listing', 'its totals are not those of what it lists')
    return whole
  }
}
