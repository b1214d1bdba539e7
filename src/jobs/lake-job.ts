/** The frame of each job that changes a lake: its call is read, and its targets are updated once it has committed. */

import { orInterrupted, ToolkitError } from '../core/errors.ts'
import { type OptionTable, type Read, takenBy } from '../options/entry.ts'
import type { CommonOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { UPDATE_TARGETS } from '../options/publish.ts'
import { allDelivered } from '../run/load-job.ts'
import type { TargetsSummary } from '../targets/update-targets.ts'

type WithTargets<Done> = Omit<CommonOptions<Done>, 'threads'> & {
  readonly threads?: number | undefined
  readonly dryRun?: boolean | undefined
  readonly expectNothing?: boolean | undefined
}

/**
 * Does a job, then updates its targets; these are checked first, so that unusable ones are refused before anything is
 * loaded. Their code is imported only where there are some; a dry run has none.
 *
 * @param noun of the message when a signal stopped it, whatever failed by that. @default errors with a code stay
 * @throws {ToolkitError} COMPANIES_MISSING after all else
 */
export const withTargets = async <Done extends object>(
  options: WithTargets<Done>,
  work: () => Promise<Done>,
  noun?: string,
): Promise<Done & TargetsSummary> => {
  const { publish = [], sinks = [], signal, onCommitted, dryRun, expectNothing } = options
  const hasTargets = !dryRun && !expectNothing && publish.length + sinks.length > 0
  const targets = hasTargets ? await import('../targets/update-targets.ts') : undefined
  const ofTargets = takenBy(UPDATE_TARGETS, options)
  await targets?.checkTargets(ofTargets)
  const stopped = (error: unknown): never => {
    if (!signal?.aborted || error instanceof ToolkitError) throw error
    throw new ToolkitError('INTERRUPTED', 'The work was interrupted', {}, error)
  }
  const done = await (noun === undefined ? work().catch(stopped) : orInterrupted(noun, signal, work))
  await onCommitted?.(done)
  const finished = { ...done, ...((await targets?.updateTargets(ofTargets)) ?? { delivered: [] }) }
  allDelivered([done])
  return finished
}

/** As `job`, then the targets. @param noun as of `withTargets` */
export const lakeJob = <Options extends WithTargets<Done>, T extends OptionTable, Done extends object>(
  call: string,
  table: T,
  work: (options: Read<Options, T>) => Promise<Done>,
  noun?: string,
): ((options: Options) => Promise<Done & TargetsSummary>) =>
  job(call, table, (options: Read<Options, T>) =>
    withTargets(options as unknown as WithTargets<Done>, () => work(options), noun),
  )
