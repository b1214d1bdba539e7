/** Looks sources up by their bytes in a snapshot: opens the parts whose keys say that they may be there. */

import type { Content } from '../../contract/objects.ts'
import type { CommittedPartition } from '../../core/partition.ts'
import { decodeKeys, hasKey } from '../form/part-summary.ts'
import { isLoaded, knownByBytes, loadedSources, sourceKey, sourcesOf } from '../form/sources.ts'
import { type DiscardedSource, readDiscarded } from './discarded.ts'
import { differingParts, leavesOf, type Part, readEntries } from './parts.ts'
import type { SnapshotRoot } from './snapshot-root.ts'

interface KeyedPart {
  readonly part: Part
  readonly keys: Buffer
}

/** Parts that were opened lately: sources that were loaded together stand beside each other. */
const MOST_OPEN = 8

export class SourceIndex {
  readonly #lake: string
  readonly #root: SnapshotRoot | null
  readonly #since: SnapshotRoot | null
  #parts: Promise<readonly KeyedPart[]> | undefined
  #discarded: Promise<readonly DiscardedSource[]> | undefined
  readonly #open = new Map<KeyedPart, Promise<readonly CommittedPartition[]>>()

  /**
   * Nothing is read before the first lookup.
   *
   * @param root `null` for a lake without a snapshot
   * @param since parts that this earlier snapshot lists too are left out
   */
  constructor(lake: string, root: SnapshotRoot | null, since: SnapshotRoot | null = null) {
    this.#lake = lake
    this.#root = root
    this.#since = since
  }

  /** The partitions that were loaded of some sources, in the order of commits. @throws {ToolkitError} `SNAPSHOT_DAMAGED` */
  async partitionsOf(hashes: ReadonlySet<string>): Promise<readonly CommittedPartition[]> {
    if (hashes.size === 0 || this.#root === null) return []
    this.#parts ??= this.#keyedParts(this.#root)
    const found: CommittedPartition[] = []
    for (const keyed of await this.#parts) {
      if (![...hashes].some((sha256) => hasKey(keyed.keys, sha256))) continue
      for (const partition of await this.#entriesOf(keyed)) {
        if (!isLoaded(partition) || !knownByBytes(partition.source)) continue
        if (sourcesOf(partition).some(({ sha256 }) => hashes.has(sha256))) found.push(partition)
      }
    }
    return found
  }

  /** Whether a run has loaded a source whole. @throws as `partitionsOf` */
  async holds(content: Content, sha256: string): Promise<boolean> {
    const partitions = await this.partitionsOf(new Set([sha256]))
    return loadedSources({ partitions }).has(sourceKey(content, sha256))
  }

  /** When the load of a source was discarded; `undefined` where none was. @throws as `readDiscarded` */
  async discardedAt(content: Content, sha256: string): Promise<string | undefined> {
    this.#discarded ??= readDiscarded(this.#lake)
    return (await this.#discarded).find((one) => one.content === content && one.sha256 === sha256)?.at
  }

  async #keyedParts({ lists }: SnapshotRoot): Promise<readonly KeyedPart[]> {
    const keyed: KeyedPart[] = []
    const add = (part: Part): void => {
      const { keys } = part.ref
      if (keys !== undefined) keyed.push({ part, keys: decodeKeys(keys) })
    }
    for (const name of ['merged', 'partitions'] as const) {
      const before = this.#since?.lists[name]
      if (before)
        for (const { part } of (await differingParts(this.#lake, before, lists[name])).after) add(part)
      else for await (const { part } of leavesOf(this.#lake, lists[name], () => true)) add(part)
    }
    return keyed
  }

  #entriesOf(keyed: KeyedPart): Promise<readonly CommittedPartition[]> {
    const entries = this.#open.get(keyed) ?? readEntries(this.#lake, 'partitions', keyed.part)
    // The part that was used last stays longest.
    this.#open.delete(keyed)
    this.#open.set(keyed, entries)
    const [oldest] = this.#open.keys()
    if (this.#open.size > MOST_OPEN && oldest) this.#open.delete(oldest)
    return entries
  }
}
