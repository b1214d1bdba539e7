/**
 * The settings of a night: by `firmlake.toml`, and by variables, which take precedence over it; after the loads a step for each
 * section.
 */

import { expectationsOf, loadCheckOf, rulesOfSection } from '../checks/check-section.ts'
import { type FileSettings, WEEKDAYS } from '../config/definition.ts'
import { LIMITS } from '../contract/limits.ts'
import { ChecksFailed, failedText } from '../core/checks.ts'
import { ToolkitError } from '../core/errors.ts'
import type { PullEntry } from '../core/partition.ts'
import { projectionOfSection } from '../jobs/projection-section.ts'
import { hashKeyOf } from '../lake/projection/hash-key.ts'
import { newestSnapshot, pullsIfAny } from '../manifest/snapshots/snapshots.ts'
import type { NightlyOptions } from '../options/interfaces.ts'
import { MAX_QUARANTINED } from '../options/lake-jobs.ts'
import { CONCURRENCY } from '../options/service.ts'
import { syncSettings } from '../pull/sync/find-changes.ts'
import { parseSearch } from '../pull/windows/search.ts'
import type { PullJob, SyncJob } from '../run/run-plan.ts'
import { createService, type Service } from '../source/service/service.ts'
import { readToken } from '../source/service/token.ts'
import { formatCount, formatCounted } from '../support/format.ts'
import { catalogFromEnvironment } from '../targets/catalog-environment.ts'
import { redacted } from '../targets/open-sink.ts'
import { checkTargets, readFormats, type TargetEvent, updateTargets } from '../targets/update-targets.ts'
import type { NightPart } from './night-parts.ts'
import type { LoadPart } from './open-loads.ts'
import { isWholeDue } from './whole-loads.ts'

/** Variables by name, such as `process.env`. */
export type Environment = Readonly<Record<string, string | undefined>>

type NightWarning = NightlyOptions['onWarning']

const PULL = { cap: LIMITS.cursorCap, pageSize: LIMITS.pageSize.max }

const missing = (name: string, key: string): ToolkitError =>
  new ToolkitError('USAGE', `Cannot pull: ${name} is not set, and no firmlake.toml has ${key}`)

const given = (env: Environment, name: string, inFile: string | undefined, key: string): string => {
  const value = env[name] || inFile
  if (value) return value
  throw missing(name, key)
}

/** The two pulls of a night whose searches are variables. */
const pullsOfVariables = (env: Environment, url: string): readonly LoadPart[] => {
  const text = given(env, 'FIRMLAKE_SEARCH', undefined, '[[pull]]')
  const search = parseSearch(text, 'FIRMLAKE_SEARCH')
  const relations = parseSearch(env.FIRMLAKE_RELATIONS_SEARCH || text, 'FIRMLAKE_RELATIONS_SEARCH')
  const currency = env.FIRMLAKE_CURRENCY || undefined
  const shared = { kind: 'pull', url, since: 'last', ...PULL } as const
  const job = (own: Pick<PullJob, 'content' | 'search' | 'currency'>): PullJob => ({ ...shared, ...own })
  return [
    { name: 'companies', needed: false, job: job({ content: 'companies', search, currency }) },
    { name: 'relations', needed: false, job: job({ content: 'relations', search: relations }) },
  ]
}

type Searched = Pick<NonNullable<FileSettings['sync']>[number], 'search' | 'currency' | 'by' | 'close_gap'>

const searchedBy = ({ search, currency, by, close_gap }: Searched) => ({
  ...{ search, currency, by },
  ...(close_gap === false && { closeGap: false }),
})

