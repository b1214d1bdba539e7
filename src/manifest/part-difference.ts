/** Which parts one list has and another has not: what did not change between two snapshots is not opened. */

import { type Leaf, type Part, placesOf, readBelow } from './parts.ts'

const isSame = <Entry>(a: Leaf<Entry>, b: Leaf<Entry>): boolean =>
  a.place === b.place &&
  a.part.kind === 'stored' &&
  b.part.kind === 'stored' &&
  a.part.ref.name === b.part.ref.name &&
  a.part.ref.sha256 === b.part.ref.sha256

const levelOf = <Entry>({ part }: Leaf<Entry>): number => (part.kind === 'stored' ? part.ref.level : 0)

/** Whether the first of one list comes before the first of the other, and of two at one place the longer one. */
const isFirst = <Entry>(one: Leaf<Entry>, other: Leaf<Entry> | undefined): boolean =>
  other === undefined ||
  one.place < other.place ||
  (one.place === other.place && levelOf(one) >= levelOf(other))

/** Parts with entries that only one of two lists has at their places. */
export interface PartDifference<Entry> {
  readonly before: readonly Leaf<Entry>[]
  readonly after: readonly Leaf<Entry>[]
}

/** @throws {ToolkitError} `SNAPSHOT_DAMAGED`, `LAKE_NEWER` */
export const differingParts = async <Entry>(
  lake: string,
  before: readonly Part<Entry>[],
  after: readonly Part<Entry>[],
): Promise<PartDifference<Entry>> => {
  const a = { left: placesOf(before, 0), only: [] as Leaf<Entry>[] }
  const b = { left: placesOf(after, 0), only: [] as Leaf<Entry>[] }
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
    if (taken.part.kind === 'stored' && taken.part.ref.level > 0)
      side.left.unshift(...placesOf<Entry>(await readBelow(lake, taken.part), taken.place))
    else side.only.push(taken)
  }
}
