/** The frame of each load: it is measured, checked before it is shown where that is asked for, and done without keeping it in a dry run. */

import type { SnapshotAudit } from '../commit/check-before.ts'
import { readCall } from '../options/entry.ts'
import type { LoadCheck } from '../options/interfaces.ts'
import type { LoadSummary } from '../run/commit-loaded.ts'
import type { RunOptions } from '../run/load-into-lake.ts'
import { type RunReport, reportOf } from '../run/run-report.ts'
import type { RunEvent } from '../run/work/progress.ts'
import type { DryLake } from './dry-lake.ts'

const openDry = async (lake: string): Promise<DryLake> => (await import('./dry-lake.ts')).openDryLake(lake)

type Watched = Pick<RunOptions, 'lake' | 'memoryBytes' | 'threads' | 'onEvent'> & {
  readonly check?: LoadCheck | undefined
  readonly dryRun?: boolean | undefined
  readonly expectNothing?: boolean | undefined
  readonly signal?: AbortSignal | undefined
}

/** The check of a load before it is shown; where another one is held back it may give that up. @throws as `discardIfHeld` */
export const auditOf = async (
  { lake, memoryBytes, threads }: Watched,
  check: LoadCheck,
): Promise<SnapshotAudit> => {
  const { checkBefore } = await import('../checks/check-before.ts')
  const { LOAD_CHECK } = await import('../options/held.ts')
  const asked = readCall('the load', LOAD_CHECK, check)
  if (asked.held === 'replace') await (await import('../run/discard-held.ts')).discardIfHeld(lake)
  return checkBefore({ lake, memoryBytes, threads }, asked)
}

/** Does a load, watching how long it takes and how much it decodes. */
export const measured = async <Options extends Watched, T>(
  options: Options,
  load: (run: Options & Pick<RunOptions, 'audit'>) => Promise<T>,
): Promise<{ readonly loaded: T; readonly report: (summary: LoadSummary) => RunReport }> => {
  const startMs = performance.now()
  let decodedBytes = 0
  const onEvent = (event: RunEvent): void => {
    if (event.kind === 'progress') decodedBytes = event.progress.decodedBytes
    options.onEvent?.(event)
  }
  const { check, dryRun = false, expectNothing = false } = options
  const dry = dryRun || expectNothing ? await openDry(options.lake) : undefined
  try {
    const given = {
      ...{ ...options, onEvent },
      ...(dry && { lake: dry.lake }),
      ...(expectNothing && { again: true }),
    }
    // A dry run is shown to nobody, and need not be held back.
    const audit = dry ? undefined : check && (await auditOf(options, check))
    const loaded = await load({ ...given, ...(audit && { audit }) })
    const would = await dry?.changes(options)
    const seconds = (performance.now() - startMs) / 1000
    return { loaded, report: (summary) => reportOf(summary, { seconds, decodedBytes }, would) }
  } finally {
    dry?.close()
  }
}
