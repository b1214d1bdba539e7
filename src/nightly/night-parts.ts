/** The outcome of each part of a night, as its result shows it. */

import { type CheckResult, ChecksFailed } from '../core/checks.ts'
import { knownError } from '../core/errors.ts'
import { sumOf } from '../manifest/form/totals.ts'
import { skippedFiles } from '../pull/batch-files/choose-batch-files.ts'
import { notDeliveredError } from '../run/load-job.ts'
import type { PullJob, SyncJob } from '../run/run-plan.ts'
import type { ListedBatchFile } from '../source/service/service.ts'
import { formatCounted } from '../support/format.ts'
import type { PartOutcome } from './load-together.ts'
import type { LoadPart, PulledPart } from './open-loads.ts'

/** A part of a night. */
export interface NightPart {
  /** As firmlake.toml names it; of what follows the loads the name of its section. */
  readonly name: string
  readonly kind: string
  /** `planned`: of a dry run, what would be done. `nothing`: there was nothing to do. `held-back`: a part that is needed failed before, or nothing is loaded yet. */
  readonly state: 'done' | 'planned' | 'nothing' | 'failed' | 'held-back'
  /** Code of the error of one that failed. */
  readonly code?: string
  readonly reason?: string
  /** The checks that failed, where it failed because of them. */
  readonly checks?: readonly CheckResult[]
  /** Number of the snapshot that it made, or is part of. */
  readonly snapshot?: number | null
  readonly records?: number
  readonly quarantined?: number
  /** Records of which the lake had newer data: they are history; absent where there are none. */
  readonly older?: number
  /** Batch files of the listing that cannot be asked for, by name. */
  readonly skipped?: readonly { readonly source: string; readonly reason: string }[]
  /** Path of the report. */
  readonly path?: string
}

const KINDS = { pull: 'pull', sync: 'sync', batches: 'batch_files', convert: 'files' } as const

/** Other errors' words may quote data. */
export const failedPart = (name: string, kind: string, error: unknown): NightPart => {
  const { code, message } = knownError(error) ?? { code: 'UNEXPECTED', message: 'See FIRMLAKE_DEBUG=1' }
  const checks = error instanceof ChecksFailed ? { checks: error.checks } : {}
  return { name, kind, state: 'failed', code, reason: message, ...checks }
}

export const plannedPart = (name: string, kind: string, reason: string): NightPart => ({
  ...{ name, kind, reason },
  state: 'planned',
})

const askedFor = ({ search }: PullJob | SyncJob): string => `the search ${JSON.stringify(search)}`

/** The request that a load would make. */
const intentOf = (job: LoadPart['job']): string => {
  switch (job.kind) {
    case 'pull':
      return `would pull the ${job.content} of ${askedFor(job)}${job.since === undefined ? ', all of them' : `, changed since ${job.since === 'last' ? 'the last pull' : job.since}`}, from ${job.url}`
    case 'sync':
      return `would list the companies of ${askedFor(job)} and fetch what is new or changed, from ${job.url}`
    case 'batches':
      return `would download the batch files that the lake does not hold, from ${job.url}`
    case 'convert':
      return `would load ${job.inputs.join(', ')}, where the lake does not hold it`
  }
}

/** A load of a night that is not begun. */
export const plannedLoad = ({ name, job }: LoadPart): NightPart =>
  plannedPart(name, KINDS[job.kind], intentOf(job))

export const heldBack = (name: string, kind: string, reason: string): NightPart => ({
  ...{ name, kind, reason },
  state: 'held-back',
})

/** The facts about a pull besides its records. */
const withPull = (pulled: PulledPart | undefined): object => {
  if (pulled === undefined) return {}
  const { announced, received, gapLeft } = pulled.entry
  return { announced, received, gap: gapLeft ?? 0, since: pulled.plan.since?.from ?? null }
}

/** Why a part failed; of one that is loaded, what did not come of it. */
export const errorOf = (outcome: PartOutcome): unknown => {
  if (outcome.kind === 'failed') return outcome.error
  const missing = outcome.kind === 'loaded' ? outcome.pulled?.missing : undefined
  return missing && notDeliveredError([missing])
}

/** Names what was skipped, in the reason too: a table of the parts shows that alone. */
const withSkipped = (part: NightPart, unnameable: readonly ListedBatchFile[] = []): NightPart => {
  if (unnameable.length === 0) return part
  const skipped = skippedFiles({ unnameable })
  const strings = skipped.map(({ source, reason }) => `"${source}" is skipped: ${reason}`)
  return { ...part, reason: [...(part.reason ? [part.reason] : []), ...strings].join('; '), skipped }
}

/** Companies that are marked as gone by the listing of a pull or sync. */
const goneOfPart = ({ summary, pulled }: Extract<PartOutcome, { readonly kind: 'loaded' }>): number => {
  const search = pulled && JSON.stringify(pulled.entry.search)
  return sumOf(summary.gone?.filter((one) => one.search === search) ?? [], ({ marked }) => marked)
}

export const loadPartOf = (outcome: PartOutcome): NightPart => {
  const { name, job } = outcome.part
  const kind = KINDS[job.kind]
  switch (outcome.kind) {
    case 'failed':
      return failedPart(name, kind, outcome.error)
    case 'held-back':
      return heldBack(name, kind, `"${outcome.by}" is needed and failed`)
    case 'nothing':
      return withSkipped({ name, kind, state: 'nothing', reason: outcome.reason }, outcome.unnameable)
    case 'loaded': {
      const { older, counts } = outcome
      const { records, quarantined, lines } = counts
      const snapshot = outcome.summary.snapshot?.snapshot ?? null
      const gone = goneOfPart(outcome)
      const state = lines === 0 && gone === 0 ? 'nothing' : 'done'
      const reason =
        gone > 0
          ? { reason: `${formatCounted(gone, 'company', 'companies')} left the service` }
          : lines === 0
            ? { reason: 'no new record came' }
            : {}
      const counted = {
        name,
        kind,
        state,
        snapshot,
        records,
        quarantined,
        ...(older > 0 && { older }),
        ...reason,
        ...withPull(outcome.pulled),
      } as const
      const shown = withSkipped(counted, outcome.unnameable)
      const error = errorOf(outcome)
      return error === undefined ? shown : { ...shown, ...failedPart(name, kind, error) }
    }
  }
}

/** A pull in all detail; `undefined` for what is none, and where the service as a whole did not answer. */
export const pullShown = (outcome: PartOutcome): object | undefined => {
  const { name, job } = outcome.part
  if (job.kind !== 'pull') return undefined
  const { content } = job
  if (outcome.kind === 'failed') {
    const { code, reason } = failedPart(name, 'pull', outcome.error)
    return { name, content, error: { code, message: reason } }
  }
  if (outcome.kind !== 'loaded' || outcome.pulled === undefined) return undefined
  const { summary, counts, pulled } = outcome
  const { entry, plan, windows } = pulled
  return {
    ...{ name, content, run: summary.run, snapshot: summary.snapshot?.snapshot ?? null },
    ...{ since: plan.since?.from ?? null, windows: windows.length },
    ...{ announced: entry.announced, received: entry.received, gap: entry.gapLeft ?? 0 },
    ...{ undated: plan.undated ?? 0, quarantined: counts.quarantined },
    differences: windows
      .filter(({ announced, received }) => announced !== received)
      .map(({ name: window, announced, received }) => ({ window, announced, received })),
  }
}
