/**
 * A month of nights: `nightly` against a served lake in which companies come, change, are restated, leave and break, whose answers
 * are refused at times, and where some days nothing happens. After each night it is checked; at the end the report must
 * tell what happened. A case is a night; a week ends with a `sync`.
 */

import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { readSettings } from '../../src/config/read-settings.ts'
import { ToolkitError } from '../../src/core/errors.ts'
import { check } from '../../src/jobs/check.ts'
import type { NightPart } from '../../src/jobs/night-parts.ts'
import type { Environment } from '../../src/jobs/night-settings.ts'
import { nightly } from '../../src/jobs/nightly.ts'
import { report } from '../../src/jobs/report.ts'
import { sync } from '../../src/jobs/sync.ts'
import { listSnapshots } from '../../src/manifest/snapshots.ts'
import { openService } from '../../src/source/service/service.ts'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import { MonthService, TOKEN } from './month-service.ts'
import { compareStory } from './month-story.ts'
import { EVENTS, type ExpectedNight, MonthWorld, type NightEvent } from './month-world.ts'
import { ShiftedClock } from './shifted-clock.ts'

const COMPANIES = 300
const DAY_MS = 86_400_000
const HOUR_MS = 3_600_000
/** In the night of a day, UTC. */
const NIGHT_MS = 2.25 * HOUR_MS
const SEARCH = { CountryCode: ['SE'] }
const FIRST_BROKEN = 7
/** Two nights without a load are one too many. */
const MAX_AGE_MS = 50 * HOUR_MS

/** The first night has everything and a broken line; then each kind comes once before any comes again. */
const eventsOf = (nights: number, random: () => number): readonly NightEvent[] => {
  const events: NightEvent[] = ['quiet']
  while (events.length < nights) {
    const round = [...EVENTS, 'quiet' as const]
    // A quiet day comes after another one, so that a night has nothing to bring.
    while (round.length > 0) {
      const [event = 'quiet'] = round.splice(Math.floor(random() * round.length), 1)
      events.push(event, ...(event === 'quiet' ? (['quiet'] as const) : []))
    }
  }
  return events.slice(0, nights)
}

const NIGHT_FILE = `
[[pull]]
name = "companies"
content = "companies"
search = { CountryCode = ["SE"] }
[[pull]]
name = "relations"
content = "relations"
search = { CountryCode = ["SE"] }
[check]
max_age = "50h"
max_quarantined = "0%"
max_gap = 0
new_drift = false
data = false
`

/** What rings in a night by its parts: the codes of those that fail, of checks their names. Each once, though two parts fail by it. */
const alarmsOf = (parts: readonly NightPart[]): readonly string[] => {
  const failed = parts.filter(({ state }) => state === 'failed')
  const names = failed.flatMap(({ code = '', reason = '' }) =>
    code === 'CHECK_FAILED' ? reason.slice(reason.lastIndexOf(':') + 2).split(', ') : [code],
  )
  return [...new Set(names)].sort()
}

/** A night as the command does it. */
const runNight = async (folder: string, env: Environment): Promise<readonly NightPart[]> => {
  const path = join(folder, 'firmlake.toml')
  const { settings } = readSettings(NIGHT_FILE, path, folder)
  let parts: readonly NightPart[] = []
  const report = (done: object): void => {
    if ('parts' in done && Array.isArray(done.parts)) parts = done.parts
  }
  await nightly(env, { signal: new AbortController().signal, report }, settings).catch((reason: unknown) => {
    if (!(reason instanceof ToolkitError)) throw reason
  })
  return parts
}

const expectedAlarms = (night: ExpectedNight, lastLoad: string): readonly string[] =>
  [
    ...(night.error === undefined ? [] : [night.error]),
    ...(night.quarantined > 0 ? ['quarantined_share'] : []),
    ...(night.drift.length > 0 ? ['new_drift'] : []),
    ...(Date.parse(night.day) - Date.parse(lastLoad) >= MAX_AGE_MS ? ['age_seconds'] : []),
  ].sort()

