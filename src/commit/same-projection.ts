/** A lake keeps to one projection: what a load takes of the records is what its newest load took, or is declared anew. */

import { ToolkitError } from '../core/errors.ts'
import { isSameProjection, type KeptTake, projectionText } from '../lake/projection/projection.ts'
import { newestProjection, takenWith } from '../manifest/form/projections.ts'
import type { SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { CommitRule } from './commit-rule.ts'
import type { StagedRun } from './staged-files.ts'

/** The projection of a run, as its plan declares it. */
export interface DeclaredTake {
  /** @default everything is taken */
  readonly take?: KeptTake | undefined
  /** Whether earlier loads of the lake may have taken other data. @default false */
  readonly changeTaken?: boolean | undefined
}

export const projectionDiffers = (lake: string, held: KeptTake, asked: KeptTake): ToolkitError =>
  new ToolkitError(
    'PROJECTION_CHANGED',
    `Cannot load into "${lake}": its newest load took other data (${projectionText(held)}) than this one (${projectionText(asked)}); ` +
      '--change-taken allows it, from this load on',
    { lake },
  )

/** Whether a lake holds what was loaded with some declaration, be it that everything is taken. */
const hasLoads = (root: SnapshotRoot | null): root is SnapshotRoot => (root?.totals.contents.length ?? 0) > 0

/** @throws {ToolkitError} PROJECTION_CHANGED where the lake holds what was loaded with another declaration */
export const checkProjection = (
  lake: string,
  root: SnapshotRoot | null,
  { take = {}, changeTaken = false }: DeclaredTake,
): void => {
  const held = newestProjection(root)
  if (hasLoads(root) && !changeTaken && !isSameProjection(held, take))
    throw projectionDiffers(lake, held, take)
}

export const sameProjection = ({ lake, run }: StagedRun, declared: DeclaredTake): CommitRule => ({
  look: async (root) => {
    checkProjection(lake, root, declared)
    return undefined
  },
  add: async (next) => {
    const { snapshot } = next.committed
    return { ...next, ...takenWith(next.root, { run, snapshot }, declared.take ?? {}) }
  },
})