/** The loads of the file, in its order of sections. @param known the pulls of the lake */
const loadsOfFile = (
  { pull = [], sync = [], batch_files = [], files = [] }: FileSettings,
  url: string,
  known: readonly PullEntry[],
) => [
  ...pull.map((one): LoadPart => {
    const { name, content, whole, needed = false } = one
    const isWhole =
      whole !== undefined && isWholeDue(known, { ...one, url }, WEEKDAYS.indexOf(whole), new Date())
    const { since = 'last' } = isWhole ? { since: 'all' } : one
    if (content === 'relations' && one.currency !== undefined)
      throw new ToolkitError('USAGE', `Cannot pull "${name}" in a currency: relations have no figures`)
    const from = since === 'all' ? {} : { since }
    const job: PullJob = { kind: 'pull', url, content, ...PULL, ...searchedBy(one), ...from }
    return { name, needed, job }
  }),
  ...sync.map((one): LoadPart => {
    const job: SyncJob = { kind: 'sync', url, ...syncSettings(searchedBy(one)) }
    return { name: one.name, needed: one.needed ?? false, job }
  }),
  ...batch_files.map(({ name, content, countries, needed = false }): LoadPart => {
    const selection = { kind: 'all', ...(content && { content }), ...(countries && { countries }) } as const
    return { name, needed, job: { kind: 'batches', url, selection } }
  }),
  ...files.map(({ name, from, content, as_of: asOf, needed = false }): LoadPart => {
    const job = { kind: 'convert', inputs: from, cwd: process.cwd(), content, asOf } as const
    return { name, needed, job }
  }),
]

const wordsOf = (text: string | undefined): readonly string[] | undefined => text?.match(/\S+/g) ?? undefined

const numberOf = (text: string | undefined, unit = 1): number | undefined =>
  text ? Number(text) * unit : undefined

const openNightService = async (
  env: Environment,
  { service = {} }: FileSettings,
  url: string,
  onWarning: NightWarning,
) => {
  const { token_env, token_file, max_wait, max_requests_per_second, concurrency, trust_clock } = service
  const named = env.FIRMLAKE_TOKEN || (token_env && env[token_env]) || undefined
  if (named === undefined && token_env && !token_file && !env.FIRMLAKE_TOKEN_FILE)
    throw new ToolkitError(
      'TOKEN_MISSING',
      `Cannot call the service: the variable "${token_env}" is not set, which service.token_env of firmlake.toml names`,
    )
  return createService({
    ...{ url, concurrency, onWarning, trustClock: trust_clock },
    token: await readToken({ env: named, file: env.FIRMLAKE_TOKEN_FILE || (named ? undefined : token_file) }),
    maxRequestsPerSecond: numberOf(env.FIRMLAKE_MAX_REQUESTS_PER_SECOND) ?? max_requests_per_second,
    maxWaitMs: numberOf(env.FIRMLAKE_MAX_WAIT_SECONDS, 1000) ?? max_wait,
  })
}

/** The loads and their service. @throws {ToolkitError} USAGE, TOKEN_MISSING, TOKEN_INVALID, ADDRESS_REFUSED */
const loadsOf = async (env: Environment, settings: FileSettings, lake: string, onWarning: NightWarning) => {
  const { pull = [], sync = [], batch_files = [], files = [] } = settings
  const ofService = pull.length + sync.length + batch_files.length
  const needsService = ofService > 0 || files.length === 0
  if (!needsService) return { service: undefined, loads: loadsOfFile(settings, '', []) }
  const url = given(env, 'FIRMLAKE_URL', settings.service?.url, 'service.url')
  const service: Service = await openNightService(env, settings, url, onWarning)
  const known = (await pullsIfAny(lake))?.pulls ?? []
  const loads = ofService > 0 ? loadsOfFile(settings, url, known) : pullsOfVariables(env, url)
  return { service, loads }
}