const runNights = async (
  folder: string,
  { cases, random, log }: CampaignOptions,
): Promise<CampaignResult> => {
  const wrong: string[] = []
  const lake = join(folder, 'lake')
  await using service = await MonthService.open(folder)
  using clock = new ShiftedClock()
  const firstMs = Math.floor(Date.now() / DAY_MS - cases) * DAY_MS
  const dayOf = (at: number): string => new Date(firstMs + at * DAY_MS).toISOString().slice(0, 10)
  const world = new MonthWorld(random, dayOf(0), COMPANIES)
  const env = {
    ...{ FIRMLAKE_URL: service.url, FIRMLAKE_TOKEN: TOKEN, FIRMLAKE_LAKE: lake },
    FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
  }
  const nights: ExpectedNight[] = []
  let [snapshots, lastLoad, rang] = [0, dayOf(0), 0]
  for (const [at, event] of eventsOf(cases, random).entries()) {
    const day = dayOf(at)
    clock.moveTo(firstMs + at * DAY_MS + NIGHT_MS)
    const broken = at === 0 ? new Set([FIRST_BROKEN]) : world.happen(event, day)
    const refuses = (path: string): number | undefined =>
      event === 'refused' ? 401 : event === 'half' && path.includes('relations') ? 400 : undefined
    await service.hold(world.companies, world.relations, { broken, refuses })
    const rings = alarmsOf(await runNight(folder, env))
    const isListed = at % 7 === 5 && event !== 'refused' && event !== 'half' && event !== 'broken'
    const night = world.pull(event, day, broken)
    const say = (what: string): void => {
      wrong.push(`night ${at} (${event}): ${what}`)
      log(wrong.at(-1) ?? '')
    }
    const made = (await listSnapshots(lake)).length - snapshots
    if (made !== (night.isCommitted ? 1 : 0)) say(`${made} snapshots, expected ${night.isCommitted ? 1 : 0}`)
    if (night.isCommitted) lastLoad = day
    const expected = expectedAlarms(night, lastLoad)
    if (String(rings) !== String(expected)) say(`rang [${rings}], expected [${expected}]`)
    rang += rings.length
    if (isListed) {
      nights.push(world.list(night))
      const { fetched = 0, left = 0 } = nights.at(-1)?.listed ?? {}
      const from = openService({ url: service.url, token: TOKEN, maxRequestsPerSecond: 500 })
      const { sync: found, gone = [] } = await sync({ from, lake, search: SEARCH })
      const marked = gone.reduce((sum, one) => sum + (one.marked ?? 0), 0)
      if (found.fetched !== fetched || marked !== left)
        say(`the list fetched ${found.fetched} and marked ${marked}, expected ${fetched} and ${left}`)
      // A list that loads no company is no load.
      if (fetched > 0) lastLoad = day
    } else nights.push(night)
    snapshots = (await listSnapshots(lake)).length
    if (at % 10 === 9) log(`${at + 1} of ${cases} nights, ${wrong.length} wrong`)
  }
  const { checks } = await check(lake)
  for (const { name, status, value } of checks)
    if (status !== 'passed') wrong.push(`the rule "${name}" finds ${value} in sound data`)
  const to = join(folder, 'report.html')
  await report(lake, { to })
  const kept = process.env.FIRMLAKE_MONTH_REPORT
  if (kept) await report(lake, { to: kept, maxAgeMs: MAX_AGE_MS, maxGap: 0 })
  wrong.push(...compareStory(await readFile(to, 'utf8'), nights, world.shown))
  const committed = nights.filter(({ isCommitted }) => isCommitted).length
  return { cases, wrong, figures: { committed, quiet: cases - committed, snapshots, alarms: rang } }
}

export const campaign: Campaign = {
  about:
    'a month of nights makes a snapshot where something came, rings where it should, and the report tells its story',
  wholeCases: 30,
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-month-'))
    try {
      return await runNights(folder, options)
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}
