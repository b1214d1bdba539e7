/** Shared by all jobs that load: options, reports, and the targets that are updated afterwards. */

import type { SnapshotAudit } from '../../commit/check-before.ts'
import { ToolkitError } from '../../core/errors.ts'
import { readCall } from '../../options/entry.ts'
import type { LoadCheck } from '../../options/interfaces.ts'
import type { LoadSummary } from '../../run/commit-loaded.ts'
import type { RunOptions } from '../../run/load-into-lake.ts'
import type { NotDelivered } from '../../run/opened-job.ts'
import type { RunLimits } from '../../run/run-plan.ts'
import type { RunEvent } from '../../run/work/progress.ts'
import type { DryLake } from './dry-lake.ts'
import { type RunReport, reportOf } from './run-report.ts'

interface LineLimits {
  readonly maxLineBytes?: number | undefined
  readonly maxRatio?: number | undefined
  readonly maxDepth?: number | undefined
}

/** The limits that were given: a run's plan keeps only those. */
export const limitsGiven = ({ maxLineBytes, maxRatio, maxDepth }: LineLimits): RunLimits => ({
  ...(maxLineBytes !== undefined && { maxLineBytes }),
  ...(maxRatio !== undefined && { maxRatio }),
  ...(maxDepth !== undefined && { maxDepth }),
})

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
  const { checkBefore } = await import('../check/check-before.ts')
  const { LOAD_CHECK } = await import('../../options/held.ts')
  const asked = readCall('the load', LOAD_CHECK, check)
  if (asked.held === 'replace') await (await import('../held/discard.ts')).discardIfHeld(lake)
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
    // What is not shown in any case need not be held back.
    const audit = dry ? undefined : check && (await auditOf(options, check))
    const loaded = await load({ ...given, ...(audit && { audit }) })
    const would = await dry?.changes(options)
    const seconds = (performance.now() - startMs) / 1000
    return { loaded, report: (summary) => reportOf(summary, { seconds, decodedBytes }, would) }
  } finally {
    dry?.close()
  }
}

const sumOf = (missing: readonly NotDelivered[], name: 'asked' | 'came'): number =>
  missing.reduce((all, one) => all + one[name], 0)

const MISSING_TEXTS: Readonly<Record<NotDelivered['kind'], (asked: number, came: number) => string>> = {
  listed: (asked, came) =>
    `Cannot fetch all companies that are new or changed: ${asked} are, ${came} came when asked for by their ids, expected ` +
    'all; what came is committed, and the next sync finds the others again',
  counted: (asked, came) =>
    `Cannot pull all records that the service counts: ${asked} are, ${came} came, expected all; what came is committed, and the ` +
    'next pull asks for the others again; batch files may hold what it does not give',
}

export const notDeliveredError = (missing: readonly NotDelivered[]): ToolkitError => {
  const texts = [...Map.groupBy(missing, ({ kind }) => kind)].map(([kind, some]) =>
    MISSING_TEXTS[kind](sumOf(some, 'asked'), sumOf(some, 'came')),
  )
  return new ToolkitError('COMPANIES_MISSING', texts.join('. '), {
    asked: sumOf(missing, 'asked'),
    came: sumOf(missing, 'came'),
  })
}

/** @throws {ToolkitError} COMPANIES_MISSING unless all companies came */
export const allDelivered = (reports: readonly { readonly missing?: readonly NotDelivered[] }[]): void => {
  const missing = reports.flatMap((one) => one.missing ?? [])
  if (missing.length > 0) throw notDeliveredError(missing)
}
