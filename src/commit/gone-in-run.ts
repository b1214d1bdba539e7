/** The companies that the searches of a run no longer list, from being found to being written down with its commit. */

import type { PartitionEntry } from '../core/partition.ts'
import type { SinkRun } from '../core/sink.ts'
import type { Loader } from '../load/loader.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import { type FoundGone, findGone } from './find-gone.ts'
import { DEFAULT_MAX_GONE, parseMaxGone, type QuarantineLimit } from './quarantine-limit.ts'
import type { GoneCompanies, PartialListing, WholeListing } from './whole-listing.ts'
import { writeGone } from './write-gone.ts'

export interface RunWithListings {
  readonly lake: string
  readonly run: string
  /** What it has loaded. */
  readonly partitions: readonly PartitionEntry[]
  readonly loader: Loader
  readonly sink: SinkRun
}

export interface GoneOptions {
  readonly listings?: readonly (WholeListing | PartialListing)[] | undefined
  readonly maxGone?: QuarantineLimit | undefined
  readonly signal?: AbortSignal | undefined
}

export class GoneInRun {
  readonly #run: RunWithListings
  readonly #options: GoneOptions
  readonly #found: FoundGone[] = []
  readonly #unmarked: GoneCompanies[] = []
  #marked: readonly GoneCompanies[] = []

  constructor(run: RunWithListings, options: GoneOptions) {
    this.#run = run
    this.#options = options
  }

  /** Asks the service for what the listings lack. @param root the snapshot that the lake shows */
  async find(root: SnapshotRoot | null): Promise<void> {
    const { listings = [], maxGone = parseMaxGone(DEFAULT_MAX_GONE), signal } = this.#options
    const { lake, run, partitions, loader } = this.#run
    for (const listing of listings) {
      const staged = { lake, run, partitions, rows: loader.rows }
      const outcome = await findGone(staged, root, listing, maxGone, signal)
      if (outcome === undefined) continue
      if ('ids' in outcome) this.#found.push(outcome)
      else this.#unmarked.push(outcome)
    }
  }

  /** Whether a listing lacked companies that are to be marked. */
  get hasFound(): boolean {
    return this.#found.length > 0
  }

  /** Writes down what was found, as far as it still holds in a snapshot. @returns partitions whose files are in place */
  async write(root: SnapshotRoot | null): Promise<readonly PartitionEntry[]> {
    if (root === null || this.#found.length === 0) return []
    const { sink } = this.#run
    const entries = await writeGone({ ...this.#run, found: this.#found }, root)
    await sink.commit(entries.flatMap(({ files }) => files))
    this.#marked = entries.map(({ source, files }) => ({
      search: source.name,
      marked: files.reduce((sum, { rows }) => sum + rows, 0),
    }))
    return entries
  }

  /** For the report of the run; empty where no listing lacked a company. */
  summary(): { readonly gone?: readonly GoneCompanies[] } {
    const gone = [...this.#marked, ...this.#unmarked]
    return gone.length > 0 ? { gone } : {}
  }
}
