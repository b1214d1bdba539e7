/**
 * What has changed at the service since the last time, into the lake: companies, then relations, each with a commit of its
 * own; then publications and further sinks are brought in step. For cron or a Kubernetes CronJob. Settings come from the
 * environment (docs/nightly.md), one JSON summary goes to standard output. A night that was cut off goes on when this is
 * started again.
 */

import {
  catalogFromEnvironment,
  checkTargets,
  EXIT,
  exitCodeOf,
  type PullReport,
  parseSearch,
  pull,
  readFormats,
  readToken,
  service,
  ToolkitError,
  updateTargets,
} from '../src/index.ts'

const { env } = process
const text = (name: string): string => {
  const value = env[name]
  if (value) return value
  throw new ToolkitError('USAGE', `Cannot pull: ${name} is not set`)
}
const words = (name: string): readonly string[] => env[name]?.match(/\S+/g) ?? []
const number = (name: string): number | undefined => (env[name] ? Number(env[name]) : undefined)

/** One pull, as the summary shows it. */
const pulled = ({ run, snapshot, quarantined, pull: { entry, plan, windows } }: PullReport): object => ({
  ...{ content: entry.content, run, snapshot, since: plan.since?.from ?? null, windows: windows.length },
  ...{ announced: entry.announced, received: entry.received, gap: entry.gapLeft ?? 0 },
  ...{ undated: plan.undated ?? 0, quarantined },
  differences: windows
    .filter(({ announced, received }) => announced !== received)
    .map(({ name: window, announced, received }) => ({ window, announced, received })),
})

/** The whole night; `pulls` and `done` have what was finished, also where this fails. */
const night = async (
  signal: AbortSignal,
  pulls: object[],
  done: Record<string, unknown>,
): Promise<object> => {
  const lake = text('FIRMLAKE_LAKE')
  const maxWaitSeconds = number('FIRMLAKE_MAX_WAIT_SECONDS')
  const from = service({
    url: text('FIRMLAKE_URL'),
    token: await readToken({ env: env.FIRMLAKE_TOKEN, file: env.FIRMLAKE_TOKEN_FILE || undefined }),
    maxRequestsPerSecond: number('FIRMLAKE_MAX_REQUESTS_PER_SECOND'),
    maxWaitMs: maxWaitSeconds && maxWaitSeconds * 1000,
  })
  const search = parseSearch(text('FIRMLAKE_SEARCH'), 'FIRMLAKE_SEARCH')
  const relations = parseSearch(
    env.FIRMLAKE_RELATIONS_SEARCH || text('FIRMLAKE_SEARCH'),
    'FIRMLAKE_RELATIONS_SEARCH',
  )
  const publish = readFormats(words('FIRMLAKE_PUBLISH'))
  const targets = { lake, publish, sinks: words('FIRMLAKE_SINKS'), catalog: catalogFromEnvironment() }
  await checkTargets(targets).catch((error: Error) => {
    throw new ToolkitError('USAGE', `Cannot read FIRMLAKE_SINKS: ${error.message}`, {}, error)
  })
  const shared = { from, lake, since: 'last', signal }
  const currency = env.FIRMLAKE_CURRENCY || undefined
  pulls.push(pulled(await pull({ ...shared, content: 'companies', search, currency })))
  pulls.push(pulled(await pull({ ...shared, content: 'relations', search: relations })))
  await updateTargets({
    ...{ ...targets, signal },
    onTarget: (event) => {
      if (event.kind === 'published')
        done.published = { formats: event.formats, snapshot: event.summary.snapshot }
      if (event.kind !== 'delivered') return
      const warnings = event.delivered.flatMap((one) => one.warnings)
      Object.assign(done, { delivered: event.delivered, ...(warnings.length > 0 && { warnings }) })
    },
  })
  return from.counters()
}

const stop = new AbortController()
let stoppedBy: NodeJS.Signals | undefined
for (const signal of ['SIGINT', 'SIGTERM'] as const)
  process.once(signal, () => {
    stoppedBy ??= signal
    stop.abort()
  })
const [startedMs, pulls, done] = [performance.now(), [] as object[], {}]
const print = (outcome: string, more: object): void => {
  const seconds = Math.round(performance.now() - startedMs) / 1000
  console.log(JSON.stringify({ outcome, pulls, ...done, ...more, seconds }))
}
try {
  print('done', await night(stop.signal, pulls, done))
} catch (error) {
  // Words that are not ours may quote data.
  const told = error instanceof ToolkitError ? error : { code: 'UNEXPECTED', message: 'See FIRMLAKE_DEBUG=1' }
  if (env.FIRMLAKE_DEBUG) console.error(error)
  process.exitCode = told.code === 'TOKEN_MISSING' ? EXIT.usage : exitCodeOf(error, stoppedBy)
  const outcome = stoppedBy ? 'stopped' : process.exitCode === EXIT.busy ? 'later' : 'failed'
  print(outcome, { error: { code: told.code, message: told.message } })
}
