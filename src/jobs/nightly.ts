/** `nightly`: what has changed at the service since the last time, by settings of the environment, in one call. */

import { LIMITS } from '../contract/limits.ts'
import { ToolkitError } from '../core/errors.ts'
import { orInterrupted } from '../core/interrupted.ts'
import type { PullSettings } from '../pipeline/pull/pull-settings.ts'
import { type PulledPart, pullTogether } from '../pipeline/pull/pull-together.ts'
import { parseSearch } from '../pipeline/pull/search.ts'
import { DEFAULT_MAX_QUARANTINED, parseQuarantineLimit } from '../pipeline/run/quarantine-limit.ts'
import { catalogFromEnvironment } from '../pipeline/targets/catalog-environment.ts'
import {
  checkTargets,
  readFormats,
  type TargetEvent,
  updateTargets,
} from '../pipeline/targets/update-targets.ts'
import { openService, type ServiceCounters } from '../source/service/service.ts'
import { readToken } from '../source/service/token.ts'
import type { ProgramWork } from './run-program.ts'
import { DEFAULT_CONCURRENCY } from './service-job.ts'

/** Variables by name, such as `process.env`. */
type Environment = Readonly<Record<string, string | undefined>>

const settingsOf = (env: Environment) => {
  const text = (name: string): string => {
    if (env[name]) return env[name]
    throw new ToolkitError('USAGE', `Cannot pull: ${name} is not set`)
  }
  const number = (name: string, unit = 1): number | undefined =>
    env[name] ? Number(env[name]) * unit : undefined
  return { text, number, words: (name: string): readonly string[] => env[name]?.match(/\S+/g) ?? [] }
}

/** One pull, as the summary shows it. */
const shown = (part: PulledPart): object => {
  const { content } = part.settings
  if (part.kind === 'failed')
    return { content, error: { code: part.error.code, message: part.error.message } }
  const { summary, entry, plan, windows } = part
  return {
    ...{ content, run: summary.run, snapshot: summary.snapshot?.snapshot ?? null },
    ...{ since: plan.since?.from ?? null, windows: windows.length },
    ...{ announced: entry.announced, received: entry.received, gap: entry.gapLeft ?? 0 },
    undated: plan.undated ?? 0,
    quarantined: summary.partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0),
    differences: windows
      .filter(({ announced, received }) => announced !== received)
      .map(({ name: window, announced, received }) => ({ window, announced, received })),
  }
}

/** What was done to the targets, as the summary shows it. */
const updated = (event: TargetEvent): object => {
  if (event.kind === 'published')
    return { published: { formats: event.formats, snapshot: event.summary.snapshot } }
  if (event.kind !== 'delivered') return {}
  const warnings = event.delivered.flatMap((one) => one.warnings)
  return { delivered: event.delivered, ...(warnings.length > 0 && { warnings }) }
}

/**
 * Pulls what has changed at the service since the last time, companies and relations, in one commit: one snapshot a night, and
 * none where nothing came. A pull that can only fail again does not hold back the other one. Then published tables and
 * further sinks are updated. An interrupted night is resumed when it is called again. For `runProgram`, as
 * pipelines/nightly.ts does.
 *
 * @param env settings: `FIRMLAKE_URL`, `FIRMLAKE_TOKEN`, `FIRMLAKE_LAKE`, `FIRMLAKE_SEARCH` and more (docs/nightly.md)
 * @param program receives what is finished: `pulls`, `published`, `delivered`
 * @returns requests, retries and bytes of the service
 * @throws {ToolkitError} `USAGE` for a setting that is missing or wrong, `TOKEN_MISSING`; what `pull` and `updateTargets` throw; of a pull that failed alone after all else
 * @example
 * import { nightly } from 'firmlake'
 *
 * const env = {
 *   FIRMLAKE_URL: 'https://service.example.com',
 *   FIRMLAKE_TOKEN: 'my-token',
 *   FIRMLAKE_LAKE: './lake',
 *   FIRMLAKE_SEARCH: '{"CountryCode":["SE"]}',
 * }
 * const { retries } = await nightly(env, { signal: AbortSignal.timeout(3_600_000), report: () => {} })
 * console.log(retries) // 0
 */
export const nightly = async (
  env: Environment,
  { signal, report }: ProgramWork,
): Promise<ServiceCounters> => {
  const pulls: object[] = []
  report({ pulls })
  const { text, number, words } = settingsOf(env)
  const lake = text('FIRMLAKE_LAKE')
  const from = openService({
    url: text('FIRMLAKE_URL'),
    token: await readToken({ env: env.FIRMLAKE_TOKEN, file: env.FIRMLAKE_TOKEN_FILE || undefined }),
    maxRequestsPerSecond: number('FIRMLAKE_MAX_REQUESTS_PER_SECOND'),
    maxWaitMs: number('FIRMLAKE_MAX_WAIT_SECONDS', 1000),
  })
  const search = parseSearch(text('FIRMLAKE_SEARCH'), 'FIRMLAKE_SEARCH')
  const ofRelations = env.FIRMLAKE_RELATIONS_SEARCH || text('FIRMLAKE_SEARCH')
  const relations = parseSearch(ofRelations, 'FIRMLAKE_RELATIONS_SEARCH')
  const publish = readFormats(words('FIRMLAKE_PUBLISH'))
  const targets = { lake, publish, sinks: words('FIRMLAKE_SINKS'), catalog: catalogFromEnvironment(env) }
  await checkTargets(targets).catch(({ message }: Error) => {
    throw new ToolkitError('USAGE', `Cannot read FIRMLAKE_SINKS: ${message}`)
  })
  const shared = { since: 'last', cap: LIMITS.cursorCap, pageSize: LIMITS.pageSize.most }
  const currency = env.FIRMLAKE_CURRENCY || undefined
  const searches: readonly PullSettings[] = [
    { ...shared, content: 'companies', search, currency },
    { ...shared, content: 'relations', search: relations },
  ]
  const parts = await orInterrupted('The night', signal, () =>
    pullTogether(from.url, searches, {
      ...{ lake, service: from, concurrency: DEFAULT_CONCURRENCY, signal },
      limit: parseQuarantineLimit(DEFAULT_MAX_QUARANTINED),
    }),
  )
  pulls.push(...parts.map(shown))
  const failed = parts.find((part) => part.kind === 'failed')
  if (failed && parts.every(({ kind }) => kind === 'failed')) throw failed.error
  await updateTargets({ ...targets, signal, onTarget: (event) => report(updated(event)) })
  if (failed) throw failed.error
  return from.counters()
}
