/**
 * What has changed at the service since the last time, into the lake: plan, companies, relations, each with a
 * commit of its own; for cron or a Kubernetes CronJob. Settings come from the environment (docs/pulling.md), one
 * JSON summary goes to standard output. A run that was cut off goes on when this is started again.
 */

import {
  type Content,
  LIMITS,
  openService,
  type PullSettings,
  type PullSummary,
  parseQuarantineLimit,
  parseSearch,
  pull,
  readToken,
  type Service,
  ToolkitError,
} from '../src/index.ts'

const SECOND_MS = 1000
const CONCURRENCY = 4

/** Exit codes; 75 is EX_TEMPFAIL of sysexits.h: the same again may succeed later. */
const EXIT = { done: 0, failed: 1, usage: 2, quarantine: 3, later: 75, SIGINT: 130, SIGTERM: 143 } as const

type Environment = Readonly<Record<string, string | undefined>>

/** One content, as the summary tells of it. */
interface Pulled {
  readonly content: Content
  readonly run: string
  /** `null` where nothing was new: the lake stays as it is. */
  readonly snapshot: number | null
  /** First day that was asked for; `null`: everything. */
  readonly since: string | null
  readonly windows: number
  readonly announced: number
  readonly received: number
  /** Records that no window could cover. */
  readonly gap: number
  /** Records without the date that "since" goes by: only a whole pull finds their changes. */
  readonly undated: number
  readonly quarantined: number
  /** Windows that gave another number than they announced. */
  readonly differences: readonly { readonly window: string; readonly announced: number; received: number }[]
}

const wanted = (env: Environment, name: string): string => {
  const value = env[name]
  if (value) return value
  throw new ToolkitError('USAGE', `Cannot pull: ${name} is not set`)
}

const number = (env: Environment, name: string): number | undefined => {
  const text = env[name]
  if (!text) return undefined
  if (Number(text) > 0) return Number(text)
  throw new ToolkitError('USAGE', `Cannot read ${name} "${text}": expected a number above 0`)
}

/** What is asked for, companies first: relations have no currency, and parameters of their own. */
const settingsOf = (env: Environment): readonly PullSettings[] => {
  const search = wanted(env, 'FIRMLAKE_SEARCH')
  const own = env.FIRMLAKE_RELATIONS_SEARCH
  const shared = { since: 'last', pageSize: LIMITS.pageSize.most, cap: LIMITS.cursorCap } as const
  return [
    {
      ...shared,
      content: 'companies',
      search: parseSearch(search, 'FIRMLAKE_SEARCH'),
      currency: env.FIRMLAKE_CURRENCY || undefined,
    },
    {
      ...shared,
      content: 'relations',
      search: own ? parseSearch(own, 'FIRMLAKE_RELATIONS_SEARCH') : parseSearch(search, 'FIRMLAKE_SEARCH'),
    },
  ]
}

const serviceOf = async (env: Environment, url: string): Promise<Service> => {
  const maxRequestsPerSecond = number(env, 'FIRMLAKE_MAX_REQUESTS_PER_SECOND')
  const maxWaitSeconds = number(env, 'FIRMLAKE_MAX_WAIT_SECONDS')
  return openService({
    url,
    token: await readToken({ env: env.FIRMLAKE_TOKEN, file: env.FIRMLAKE_TOKEN_FILE || undefined }),
    concurrency: CONCURRENCY,
    ...(maxRequestsPerSecond !== undefined && { maxRequestsPerSecond }),
    ...(maxWaitSeconds !== undefined && { maxWaitMs: maxWaitSeconds * SECOND_MS }),
  })
}

const pulledOf = ({ summary, entry, plan, windows }: PullSummary): Pulled => ({
  content: entry.content,
  run: summary.run,
  snapshot: summary.snapshot?.snapshot ?? null,
  since: plan.since?.from ?? null,
  windows: windows.length,
  announced: entry.announced,
  received: entry.received,
  gap: Math.max(0, plan.announced - plan.planned),
  undated: plan.undated ?? 0,
  quarantined: summary.partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0),
  differences: windows
    .filter(({ announced, received }) => announced !== received)
    .map(({ name, announced, received }) => ({ window: name, announced, received })),
})

/** Pulls what the environment asks for; tells of each content as soon as it is committed. */
const pullAll = async (
  env: Environment,
  signal: AbortSignal,
  onPulled: (pulled: Pulled) => void,
): Promise<ReturnType<Service['counters']>> => {
  const [url, lake, all] = [wanted(env, 'FIRMLAKE_URL'), wanted(env, 'FIRMLAKE_LAKE'), settingsOf(env)]
  const service = await serviceOf(env, url)
  try {
    const limit = parseQuarantineLimit('1%')
    for (const settings of all)
      onPulled(
        pulledOf(await pull(url, settings, { lake, service, limit, concurrency: CONCURRENCY, signal })),
      )
    return service.counters()
  } finally {
    await service.close()
  }
}

const exitCodeOf = (error: unknown, stoppedBy: 'SIGINT' | 'SIGTERM' | undefined): number => {
  if (stoppedBy) return EXIT[stoppedBy]
  const code = error instanceof ToolkitError ? error.code : undefined
  if (code === 'SERVICE_BUSY') return EXIT.later
  if (code === 'QUARANTINE_LIMIT') return EXIT.quarantine
  return code === 'USAGE' || code === 'TOKEN_MISSING' ? EXIT.usage : EXIT.failed
}

const main = async (): Promise<void> => {
  const startedMs = performance.now()
  const controller = new AbortController()
  let stoppedBy: 'SIGINT' | 'SIGTERM' | undefined
  for (const signal of ['SIGINT', 'SIGTERM'] as const)
    process.once(signal, () => {
      stoppedBy ??= signal
      controller.abort()
    })
  const pulls: Pulled[] = []
  const tell = (outcome: string, more: object): void => {
    const seconds = Math.round(performance.now() - startedMs) / SECOND_MS
    console.log(JSON.stringify({ outcome, pulls, ...more, seconds }))
  }
  try {
    tell('done', await pullAll(process.env, controller.signal, (pulled) => pulls.push(pulled)))
  } catch (error) {
    process.exitCode = exitCodeOf(error, stoppedBy)
    const outcome = stoppedBy ? 'stopped' : process.exitCode === EXIT.later ? 'later' : 'failed'
    // Words that are not ours may quote data.
    const { code, message } =
      error instanceof ToolkitError ? error : { code: 'UNEXPECTED', message: 'See FIRMLAKE_DEBUG=1' }
    if (process.env.FIRMLAKE_DEBUG) console.error(error)
    tell(outcome, { error: { code, message } })
  }
}

if (process.argv[1] === import.meta.filename) await main()
