/** The projection of a run: the one that its caller declares, else the one that the lake was loaded with before. */

import { checkProjection, projectionDiffers } from '../commit/same-projection.ts'
import { type KeptTake, keptTake, type Projection, takesAll } from '../lake/projection/projection.ts'
import type { KeepsRecord } from '../load/record-filter.ts'
import { newestProjection } from '../manifest/form/projections.ts'
import { rootIfAny } from '../manifest/snapshots/snapshots.ts'
import type { RunPlan } from './run-plan.ts'

export interface ProjectionOptions {
  /** The key of hashed columns. @default that of the environment */
  readonly hashKey?: string | Uint8Array | undefined
  /** A function that leaves records out. @default none */
  readonly keeps?: KeepsRecord | undefined
  /** @default what the newest load of the lake took */
  readonly take?: Projection | undefined
  /** Takes what is declared, and without a declaration everything, whatever earlier loads of the lake took. @default false */
  readonly changeTaken?: boolean | undefined
}

/** As it is kept: with the mark of its key. The SQL of a declaration is checked here. */
const compiled = async (take: KeptTake, hashKey: ProjectionOptions['hashKey']): Promise<KeptTake> => {
  const { compileProjection } = await import('../lake/projection/compile-projection.ts')
  return (await compileProjection(take, hashKey))?.declared ?? take
}

/**
 * The projection that a run is begun with.
 *
 * @throws {ToolkitError} PROJECTION_INVALID, PROJECTION_CHANGED, HASH_KEY_WRONG
 */
export const projectionOfRun = async (
  lake: string,
  { take, hashKey, keeps, changeTaken = false }: ProjectionOptions,
): Promise<Pick<RunPlan, 'take' | 'changeTaken'>> => {
  const root = await rootIfAny(lake)
  const isDeclared = take !== undefined || keeps !== undefined || changeTaken
  const asked = isDeclared ? keptTake({ ...take, byFunction: keeps !== undefined }) : newestProjection(root)
  if (asked.byFunction && keeps === undefined)
    throw projectionDiffers(lake, asked, { ...asked, byFunction: false })
  const declared = takesAll(asked) ? asked : await compiled(asked, hashKey)
  const plan = { ...(!takesAll(declared) && { take: declared }), ...(changeTaken && { changeTaken }) }
  checkProjection(lake, root, plan)
  return plan
}
