/**
 * What has changed at the service since the last time, into the lake: plan, companies, relations, each with a
 * commit of its own; then publications and further sinks are brought in step. For cron or a Kubernetes CronJob.
 * Settings come from the environment (docs/nightly.md), one JSON summary goes to standard output. A run that was cut
 * off goes on when this is started again.
 */

import {
  type CatalogOptions,
  type Content,
  DEFAULT_MEMORY_BYTES,
  type Delivery,
  type DeliverySink,
  deliver,
  LIMITS,
  openService,
  openSinks,
  type PullSettings,
  type PullSummary,
  parseQuarantineLimit,
  parseSearch,
  publish,
  pull,
  readToken,
  type Service,
  TABLE_FORMAT_NAMES,
  type TableFormatName,
  ToolkitError,
} from '../src/index.ts'

const SECOND_MS = 1000
const CONCURRENCY = 4
/** DuckDB's part while tables are delivered; a sink that is a DuckDB file takes as much beside it. */
const SINK_MEMORY_BYTES = Math.floor(DEFAULT_MEMORY_BYTES * 0.4)

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
  /** Records that no window could cover and nothing else has found. */
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
  gap: entry.gapLeft ?? 0,
  undated: plan.undated ?? 0,
  quarantined: summary.partitions.reduce((sum, { counts }) => sum + counts.quarantined, 0),
  differences: windows
    .filter(({ announced, received }) => announced !== received)
    .map(({ name, announced, received }) => ({ window: name, announced, received })),
})

/** What is brought in step with the lake when it is committed. */
interface Extras {
  readonly sinks: readonly DeliverySink[]
  readonly formats: readonly TableFormatName[]
}

/** What was done beside the lake; keys are there for what was asked for. */
interface Done {
  published?: { readonly formats: readonly TableFormatName[]; readonly snapshot: number }
  delivered?: readonly Delivery[]
  warnings?: readonly string[]
}

const words = (env: Environment, name: string): readonly string[] =>
  (env[name] ?? '').split(/\s+/).filter((word) => word !== '')

const formatOf = (name: string): TableFormatName => {
  const format = TABLE_FORMAT_NAMES.find((one) => one === name)
  if (format !== undefined) return format
  throw new ToolkitError(
    'USAGE',
    `Cannot read FIRMLAKE_PUBLISH "${name}": expected ${TABLE_FORMAT_NAMES.join(' or ')}`,
  )
}

/** Made before anything is pulled, so that what is wrong with them shows at once. @throws {ToolkitError} USAGE */
const extrasOf = async (env: Environment): Promise<Extras> => {
  const formats = words(env, 'FIRMLAKE_PUBLISH').map(formatOf)
  const sinks = await openSinks(words(env, 'FIRMLAKE_SINKS'), wanted(env, 'FIRMLAKE_LAKE')).catch(
    (error: unknown) => {
      if (!(error instanceof ToolkitError)) throw error
      throw new ToolkitError('USAGE', `Cannot read FIRMLAKE_SINKS: ${error.message}`, {}, error)
    },
  )
  return { sinks, formats }
}

/** The same variables as those of the command line. */
const catalogOf = (env: Environment): CatalogOptions | undefined =>
  env.FIRMLAKE_CATALOG
    ? {
        url: env.FIRMLAKE_CATALOG,
        warehouse: env.FIRMLAKE_CATALOG_WAREHOUSE || undefined,
        namespace: env.FIRMLAKE_CATALOG_NAMESPACE || undefined,
        token: env.FIRMLAKE_CATALOG_TOKEN || undefined,
        credential: env.FIRMLAKE_CATALOG_CREDENTIAL || undefined,
      }
    : undefined

const publishAll = async (
  env: Environment,
  formats: readonly TableFormatName[],
  signal: AbortSignal,
): Promise<Done> => {
  if (formats.length === 0) return {}
  const lake = wanted(env, 'FIRMLAKE_LAKE')
  const memoryBytes = SINK_MEMORY_BYTES
  const { snapshot } = await publish({ lake, formats, catalog: catalogOf(env), memoryBytes, signal })
  return { published: { formats, snapshot } }
}

const deliverAll = async (
  lake: string,
  sinks: readonly DeliverySink[],
  signal: AbortSignal,
): Promise<Done> => {
  if (sinks.length === 0) return {}
  const delivered = await deliver({ lake, sinks, signal })
  const warnings = delivered.flatMap((one) => one.warnings)
  return { delivered, ...(warnings.length > 0 && { warnings }) }
}

/** Brings publications and sinks in step with the lake. One that fails does not keep the other from its work. */
const doExtras = async (
  env: Environment,
  { sinks, formats }: Extras,
  signal: AbortSignal,
  onDone: (done: Done) => void,
): Promise<void> => {
  const steps = [
    () => publishAll(env, formats, signal),
    () => deliverAll(wanted(env, 'FIRMLAKE_LAKE'), sinks, signal),
  ]
  const failures: unknown[] = []
  for (const step of steps) {
    signal.throwIfAborted()
    await step().then(onDone, (error: unknown) => failures.push(error))
  }
  if (failures.length > 0) throw failures[0]
}

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

/** The whole night; `done` and `pulls` have what was finished, also where this fails. */
const night = async (
  env: Environment,
  signal: AbortSignal,
  { pulls, done }: { readonly pulls: Pulled[]; readonly done: Done },
): Promise<ReturnType<Service['counters']>> => {
  const extras = await extrasOf(env)
  const counters = await pullAll(env, signal, (pulled) => pulls.push(pulled))
  await doExtras(env, extras, signal, (more) => Object.assign(done, more))
  return counters
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
  const done: Done = {}
  const tell = (outcome: string, more: object): void => {
    const seconds = Math.round(performance.now() - startedMs) / SECOND_MS
    console.log(JSON.stringify({ outcome, pulls, ...done, ...more, seconds }))
  }
  try {
    tell('done', await night(process.env, controller.signal, { pulls, done }))
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
