/** Holdings as a tree of rows, upwards to owners or downwards to what is owned; each company with all below it once. Pure. */

import type { ReportRow } from '../../../report/rows.ts'

/** A company or person as an answer names it. */
export interface Entity {
  /** The node's number in the answer; the company itself is 0. */
  readonly number: number
  /** `company`, `person` or `protected`. */
  readonly kind: string
  readonly name: string
  /** Id of a company that has a page. */
  readonly id: string | null
  readonly country: string | null
}

export const entityOf = (row: ReportRow, side: 'owner' | 'owned'): Entity => {
  const kind = String(row[`${side}_kind`])
  const [name, id, country] = [row[`${side}_name`], row[`${side}_id`], row[`${side}_country`]]
  return {
    number: Number(row[side]),
    kind,
    name: kind === 'protected' ? 'protected' : String(name ?? '(no name)'),
    id: id === null || id === undefined ? null : String(id),
    country: country === null || country === undefined ? null : String(country),
  }
}

export interface Stake {
  /** Percent. */
  readonly min: number
  readonly max: number
  readonly isStated: boolean
}

export const stakeOf = (row: ReportRow): Stake => ({
  min: Number(row.min_stake),
  max: Number(row.max_stake),
  isStated: row.is_stated !== false,
})

export interface TreeRow extends Entity, Stake {
  /** Whether it is met again in a circle: it stands above this row, and the branch ends here. */
  readonly isCircle: boolean
  /** Whether what lies below stands at another row of it. */
  readonly isElsewhere: boolean
  readonly children: readonly TreeRow[]
  /** Rows below. */
  readonly below: number
  /** Levels down to the lowest row, this one included. */
  readonly levels: number
}

/** The largest groups first, then the largest stakes. */
const inOrder = (a: TreeRow, b: TreeRow): number =>
  b.below - a.below || b.max - a.max || b.min - a.min || a.number - b.number

/**
 * Rows below the company itself. Nearest ones are opened first, so that a company has its branch where it stands nearest.
 *
 * @param near side of a holding that is nearer to the company: `owned` for the tree of owners, `owner` for that of holdings
 */
export const treeOf = (rows: readonly ReportRow[], near: 'owner' | 'owned'): readonly TreeRow[] => {
  const far = near === 'owner' ? 'owned' : 'owner'
  const byNear = Map.groupBy(rows, (row) => Number(row[near]))
  // Level by level: who is met first is expanded there.
  const expandedAt = new Map<number, ReportRow | null>([[0, null]])
  for (const number of expandedAt.keys())
    for (const row of byNear.get(number) ?? [])
      if (!expandedAt.has(Number(row[far]))) expandedAt.set(Number(row[far]), row)
  const childrenOf = (number: number, above: ReadonlySet<number>): readonly TreeRow[] =>
    (byNear.get(number) ?? [])
      .map((row): TreeRow => {
        const entity = entityOf(row, far)
        const isCircle = above.has(entity.number)
        const isOpen = expandedAt.get(entity.number) === row
        const children =
          isCircle || !isOpen ? [] : childrenOf(entity.number, new Set([...above, entity.number]))
        return {
          ...{ ...entity, ...stakeOf(row), isCircle, children },
          isElsewhere: !isCircle && !isOpen && byNear.has(entity.number),
          below: children.reduce((sum, child) => sum + 1 + child.below, 0),
          levels: isCircle ? 0 : 1 + Math.max(0, ...children.map(({ levels }) => levels)),
        }
      })
      .toSorted(inOrder)
  return childrenOf(0, new Set([0]))
}

/** The rows of a tree. */
export const rowsOfTree = (tree: readonly TreeRow[]): readonly TreeRow[] =>
  tree.flatMap((row) => [row, ...rowsOfTree(row.children)])