/** The settings of a night, ready to begin. */
export const nightOf = async (
  env: Environment,
  settings: FileSettings,
  { adopt, overwrite, onWarning }: Partial<Pick<NightlyOptions, 'adopt' | 'overwrite' | 'onWarning'>> = {},
) => {
  const lake = given(env, 'FIRMLAKE_LAKE', settings.lake, 'lake')
  const { service, loads } = await loadsOf(env, settings, lake, onWarning)
  const { memory: memoryBytes, threads, local_bytes: localBytes } = settings.machine ?? {}
  const {
    max_quarantined: maxQuarantined = MAX_QUARANTINED.default.value,
    max_gone,
    skip_bad_files,
  } = settings.load ?? {}
  const { max_unknown_per_record, max_unknown_names } = settings.load ?? {}
  const { hash_key_env, hash_key_file } = settings.take ?? {}
  const hashKey = await hashKeyOf({
    FIRMLAKE_HASH_KEY: env.FIRMLAKE_HASH_KEY || (hash_key_env && env[hash_key_env]),
    FIRMLAKE_HASH_KEY_FILE: env.FIRMLAKE_HASH_KEY_FILE || hash_key_file,
  })
  const targets = {
    lake,
    publish: readFormats(wordsOf(env.FIRMLAKE_PUBLISH) ?? settings.targets?.publish ?? []),
    sinks: wordsOf(env.FIRMLAKE_SINKS) ?? settings.targets?.sinks ?? [],
    sinkTake: projectionOfSection(settings.sink_take),
    hashKey,
    adopt,
    overwrite,
    catalog: catalogFromEnvironment(env),
  }
  await checkTargets(targets).catch(({ message }: Error) => {
    const where = env.FIRMLAKE_SINKS ? 'FIRMLAKE_SINKS' : 'targets.sinks'
    throw new ToolkitError('USAGE', `Cannot read ${where}: ${message}`)
  })
  return {
    ...{ lake, loads, service, targets },
    machine: { memoryBytes, threads, localBytes },
    load: {
      maxQuarantined,
      maxGone: max_gone,
      skipBadFiles: skip_bad_files,
      maxUnknownPerRecord: max_unknown_per_record,
      maxUnknownNames: max_unknown_names,
      concurrency: settings.service?.concurrency ?? CONCURRENCY.default.value,
      take: projectionOfSection(settings.take),
      hashKey,
    },
    check: settings.check?.before === 'commit' ? await loadCheckOf(settings.check) : undefined,
  }
}

export type Night = Awaited<ReturnType<typeof nightOf>>

/** The arguments of every step. */
interface StepWork {
  readonly night: Night
  /** Whether any load brought something. */
  readonly hasLoaded: boolean
  readonly signal: AbortSignal
  readonly onTarget: (event: TargetEvent) => void
}

export interface NightStep {
  /** The name of the section. */
  readonly name: string
  readonly needed: boolean
  /** The part's work in words, for a dry run. */
  readonly intent: string
  readonly work: (work: StepWork) => Promise<Pick<NightPart, 'state'> & Partial<NightPart>>
}

const DEFAULT_PARTITIONS = 100

type Section<Name extends keyof FileSettings> = NonNullable<FileSettings[Name]>
type Work = NightStep['work']

const updated: Work = async ({ night: { targets, machine }, signal, onTarget }) => {
  await updateTargets({ ...targets, ...machine, signal, onTarget })
  return { state: 'done' }
}

const compacted =
  ({
    partitions: min = DEFAULT_PARTITIONS,
    auto = false,
    target_bytes: targetBytes,
    keep_history: keepHistoryMs,
  }: Section<'compact'>): Work =>
  async ({ night: { lake, targets, machine }, signal, onTarget }) => {
    const partitions = (await newestSnapshot(lake))?.partitions.length ?? 0
    if (!auto && partitions < min)
      return {
        state: 'nothing',
        reason: `${formatCount(partitions)} of ${formatCounted(min, 'partition')}`,
      }
    const { compact } = await import('../jobs/compact.ts')
    const { kind, snapshot } = await compact({
      ...{ ...targets, ...machine, auto, targetBytes, keepHistoryMs, signal, onTarget },
    })
    return { state: kind === 'nothing' ? 'nothing' : 'done', snapshot }
  }

