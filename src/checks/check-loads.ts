/** The expectations about a lake: of its loads, against the manifest, and the number of its companies. */

import { type CheckResult, valueStrings } from '../core/checks.ts'
import { unlookedSince } from '../core/last-listings.ts'
import type { PullEntry } from '../core/partition.ts'
import { nameKey } from '../core/unknown-names.ts'
import type { LakeQuery } from '../lake/query/lake-query.ts'
import { readRows } from '../lake/query/read-rows.ts'
import type { Facts } from '../lake/views/fact-columns.ts'
import { knowsName } from '../manifest/form/forgotten.ts'
import { readFactsOf } from '../manifest/snapshots/read-facts.ts'
import { listOf, type SnapshotRoot } from '../manifest/snapshots/snapshot-root.ts'
import type { Expectations } from '../options/interfaces.ts'
import { formatCount } from '../support/format.ts'

export interface LoadFacts extends Pick<Facts, 'sources' | 'pulls' | 'drift'> {
  readonly entries: readonly PullEntry[]
  /** Whether a load has had a name that no drift names any more, by its `nameKey`. */
  readonly knowsName: (name: string) => boolean
}

/** When a run began, by its id: `20261122T134422123Z-…`. */
const startedMs = (run: string): number =>
  Date.parse(run.replace(/^(\d{4})(\d\d)(\d\d)T(\d\d)(\d\d)(\d\d)(\d{3})Z.*$/, '$1-$2-$3T$4:$5:$6.$7Z'))

const runsOf = (loads: readonly { readonly run?: unknown }[]): readonly string[] =>
  [...new Set(loads.map(({ run }) => String(run)))].sort()

const sumOf = (rows: readonly Readonly<Record<string, unknown>>[], name: string): number =>
  rows.reduce((sum, row) => sum + Number(row[name] ?? 0), 0)

const result = (
  name: string,
  value: number | null,
  isGood: boolean,
  expected: string,
  limit?: number,
): CheckResult => ({
  ...{ name, value, ...(limit !== undefined && { limit }), expected },
  status: isGood ? 'passed' : 'failed',
})

const atMost = (name: string, value: number | null, limit: number, more = ''): CheckResult =>
  result(
    name,
    value,
    value !== null && value <= limit,
    `at most ${valueStrings(name, value ?? limit, limit)[1]}${more}`,
    limit,
  )

const age = ({ sources }: LoadFacts, maxAgeMs: number, now: Date): CheckResult => {
  const newest = runsOf(sources).at(-1)
  const seconds = newest === undefined ? null : Math.round((now.getTime() - startedMs(newest)) / 1000)
  return atMost('age_seconds', seconds, maxAgeMs / 1000)
}

/** Nothing where no pull has ever loaded companies. */
const unlooked = ({ entries }: LoadFacts, maxUnlookedMs: number, now: Date): readonly CheckResult[] => {
  const since = unlookedSince(entries)
  if (since === undefined) return []
  const seconds = Math.max(0, Math.round((now.getTime() - Date.parse(since)) / 1000))
  return [atMost('unlooked_seconds', seconds, maxUnlookedMs / 1000)]
}

const searchOf = ({ service, search }: LoadFacts['pulls'][number]): string => `${service} ${search}`
const isWhole = ({ from_day, to_day }: LoadFacts['pulls'][number]): boolean =>
  (from_day ?? null) === null && (to_day ?? null) === null

/**
 * Compared by content: a load of relations is no small load of companies. Only a whole pull or sync of a search says how much there is of it,
 * and is held to the whole one before. What brings changes alone (some days, files) takes no company away: nothing falls.
 */
const falls = ({ sources, pulls }: LoadFacts, maxFall: number): readonly CheckResult[] =>
  [...Map.groupBy([...sources, ...pulls], ({ content }) => String(content))].map(([content, loads]) => {
    const newest = runsOf(loads).at(-1)
    const whole = pulls.filter((pull) => String(pull.content) === content && isWhole(pull))
    const recordsOf = (pull: LoadFacts['pulls'][number]): number =>
      pull.received === undefined
        ? sumOf(
            sources.filter((one) => one.run === pull.run && String(one.content) === content),
            'records',
          )
        : Number(pull.received)
    const found = whole
      .filter(({ run }) => run === newest)
      .map((now) => {
        const before = whole.findLast((one) => one.run !== newest && searchOf(one) === searchOf(now))
        const had = before === undefined ? 0 : recordsOf(before)
        return had === 0 ? 0 : 1 - recordsOf(now) / had
      })
    const fall = found.length === 0 ? 0 : Math.max(...found)
    return atMost(`fall_${content}`, fall, maxFall, ' of the whole load before')
  })

