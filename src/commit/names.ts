/** Names that the contract does not know: bounded in a run and in the lake, however many partitions bring how many. */

import type { PartitionEntry } from '../core/partition.ts'
import {
  DriftBudget,
  itemKey,
  type LineItemKey,
  UNKNOWN_LIMITS,
  type UnknownItems,
} from '../core/unknown-names.ts'
import type { SeenItems } from '../load/line-items.ts'
import { entriesOf } from '../manifest/snapshots/parts.ts'
import type { CommitRule } from './commit-rule.ts'
import type { StagedRun } from './staged-files.ts'

/** The members of a finished partition that have names. */
interface Named {
  readonly partition: PartitionEntry
  readonly unknownItems: UnknownItems
}

export interface NamesOfRunOptions {
  /** Names of the drift of all partitions. @default 10,000 */
  readonly maxUnknownNames?: number | undefined
  /** Keeps every line item, for a sink whose rows cannot be asked for them. @default false */
  readonly listAllItems?: boolean | undefined
}

export class NamesOfRun {
  readonly #drift: DriftBudget
  readonly #maxItems: number
  /** An object for each line item, however many partitions have it. */
  readonly #items = new Map<string, LineItemKey>()

  constructor({ maxUnknownNames, listAllItems = false }: NamesOfRunOptions) {
    this.#drift = new DriftBudget(maxUnknownNames)
    this.#maxItems = listAllItems ? Number.POSITIVE_INFINITY : UNKNOWN_LIMITS.names
  }

  /** A finished partition with as many of its names as there is room for. Each is to be passed once. */
  bound<T extends Named>(finished: T): T {
    const { partition, unknownItems } = finished
    return {
      ...finished,
      partition: { ...partition, drift: this.#drift.bound(partition.drift) },
      unknownItems: this.#boundItems(unknownItems),
    }
  }

  #boundItems({ items, more }: UnknownItems): UnknownItems {
    const listed: LineItemKey[] = []
    for (const item of items) {
      const key = itemKey(item)
      const known = this.#items.get(key)
      if (known === undefined && this.#items.size >= this.#maxItems) return { items: [], more: true }
      if (known === undefined) this.#items.set(key, item)
      listed.push(known ?? item)
    }
    return { items: listed, more }
  }
}

/**
 * The places of the line items of finished partitions: those that are listed, and the files of figures of those
 * partitions that have more.
 */
export const seenItemsOf = async (
  finished: readonly Named[],
  stagedRows: ((files: Named['partition']['files']) => Promise<string>) | undefined,
): Promise<SeenItems> => {
  const listed = new Map<string, LineItemKey>()
  for (const { unknownItems } of finished)
    for (const item of unknownItems.items) listed.set(itemKey(item), item)
  const files = finished
    .filter(({ unknownItems }) => unknownItems.more)
    .flatMap(({ partition }) =>
      partition.files.filter(({ table, rows }) => table === 'financials' && rows > 0),
    )
  const rows = files.length > 0 ? await stagedRows?.(files) : undefined
  return { listed: [...listed.values()], rows }
}

/** Cuts the drift of what came to the room that the lake has left for unknown names. */
export const boundNames = ({ lake }: StagedRun, maxUnknownNames: number | undefined): CommitRule => ({
  add: async (next) => {
    const { root, partitions } = next
    if (partitions.every(({ drift }) => drift.length === 0)) return next
    const budget = new DriftBudget(maxUnknownNames)
    for (const name of ['merged', 'partitions'] as const)
      for await (const { entries } of entriesOf(
        lake,
        name,
        root?.lists[name] ?? [],
        ({ drift = 0 }) => drift > 0,
      ))
        for (const { drift } of entries) budget.add(drift)
    return { ...next, partitions: partitions.map((one) => ({ ...one, drift: budget.bound(one.drift) })) }
  },
})
