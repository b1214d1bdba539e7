/**
 * What has changed at the service since the last time, into the lake: companies, then relations, each with a commit of its
 * own; then published tables and further sinks are updated. For cron or a Kubernetes CronJob. Settings come from the
 * environment (docs/nightly.md), one JSON summary goes to standard output. An interrupted night is resumed when this is
 * started again.
 */

import {
  catalogFromEnvironment,
  checkTargets,
  type PullReport,
  parseSearch,
  pull,
  readFormats,
  readToken,
  runProgram,
  service,
  type TargetEvent,
  ToolkitError,
  updateTargets,
} from '../src/index.ts'

const { env } = process
const text = (name: string): string => {
  if (env[name]) return env[name]
  throw new ToolkitError('USAGE', `Cannot pull: ${name} is not set`)
}
const words = (name: string): readonly string[] => env[name]?.match(/\S+/g) ?? []
const number = (name: string, unit = 1): number | undefined =>
  env[name] ? Number(env[name]) * unit : undefined

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

await runProgram(async ({ signal, report }) => {
  const pulls: object[] = []
  report({ pulls })
  const lake = text('FIRMLAKE_LAKE')
  const from = service({
    url: text('FIRMLAKE_URL'),
    token: await readToken({ env: env.FIRMLAKE_TOKEN, file: env.FIRMLAKE_TOKEN_FILE || undefined }),
    maxRequestsPerSecond: number('FIRMLAKE_MAX_REQUESTS_PER_SECOND'),
    maxWaitMs: number('FIRMLAKE_MAX_WAIT_SECONDS', 1000),
  })
  const search = parseSearch(text('FIRMLAKE_SEARCH'), 'FIRMLAKE_SEARCH')
  const ofRelations = env.FIRMLAKE_RELATIONS_SEARCH || text('FIRMLAKE_SEARCH')
  const relations = parseSearch(ofRelations, 'FIRMLAKE_RELATIONS_SEARCH')
  const publish = readFormats(words('FIRMLAKE_PUBLISH'))
  const targets = { lake, publish, sinks: words('FIRMLAKE_SINKS'), catalog: catalogFromEnvironment() }
  await checkTargets(targets).catch(({ message }: Error) => {
    throw new ToolkitError('USAGE', `Cannot read FIRMLAKE_SINKS: ${message}`)
  })
  const shared = { from, lake, since: 'last', signal }
  const currency = env.FIRMLAKE_CURRENCY || undefined
  pulls.push(pulled(await pull({ ...shared, content: 'companies', search, currency })))
  pulls.push(pulled(await pull({ ...shared, content: 'relations', search: relations })))
  await updateTargets({ ...targets, signal, onTarget: (event) => report(updated(event)) })
  return from.counters()
})
