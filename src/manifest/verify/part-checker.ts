/** Checks the parts of snapshots, every byte of them, and what the snapshots say of them. Holds one part at a time. */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import { partPath, snapshotPath } from '../../lake/files/layout.ts'
import { type PartSummary, summaryOfParts } from '../form/part-summary.ts'
import type { Findings, ProblemKind } from '../form/problems.ts'
import { isLoaded, namedSources } from '../form/sources.ts'
import { addTotals, NO_TOTALS, type Totals, totalsOf } from '../form/totals.ts'
import type { ListedEntries } from '../snapshots/listed-entries.ts'
import {
  LIST_NAMES,
  LISTS,
  type ListName,
  type Lists,
  linesOf,
  type Part,
  readPart,
  refOfLine,
  storedBy,
} from '../snapshots/parts.ts'
import type { SnapshotRoot } from '../snapshots/snapshot-root.ts'

type Report = (path: string, problem: ProblemKind, detail: string) => void

/** The summary of a part without its file and without fields of later releases. */
const saidOf = (ref: PartSummary, known: PartSummary): object =>
  Object.fromEntries(
    [...new Set([...SUMMARY_FIELDS, ...Object.keys(known)])].flatMap((name) =>
      Object.hasOwn(ref, name) ? [[name, Reflect.get(ref, name)]] : [],
    ),
  )
const SUMMARY_FIELDS = ['contents', 'drift', 'quarantine', 'differing', 'currencies', 'services', 'keys']

/** Reads the lines of a part that is whole; reports one that is not. */
const readChecked = async <Line>(
  lake: string,
  part: Part,
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

const ENTRIES_IN: { readonly [Name in ListName]: (entries: readonly Lists[Name][]) => ListedEntries } = {
  partitions: (entries) => ({ list: 'partitions', entries }),
  files: (entries) => ({ list: 'files', entries }),
  pulls: (entries) => ({ list: 'pulls', entries }),
  merged: (entries) => ({ list: 'merged', entries }),
  checks: (entries) => ({ list: 'checks', entries }),
}

/** The totals that are sums over parts: runs and sources may be in several parts. */
const sumsOf = ({ contents, tables }: Totals): object => ({
  contents: contents.map(({ sources: _, sourceBytes: __, ...sums }) => sums),
  tables,
})

const NO_COMMON = (): number => 0

/** Reads the parts of snapshots, oldest first, each once however many snapshots list it. */
export class PartChecker {
  readonly #lake: string
  readonly #report: Report
  readonly #use: (listed: ListedEntries, snapshot: number) => void
  /** Totals of each part with the parts below it; `null` where one is damaged. */
  readonly #totals = new Map<string, Totals | null>()
  /** Names of all parts that a snapshot lists. */
  readonly listed = new Set<string>()
  readonly damaged = new Set<string>()

  /** @param use is called with the entries of each part, and the first snapshot that lists it */
  constructor(lake: string, findings: Findings, use: (listed: ListedEntries, snapshot: number) => void) {
    const reported = new Set<string>()
    this.#lake = lake
    this.#use = use
    // Once, however many snapshots list it.
    this.#report = (path, problem, detail) => {
      if (!reported.has(path)) findings.add(path, problem, detail)
      reported.add(path)
    }
  }

  /** @throws {ToolkitError} `LAKE_NEWER` */
  async check(root: SnapshotRoot): Promise<void> {
    for (const file of root.versions) {
      if (this.listed.has(file.name)) continue
      this.listed.add(file.name)
      const read = await readPart(this.#lake, file)
      if (read.kind === 'whole') continue
      this.damaged.add(file.name)
      this.#report(partPath(file.name), read.kind, read.detail)
    }
    let totals: Totals | null = NO_TOTALS
    for (const list of LIST_NAMES)
      for (const part of root.lists[list]) {
        const own = await this.#check(list, part, root.snapshot)
        totals = own && totals && addTotals(totals, own, NO_COMMON)
      }
    if (totals && !isDeepStrictEqual(sumsOf(totals), sumsOf(root.totals)))
      this.#report(snapshotPath(root.snapshot), 'listing', 'its totals are not those of what it lists')
  }

  async #check<Name extends ListName>(list: Name, part: Part, snapshot: number): Promise<Totals | null> {
    const { name, sha256 } = part.ref
    const key = `${name} ${sha256}`
    const known = this.#totals.get(key)
    if (known !== undefined) return known
    this.listed.add(name)
    const totals = await this.#read(list, part, snapshot)
    this.#totals.set(key, totals)
    return totals
  }

  async #read<Name extends ListName>(list: Name, part: Part, snapshot: number): Promise<Totals | null> {
    if (part.ref.level === 0) {
      const { fromLine, summarise } = LISTS[list]
      const entries = await readChecked<Lists[Name]>(this.#lake, part, fromLine, summarise, this.#report)
      if (entries === null) this.damaged.add(part.ref.name)
      if (entries === null) return null
      this.#use(ENTRIES_IN[list](entries), snapshot)
      return totalsOf({ ...{ partitions: [], files: [] }, [list]: entries })
    }
    const below = await readChecked(this.#lake, part, refOfLine, summaryOfParts, this.#report)
    if (below === null) this.damaged.add(part.ref.name)
    let totals: Totals | null = below && NO_TOTALS
    for (const one of below ?? []) {
      const own = await this.#check<Name>(list, storedBy(part.tool)(one), snapshot)
      totals = own && totals && addTotals(totals, own, NO_COMMON)
    }
    return totals
  }
}

/** @returns whether it was not there */
const addNew = (strings: Set<string>, text: string): boolean => {
  const before = strings.size
  return strings.add(text).size > before
}

/** Runs and sources of a snapshot: what its totals say of them is no sum over parts. */
export class DistinctTotals {
  readonly #runs = new Set<string>()
  readonly #sources = new Set<string>()
  readonly #named = new Set<string>()
  readonly #counts = new Map<string, { sources: number; sourceBytes: number }>()

  add({ list, entries }: ListedEntries): void {
    for (const { run } of entries) this.#runs.add(run)
    if (list !== 'partitions' && list !== 'merged') return
    for (const partition of entries) {
      const { run, content } = partition
      if (!isLoaded(partition)) continue
      const counts = this.#counts.get(content) ?? { sources: 0, sourceBytes: 0 }
      this.#counts.set(content, counts)
      for (const [name, { bytes }] of namedSources(partition)) {
        if (addNew(this.#sources, `${content} ${name}`)) counts.sources += 1
        if (addNew(this.#named, `${content} ${run} ${name}`)) counts.sourceBytes += bytes
      }
    }
  }

  /** Whether these are the runs and sources of a snapshot. */
  areOf({ totals }: SnapshotRoot): boolean {
    return (
      totals.runs === this.#runs.size &&
      totals.contents.every(({ content, sources, sourceBytes }) => {
        const own = this.#counts.get(content)
        return own?.sources === sources && own.sourceBytes === sourceBytes
      })
    )
  }
}
