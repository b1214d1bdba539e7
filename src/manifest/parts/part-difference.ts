/** Which parts one list has and another has not: what did not change between two snapshots is not opened. */

import { type Leaf, type Part, placesOf, readBelow } from './parts.ts'

const isSame = (a: Leaf, b: Leaf): boolean =>
  a.place === b.place && a.part.ref.name === b.part.ref.name && a.part.ref.sha256 === b.part.ref.sha256

const levelOf = ({ part }: Leaf): number => part.ref.level

/** Whether the first of one list comes before the first of the other, and of two at one place the longer one. */
const isFirst = (one: Leaf, other: Leaf | undefined): boolean =>
  other === undefined ||
  one.place < other.place ||
  (one.place === other.place && levelOf(one) >= levelOf(other))

/** Parts with entries that only one of two lists has at their places. */
export interface PartDifference {
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