const quarantined = ({ sources }: LoadFacts, most: number): CheckResult => {
  const newest = runsOf(sources).at(-1)
  const of = sources.filter(({ run }) => run === newest)
  const lines = sumOf(of, 'lines')
  const share = lines === 0 ? 0 : sumOf(of, 'quarantined') / lines
  return atMost('quarantined_share', share, most)
}

const gap = ({ pulls }: LoadFacts, most: number): CheckResult => {
  const newest = new Map(
    pulls.map(({ content, service, search, gap_left }) => [
      `${content} ${service} ${search}`,
      Number(gap_left ?? 0),
    ]),
  )
  const records = Math.max(0, ...newest.values())
  return atMost('pull_gap', records, most)
}

const newDrift = ({ sources, drift, knowsName }: LoadFacts): CheckResult => {
  const newest = runsOf(sources).at(-1)
  const known = new Set(drift.filter(({ run }) => run !== newest).map(nameKey))
  const names = new Set(drift.filter(({ run }) => run === newest).map(nameKey))
  const fresh = [...names].filter((name) => !known.has(name) && !knowsName(name))
  return result('new_drift', fresh.length, fresh.length === 0, 'no name that no load had before')
}

/** Facts of the manifest about the loads up to a snapshot. @throws {ToolkitError} as `readFactsOf` */
export const loadFactsOf = async (lake: string, root: SnapshotRoot): Promise<LoadFacts> => {
  const read = readFactsOf(lake, root)
  return {
    sources: await Array.fromAsync(read('sources')),
    pulls: await Array.fromAsync(read('pulls')),
    drift: await Array.fromAsync(read('drift')),
    entries: await listOf(lake, root, 'pulls'),
    knowsName: knowsName(root),
  }
}

/** Every expectation that is given, in this order. */
export const checkLoads = (facts: LoadFacts, expected: Expectations, now: Date): readonly CheckResult[] => {
  const { maxAgeMs, maxUnlookedMs, maxFall, maxQuarantined, maxGap, noNewDrift } = expected
  return [
    ...(maxAgeMs === undefined ? [] : [age(facts, maxAgeMs, now)]),
    ...(maxUnlookedMs === undefined ? [] : unlooked(facts, maxUnlookedMs, now)),
    ...(maxFall === undefined ? [] : falls(facts, maxFall)),
    ...(maxQuarantined === undefined ? [] : [quarantined(facts, maxQuarantined)]),
    ...(maxGap === undefined ? [] : [gap(facts, maxGap)]),
    ...(noNewDrift ? [newDrift(facts)] : []),
  ]
}

/** @param value current companies */
export const companiesResult = (value: number, minCompanies: number): CheckResult =>
  result('companies', value, value >= minCompanies, `at least ${formatCount(minCompanies)}`, minCompanies)

/** The number of companies, and of those that the newest load restates, where something is expected of it. */
export const checkCompanies = async (
  lake: LakeQuery,
  { minCompanies, maxRestated }: Expectations,
): Promise<readonly CheckResult[]> => {
  if (minCompanies === undefined && maxRestated === undefined) return []
  const [row] = await readRows(await lake.run('SELECT count(*) AS companies FROM companies'))
  const companies = Number(row?.companies)
  return [
    ...(minCompanies === undefined ? [] : [companiesResult(companies, minCompanies)]),
    ...(maxRestated === undefined ? [] : [await restated(lake, companies, maxRestated)]),
  ]
}

const restated = async (lake: LakeQuery, companies: number, most: number): Promise<CheckResult> => {
  const [row] = await readRows(
    await lake.run('SELECT restated FROM load_changes ORDER BY snapshot DESC, run DESC LIMIT 1'),
  )
  return atMost('restated_share', companies === 0 ? 0 : Number(row?.restated ?? 0) / companies, most)
}
