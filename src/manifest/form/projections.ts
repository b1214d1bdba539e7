/** The projections of a lake, each from the first run on that was loaded with it. */

import { isDeepStrictEqual } from 'node:util'
import { ToolkitError } from '../../core/errors.ts'
import type { SnapshotHead } from '../../core/partition.ts'
import { type ComputedColumn, computedColumns } from '../../lake/projection/computed-columns.ts'
import {
  hidesNothing,
  isSameProjection,
  KEPT_TAKE,
  type KeptTake,
  projectionText,
  takesAll,
} from '../../lake/projection/projection.ts'
import { anyText, count, list, shapeOf } from '../../support/json-form.ts'

export interface Taken {
  /** The first run that was loaded so, and the snapshot that shows it. */
  readonly run: string
  readonly snapshot: number
  readonly take: KeptTake
}

/** Behind each other, oldest first; before the first one everything was taken. */
export interface WithTaken {
  readonly taken?: readonly Taken[] | undefined
}

export const TAKEN = list(shapeOf<Taken>({ run: anyText, snapshot: count, take: KEPT_TAKE }))

/** The declaration that the newest load of a lake had; empty where everything is taken. */
export const newestProjection = (root: WithTaken | null): KeptTake => root?.taken?.at(-1)?.take ?? {}

/**
 * The further columns that a lake's tables have, also of rows that were loaded before these were declared. Checked as when they
 * were: a lake may come from others, and its SQL stands in statements of this process.
 *
 * @throws {ToolkitError} PROJECTION_INVALID
 */
export const computedOfLake = (root: WithTaken | null): Promise<readonly ComputedColumn[]> =>
  checkedColumns(newestProjection(root))

const checkedColumns = async ({ compute }: KeptTake): Promise<readonly ComputedColumn[]> => {
  const computed = computedColumns(compute)
  if (computed.length > 0) {
    const { checkExpressions } = await import('../../lake/projection/check-sql.ts')
    await checkExpressions(computed)
  }
  return computed
}

/** The further columns that a lake's tables have from a snapshot on. */
export interface ColumnsSince {
  readonly since: number
  readonly computed: readonly ComputedColumn[]
}

/**
 * The further columns by snapshot, the oldest first. Where an older snapshot has SQL that this release cannot run, it has none here:
 * `query` refuses such a snapshot.
 *
 * @param first of the snapshots that count
 * @throws {ToolkitError} PROJECTION_INVALID of the newest one
 */
export const columnsBySnapshot = async (
  root: WithTaken | null,
  first: number,
): Promise<readonly ColumnsSince[]> => {
  const newest = await computedOfLake(root)
  const declared = [{ snapshot: 1, take: {} }, ...(root?.taken ?? [])]
  const found: ColumnsSince[] = []
  for (const [at, { snapshot: since, take }] of declared.entries()) {
    const next = declared[at + 1]
    if (next !== undefined && next.snapshot <= first) continue
    const computed = next === undefined ? newest : await checkedColumns(take).catch(noneWhereInvalid)
    if (!isDeepStrictEqual(found.at(-1)?.computed, computed)) found.push({ since, computed })
  }
  return found
}

const noneWhereInvalid = (error: unknown): readonly ComputedColumn[] => {
  if (error instanceof ToolkitError && error.code === 'PROJECTION_INVALID') return []
  throw error
}

/** The projections of a lake and of a target of it in words; `undefined` without any. */
export const takenText = (root: WithTaken | null, own: KeptTake): string | undefined => {
  const parts = [
    ...(root?.taken ?? []).flatMap(({ take }) =>
      takesAll(take) ? [] : [`the lake: ${projectionText(take)}`],
    ),
    ...(takesAll(own) ? [] : [`this target: ${projectionText(own)}`]),
  ]
  return parts.length === 0 ? undefined : parts.join('. ')
}

/** The field of the next snapshot. */
export const takenWith = (
  root: WithTaken | null,
  { run, snapshot }: Pick<SnapshotHead, 'run' | 'snapshot'>,
  take: KeptTake,
): WithTaken => {
  const { taken = [] } = root ?? {}
  const isNew = !isSameProjection(newestProjection(root), take)
  const all = isNew ? [...taken, { run, snapshot, take }] : taken
  return all.length > 0 ? { taken: all } : {}
}

/** The declarations by which rows of a lake may lack something, each once. */
export const lackingProjections = (root: WithTaken | null): readonly KeptTake[] =>
  (root?.taken ?? []).flatMap(({ take }) => (hidesNothing(take) ? [] : [take]))
