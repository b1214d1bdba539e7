/** Starts the runs over local files and over quarantined lines. */

import { randomBytes } from 'node:crypto'
import { createRun } from '../../manifest/runs.ts'
import { localSources } from '../../source/local-sources.ts'
import { defaultLimits, loadIntoLake, type RunOptions } from '../run/load-into-lake.ts'
import type { LoadSummary } from '../run/load-sources.ts'
import { type RunPlan, startRun } from '../run/start-run.ts'
import { type QuarantineFile, quarantineBlocks, quarantineSources } from './quarantine.ts'

/** Starts or takes up the run of a plan over local files, and works on it. */
export const convert = async (plan: Omit<RunPlan, 'pipeline'>, options: RunOptions): Promise<LoadSummary> => {
  const sources = await localSources(plan.inputs, plan.cwd)
  const whole = { pipeline: 'convert', ...plan, limits: { ...defaultLimits(options), ...plan.limits } }
  const { lake, mode } = options
  const request = { lake, plan: whole, now: new Date(), random: randomBytes, mode }
  // What can be read only once has other bytes each time: what an earlier run made of it proves nothing.
  const readsOnce = sources.some(({ fingerprint }) => fingerprint === undefined)
  const lease = await (readsOnce ? createRun(request) : startRun(request))
  return loadIntoLake(lease, whole, sources, options)
}

/**
 * Loads quarantined lines again, after a fix of the tool, the contract or the limits. A file of which no line
 * loads stays as it is; of the others what is still bad is set aside again.
 */
export const replay = async (
  files: readonly QuarantineFile[],
  limits: Readonly<Record<string, number>>,
  options: Omit<RunOptions, 'limit'>,
): Promise<LoadSummary> => {
  const plan = {
    pipeline: 'replay',
    inputs: files.map(({ sha256 }) => sha256),
    cwd: '',
    again: false,
    limits: { ...defaultLimits(options), ...limits },
  }
  const lease = await startRun({ lake: options.lake, plan, now: new Date(), random: randomBytes })
  const sources = new Map(quarantineSources(files).map(({ source, file }) => [source, file]))
  return loadIntoLake(lease, plan, [...sources.keys()], {
    ...options,
    limit: { kind: 'share', share: 1 },
    blocks: (source) => {
      const file = sources.get(source)
      if (file === undefined) throw new TypeError(`Cannot replay "${source.name}": it is no quarantine`)
      return quarantineBlocks(file, plan.limits.blockBytes)
    },
  })
}
