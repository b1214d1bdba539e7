/** `nightly`: what has changed at the service since the last time, by settings of the environment, in one call. */

import { ToolkitError } from '../core/errors.ts'
import { parseSearch } from '../pipeline/pull/search.ts'
import { catalogFromEnvironment } from '../pipeline/targets/catalog-environment.ts'
import {
  checkTargets,
  readFormats,
  type TargetEvent,
  updateTargets,
} from '../pipeline/targets/update-targets.ts'
import { openService, type ServiceCounters } from '../source/service/service.ts'
import { readToken } from '../source/service/token.ts'
import { type PullReport, pull } from './pull.ts'
import type { ProgramWork } from './run-program.ts'

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
const pulled = ({ run, snapshot, quarantined, pull: { entry, plan, windows } }: PullReport): object => ({
  ...{ content: entry.content, run, snapshot, since: plan.since?.from ?? null, windows: windows.length },
  ...{ announced: entry.announced, received: entry.received, gap: entry.gapLeft ?? 0 },
  ...{ undated: plan.undated ?? 0, quarantined },
  differences: windows
    .filter(({ announced, received }) => announced !== received)
    .map(({ name: window, announced, received }) => ({ window, announced, received })),
})

/** What was done to the targets, as the summary shows it. */
const updated = (event: TargetEvent): object => {
  if (event.kind === 'published')
    return { published: { formats: event.formats, snapshot: event.summary.snapshot } }
  if (event.kind !== 'delivered') return {}
  const warnings = event.delivered.flatMap((one) => one.warnings)
  return { delivered: event.delivered, ...(warnings.length > 0 && { warnings }) }
}

/**
 * Pulls what has changed at the service since the last time, companies, then relations, each with a commit of its own; then
 * published tables and further sinks are updated. An interrupted night is resumed when it is called
 * again. For `runProgram`, as pipelines/nightly.ts does.
 *
 * @param env settings: `FIRMLAKE_URL`, `FIRMLAKE_TOKEN`, `FIRMLAKE_LAKE`, `FIRMLAKE_SEARCH` and more (docs/nightly.md)
 * @param program receives what is finished: `pulls`, `published`, `delivered`
 * @returns requests, retries and bytes of the service
 * @throws {ToolkitError} `USAGE` for a setting that is missing or wrong, `TOKEN_MISSING`; what `pull` and `updateTargets` throw
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
  const shared = { from, lake, since: 'last', signal }
  const currency = env.FIRMLAKE_CURRENCY || undefined
  pulls.push(pulled(await pull({ ...shared, content: 'companies', search, currency })))
  pulls.push(pulled(await pull({ ...shared, content: 'relations', search: relations })))
  await updateTargets({ ...targets, signal, onTarget: (event) => report(updated(event)) })
  return from.counters()
}