const collected =
  ({ keep, keep_days: keepDays }: Section<'gc'>): Work =>
  async ({ night: { lake, targets }, signal }) => {
    const { gc } = await import('../jobs/gc.ts')
    const { catalog } = targets
    const { runs, snapshots, files } = await gc({ lake, keep, keepDays, catalog, signal })
    const reason = `${formatCounted(snapshots.length, 'snapshot')}, ${formatCounted(files.length, 'file')} and ${formatCounted(runs.length, 'run')} removed`
    return { state: snapshots.length + files.length + runs.length > 0 ? 'done' : 'nothing', reason }
  }

/** The expectations at the end: a night that has checked its loads before they were shown leaves out those that are about them. */
const atEnd = async (section: Section<'check'>, hasLoaded: boolean) => {
  const { maxAgeMs, maxUnlookedMs, minCompanies, ...ofLoads } = expectationsOf(section)
  const { data, only, skip, limits, before } = section
  const ofLake = { maxAgeMs, maxUnlookedMs, minCompanies }
  if (before === 'commit') return { ...ofLake, data: false }
  // The alarm about an earlier night's load has rung then.
  const expected = { ...ofLake, ...(hasLoaded && ofLoads) }
  return { ...expected, data, only, skip, limits, rules: await rulesOfSection(section) }
}

const passedText = ({ before }: Section<'check'>, count: number): string => {
  const counted = formatCounted(count, 'check')
  return before === 'commit' ? `${counted}; loads are checked before their commit` : counted
}

const checked =
  (section: Section<'check'>): Work =>
  async ({ night: { lake, machine }, hasLoaded }) => {
    const { check } = await import('../jobs/check.ts')
    const { memoryBytes, threads } = machine
    const { checks, failed } = await check({
      ...(await atEnd(section, hasLoaded)),
      ...{ lake, memoryBytes, threads },
    })
    if (failed === 0) return { state: 'done', reason: passedText(section, checks.length) }
    const wrong = checks.filter(({ status }) => status === 'failed')
    throw new ChecksFailed(
      'CHECK_FAILED',
      `The lake is not as expected: ${failed} of ${checks.length} checks failed: ${failedText(wrong)}`,
      { lake, failed },
      wrong,
    )
  }

const reported =
  (
    { to, line_items: lineItems, logo_text: logoText, title, language, explorer }: Section<'report'>,
    expected: Section<'check'>,
  ): Work =>
  async ({ night: { lake, machine }, signal }) => {
    const { report } = await import('../jobs/report.ts')
    const { memoryBytes, threads } = machine
    const options = {
      ...expectationsOf(expected),
      ...{ lake, to, lineItems, title, logoText, language, explorer, memoryBytes, threads, signal },
    }
    const { path, snapshot } = await report(options)
    return { state: 'done', path, snapshot }
  }

const compactIntent = ({ auto, partitions = DEFAULT_PARTITIONS }: Section<'compact'>): string =>
  auto
    ? 'would merge the newest partitions where there are too many'
    : `would compact from ${partitions} partitions on`

/** The steps of a night, in their order. */
export const stepsOf = (settings: FileSettings, { targets }: Night): readonly NightStep[] => {
  const { targets: own, compact, gc, check, report } = settings
  const step = (
    name: string,
    section: { readonly needed?: boolean } | undefined,
    intent: string,
    work: Work,
  ): NightStep => ({ ...{ name, intent, work }, needed: section?.needed ?? false })
  const places = [...targets.publish, ...targets.sinks.map(redacted)].join(', ')
  const update =
    targets.publish.length + targets.sinks.length > 0
      ? [step('targets', own, `would update ${places}`, updated)]
      : []
  const compaction = compact ? [step('compact', compact, compactIntent(compact), compacted(compact))] : []
  return [
    // Targets get the night's load before a merge puts it together with others: then the merge has nothing for them.
    ...update,
    ...compaction,
    ...(gc ? [step('gc', gc, 'would delete what is older than the section says', collected(gc))] : []),
    ...(check ? [step('check', check, 'would check what is expected of the lake', checked(check))] : []),
    ...(report ? [step('report', report, `would write ${report.to}`, reported(report, check ?? {}))] : []),
  ]
}
