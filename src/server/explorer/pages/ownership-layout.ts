/** Places the nodes and lines of a picture of a small group: owners at the left, what they own at the right, a column a level. Pure. */

import type { ReportRow } from '../../../report/rows.ts'
import { shownStake } from '../../../report/shown.ts'
import { type Entity, entityOf, stakeOf } from './ownership-tree.ts'

/** More are no picture: they stand in the tree and the table. */
export const MOST_NODES = 12

export const NODE_WIDTH = 180
export const NODE_HEIGHT = 32
const COLUMN = 304
const ROW = 56
const MARGIN = 12

export interface GraphNode extends Entity {
  readonly x: number
  readonly y: number
}

export interface GraphLine {
  readonly from: GraphNode
  readonly to: GraphNode
  /** Whether the stake is a range or not stated. */
  readonly isRange: boolean
  readonly isCycle: boolean
  /** Whether it leads to an owner; else to what is owned. The label stands at that end. */
  readonly isUp: boolean
  readonly label: string
}

export interface Graph {
  readonly nodes: readonly GraphNode[]
  readonly lines: readonly GraphLine[]
  readonly width: number
  readonly height: number
}

interface Placed extends Entity {
  readonly level: number
}

/** Entities in the order in which they are met, each at the level where it is met first; the company itself is number 0. */
const entitiesOf = (rows: readonly ReportRow[]): readonly Placed[] => {
  const found = new Map<number, Placed>()
  const add = (entity: Placed): void => {
    if (!found.has(entity.number)) found.set(entity.number, entity)
  }
  const nearFirst = rows.toSorted((a, b) => Number(a.level) - Number(b.level))
  for (const row of nearFirst) {
    const sign = row.direction === 'up' ? -1 : 1
    const level = Number(row.level) * sign
    const [near, far] = sign < 0 ? (['owned', 'owner'] as const) : (['owner', 'owned'] as const)
    add({ ...entityOf(row, near), level: level - sign })
    add({ ...entityOf(row, far), level })
  }
  return [...found.values()]
}

/** @returns `undefined` where there are too many for a picture */
export const layOut = (rows: readonly ReportRow[]): Graph | undefined => {
  const entities = entitiesOf(rows)
  if (entities.length > MOST_NODES) return undefined
  const columns = [...Map.groupBy(entities, ({ level }) => level)].sort(([a], [b]) => a - b)
  const tallest = Math.max(1, ...columns.map(([, all]) => all.length))
  const nodes = columns.flatMap(([, all], column) =>
    all.map(
      ({ level: _, ...entity }, at): GraphNode => ({
        ...entity,
        x: MARGIN + column * COLUMN,
        // A column stands beside the middle of the tallest one.
        y: MARGIN + ((tallest - all.length) / 2 + at) * ROW,
      }),
    ),
  )
  const byNumber = new Map(nodes.map((node) => [node.number, node]))
  const lines = rows.flatMap((row): GraphLine[] => {
    const [from, to] = [byNumber.get(Number(row.owner)), byNumber.get(Number(row.owned))]
    if (from === undefined || to === undefined) return []
    const { min, max, isStated } = stakeOf(row)
    const isCycle = row.is_cycle === true
    return [
      {
        ...{ from, to, isCycle, isUp: row.direction === 'up' },
        isRange: !isStated || min !== max,
        label: `${isCycle ? '↺ ' : ''}${shownStake(min, max, isStated)}`,
      },
    ]
  })
  return {
    ...{ nodes, lines },
    width: 2 * MARGIN + Math.max(0, columns.length - 1) * COLUMN + NODE_WIDTH,
    // Below, room for lines that lead back.
    height: 2 * MARGIN + tallest * ROW + (lines.some(({ from, to }) => to.x <= from.x) ? ROW / 2 : 0),
  }
}
