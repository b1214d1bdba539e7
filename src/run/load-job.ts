/** Shared by all jobs that load: their limits, and the error of records that did not come. */

import { ToolkitError } from '../core/errors.ts'
import type { NotDelivered } from './opened-job.ts'
import type { RunLimits } from './run-plan.ts'

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

const sumOf = (missing: readonly NotDelivered[], name: 'asked' | 'came'): number =>
  missing.reduce((all, one) => all + one[name], 0)

const MISSING_STRINGS: Readonly<Record<NotDelivered['kind'], (asked: number, came: number) => string>> = {
  listed: (asked, came) =>
    `Cannot fetch all companies that are new or changed: ${asked} are, ${came} came when asked for by their ids, expected ` +
    'all; what came is committed, and the next sync finds the others again',
  counted: (asked, came) =>
    `Cannot pull all records that the service counts: ${asked} are, ${came} came, expected all; what came is committed, and the ` +
    'next pull asks for the others again; batch files may hold what it does not give',
}

export const notDeliveredError = (missing: readonly NotDelivered[]): ToolkitError => {
  const strings = [...Map.groupBy(missing, ({ kind }) => kind)].map(([kind, some]) =>
    MISSING_STRINGS[kind](sumOf(some, 'asked'), sumOf(some, 'came')),
  )
  return new ToolkitError('COMPANIES_MISSING', strings.join('. '), {
    asked: sumOf(missing, 'asked'),
    came: sumOf(missing, 'came'),
  })
}

/** @throws {ToolkitError} COMPANIES_MISSING unless all companies came */
export const allDelivered = (reports: readonly { readonly missing?: readonly NotDelivered[] }[]): void => {
  const missing = reports.flatMap((one) => one.missing ?? [])
  if (missing.length > 0) throw notDeliveredError(missing)
}
