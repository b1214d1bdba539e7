/** Where the nodes and lines of an ownership graph stand: owners at the left, what they own at the right, a column a level. Pure. */

import type { AnswerRow } from './api.ts'
import { shownStake } from './figures.ts'

/** More are no picture any more: they stand in the table alone. */
export const MOST_NODES = 200

export const NODE_WIDTH = 190
export const NODE_HEIGHT = 28
const COLUMN = 330
const ROW = 40
const MARGIN = 12
const THICKEST = 8

export interface GraphNode {
  readonly number: number
  readonly kind: string
  readonly name: string
  /** Id of a company that has a page. */
  readonly id: string | null
  readonly x: number
  readonly y: number
}

export interface GraphLine {
  readonly from: GraphNode
  readonly to: GraphNode
  readonly width: number
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
  /** Nodes that stand in the table alone. */
  readonly left: number
}

interface Entity {
  readonly number: number
  readonly kind: string
  readonly name: string
  readonly id: string | null
  readonly level: number
}

const entityOf = (row: AnswerRow, side: 'owner' | 'owned', level: number): Entity => {
  const kind = String(row[`${side}_kind`])
  const [name, id] = [row[`${side}_name`], row[`${side}_id`]]
  return {
    number: Number(row[side]),
    kind,
    name: kind === 'protected' ? 'protected' : String(name ?? '(no name)'),
    id: id === null || id === undefined ? null : String(id),
    level,
  }
}

/** Entities in the order in which they are met, each at the level where it is met first; the company itself is number 0. */
const entitiesOf = (rows: readonly AnswerRow[]): ReadonlyMap<number, Entity> => {
  const found = new Map<number, Entity>()
  const add = (entity: Entity): void => {
    if (!found.has(entity.number)) found.set(entity.number, entity)
  }
  const nearFirst = rows.toSorted((a, b) => Number(a.level) - Number(b.level))
  for (const row of nearFirst) {
    const sign = row.direction === 'up' ? -1 : 1
    const level = Number(row.level) * sign
    const [near, far] = sign < 0 ? (['owned', 'owner'] as const) : (['owner', 'owned'] as const)
    add(entityOf(row, near, level - sign))
    add(entityOf(row, far, level))
  }
  return found
}

export const layOut = (rows: readonly AnswerRow[]): Graph => {
  const entities = [...entitiesOf(rows).values()]
  const shown = entities.slice(0, MOST_NODES)
  const columns = [...Map.groupBy(shown, ({ level }) => level)].sort(([a], [b]) => a - b)
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
    const [least, greatest] = [Number(row.min_stake), Number(row.max_stake)]
    const isStated = row.is_stated === true
    const isCycle = row.is_cycle === true
    return [
      {
        ...{ from, to, isCycle, isUp: row.direction === 'up' },
        width: isStated ? 1 + ((THICKEST - 1) * greatest) / 100 : 1,
        isRange: !isStated || least !== greatest,
        label: `${isCycle ? '↺ ' : ''}${shownStake(least, greatest, isStated)}`,
      },
    ]
  })
  return {
    ...{ nodes, lines, left: entities.length - shown.length },
    width: 2 * MARGIN + Math.max(0, columns.length - 1) * COLUMN + NODE_WIDTH,
    height: 2 * MARGIN + tallest * ROW,
  }
}
