/** The runs over sources of a program, which no other process can open again. */

import type { Source } from '../../core/source.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../../run/load-into-lake.ts'
import type { RunPlan } from '../../run/run-plan.ts'
import { sharesOf } from '../../run/run-tools.ts'
import { withRun } from '../../run/with-run.ts'

/** As the manifest names such runs. */
const PIPELINE = 'program'

/**
 * Starts or resumes a run over sources, known by their names, and loads them. Only the same call resumes it, and only where
 * all of them can be read again.
 */
export const convertSources = async (
  sources: readonly Source[],
  { again, limits }: Pick<RunPlan, 'again' | 'limits'>,
  options: RunOptions,
): Promise<LoadSummary> => {
  const plan: RunPlan = {
    jobs: [{ kind: 'program', pipeline: PIPELINE, inputs: sources.map(({ name }) => name), cwd: '' }],
    again,
    limits: { ...defaultLimits(options, sources), ...limits },
  }
  const fresh = sources.some(({ fingerprint }) => fingerprint === undefined)
  const { lake, mode } = options
  const { blockBytes: mostBlockBytes = sharesOf(options).blockBytes } = limits
  return withRun({ lake, plan, mode, fresh, mostBlockBytes, taking: options }, (run) =>
    loadIntoLake(run, [{ sources }], options),
  )
}
