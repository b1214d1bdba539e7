/** Plays the nights of a year one after the other, and judges each. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { check } from '../../src/jobs/check/check.ts'
import { report } from '../../src/jobs/report/report.ts'
import { sync } from '../../src/jobs/sync/sync.ts'
import { listManifest, newestNumber } from '../../src/manifest/snapshots/snapshots.ts'
import { createService } from '../../src/source/service/service.ts'
import { missingDuckLake } from '../support/ducklake.ts'
import type { CampaignOptions, CampaignResult } from './campaign.ts'
import { ShiftedClock } from './shifted-clock.ts'
import { holdAll, loadAll, type WayOfAll, wayAfter } from './year-all.ts'
import { ExpectedLake, type ExpectedNight } from './year-expected.ts'
import { YearFigures } from './year-figures.ts'
import { YearLess } from './year-less.ts'
import { endsWeek, YearLife } from './year-life.ts'
import { alarmsOf, YearNights } from './year-night.ts'
import { otherReadersMissing } from './year-readers.ts'
import { compareRows } from './year-rows.ts'
import { CALM, faultsOf, TOKEN, YearService } from './year-service.ts'
import { compareStory } from './year-story.ts'
import { EVENTS, type NightEvent, YearWorld } from './year-world.ts'

/** A short year has fewer companies: most of its time goes with them. */
const companiesOf = (nights: number): number => Math.min(300, 120 + 6 * nights)
const DAY_MS = 86_400_000
/** Always the same year, so that the same seed gives the same rows. */
const FIRST_MS = Date.UTC(2025, 0, 1)
const HOUR_MS = 3_600_000
/** In the night of a day, UTC. */
const NIGHT_MS = 2.25 * HOUR_MS
const SEARCH = { CountryCode: ['SE'] }
const FIRST_BROKEN = 7
/** Two nights without a load are one too many. */
const MAX_AGE_MS = 50 * HOUR_MS
/** So often all rows are compared, and after whatever is done to the lake besides loading. */
const COMPARED_EVERY = 4
const WEEK = 7
/** The night of a week that lists all companies. */
const LISTED = 5
/** Whoever stops a year early has seen its figures. */
const TABLE_EVERY = 60
/** Of so many nights one is played by the command. */
const COMMAND_EVERY = 10
/** A writing call of a night's command, counted from 1: some nights have fewer. */
const WRITING_CALLS = 250

/** The first night has everything and a broken line; then each kind comes once before any comes again. */
const eventsOf = (nights: number, random: () => number): readonly NightEvent[] => {
  const events: NightEvent[] = ['quiet']
  while (events.length < nights) {
    const round = [...EVENTS]
    // A quiet day comes after another one, so that a night has nothing to bring.
    while (round.length > 0) {
      const [event = 'quiet'] = round.splice(Math.floor(random() * round.length), 1)
      events.push(event, ...(event === 'quiet' ? (['quiet'] as const) : []))
    }
  }
  return events.slice(0, nights)
}

const expectedAlarms = (night: ExpectedNight, lastLoad: string): readonly string[] =>
  [
    ...(night.error === undefined ? [] : [night.error]),
    ...(night.quarantined > 0 ? ['quarantined_share'] : []),
    ...(night.drift.length > 0 ? ['new_drift'] : []),
    ...(Date.parse(night.day) - Date.parse(lastLoad) >= MAX_AGE_MS ? ['age_seconds'] : []),
  ].sort()

export class PlayedYear implements AsyncDisposable {
  readonly #options: CampaignOptions
  readonly #lake: string
  readonly #folder: string
  readonly #service: YearService
  readonly #clock = new ShiftedClock()
  readonly #world: YearWorld
  readonly #expected = new ExpectedLake()
  readonly #nights: YearNights
  readonly #life: YearLife
  readonly #less: YearLess
  readonly #figures = new YearFigures()
  readonly #wrong: string[] = []
  readonly #told: ExpectedNight[] = []
  readonly #counts = new Map<string, number>()
  #lastLoad: string
  #hash = ''

  private constructor(folder: string, options: CampaignOptions, service: YearService, less: YearLess) {
    this.#less = less
    this.#options = options
    this.#folder = folder
    this.#lake = join(folder, 'lake')
    this.#service = service
    this.#lastLoad = this.#dayOf(0)
    this.#world = new YearWorld(options.random, this.#dayOf(0), companiesOf(options.cases))
    this.#life = new YearLife(this.#lake, this.#expected, options.cases)
    this.#nights = new YearNights(folder, {
      ...{ FIRMLAKE_URL: service.url, FIRMLAKE_TOKEN: TOKEN, FIRMLAKE_LAKE: this.#lake },
      FIRMLAKE_MAX_REQUESTS_PER_SECOND: '500',
    })
  }

  static async open(folder: string, options: CampaignOptions): Promise<PlayedYear> {
    const service = await YearService.open(folder)
    return new PlayedYear(folder, options, service, await YearLess.open(join(folder, 'less'), service.url))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#clock[Symbol.dispose]()
    await this.#service[Symbol.asyncDispose]()
  }

  #dayOf(at: number): string {
    return new Date(FIRST_MS + at * DAY_MS).toISOString().slice(0, 10)
  }

  #count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
  }

  async play(): Promise<CampaignResult> {
    const { cases, random, log } = this.#options
    for (const [at, event] of eventsOf(cases, random).entries()) {
      const before = this.#wrong.length
      await this.#playNight(at, event)
      for (const line of this.#wrong.slice(before)) log(line)
      if (at % TABLE_EVERY === TABLE_EVERY - 1)
        for (const line of [...this.#figures.table(), this.#life.room]) log(line)
      if (at % 10 === 9) log(`${at + 1} of ${cases} nights, ${this.#wrong.length} wrong`)
    }
    await this.#end()
    if (this.#service.strayed > 0) this.#wrong.push(`${this.#service.strayed} requests followed a redirect`)
    for (const line of this.#figures.table()) log(line)
    const committed = this.#told.filter(({ isCommitted }) => isCommitted).length
    const figures = {
      ...{ committed, quiet: cases - committed, ...Object.fromEntries(this.#counts) },
      'read by other readers': otherReadersMissing() ?? this.#life.readByOthers,
      'asked by agents': this.#life.askedByAgents,
      'catalogs read': missingDuckLake() ?? this.#life.catalogsRead,
      room: this.#life.room,
      'hash of the last rows': this.#hash,
    }
    return { cases, wrong: this.#wrong, figures }
  }

  async #playNight(at: number, event: NightEvent): Promise<void> {
    const day = this.#dayOf(at)
    const say = (what: string): void => {
      this.#wrong.push(`night ${at} (${event}): ${what}`)
    }
    this.#clock.moveTo(FIRST_MS + at * DAY_MS + NIGHT_MS)
    const broken = at === 0 ? new Set([FIRST_BROKEN]) : this.#world.happen(event, day)
    const refuses = (path: string): number | undefined =>
      event === 'refused' ? 401 : event === 'half' && path.includes('relations') ? 400 : undefined
    const { companies } = this.#world
    const faults = event === 'faulty' ? faultsOf(this.#options.random) : []
    for (const { fault } of faults) this.#count(`fault ${fault}`)
    await holdAll(this.#service, companies, {
      ...{ broken, refuses },
      faults: event === 'redirected' ? this.#service.redirects : faults,
    })
    const { snapshot } = this.#expected
    const night = this.#expected.pull(event, day, { companies, broken })
    const rings = await this.#figures.measure(this.#lake, () => this.#run(at, event))
    const made = (await newestNumber(this.#lake)) - snapshot
    if (made !== this.#expected.snapshot - snapshot)
      say(`${made} snapshots, expected ${this.#expected.snapshot - snapshot}`)
    if (night.isCommitted) this.#lastLoad = day
    const expected = expectedAlarms(night, this.#lastLoad)
    if (String(rings) !== String(expected)) say(`rang [${rings}], expected [${expected}]`)
    this.#count('alarms', rings.length)
    const isListed = at % WEEK === LISTED && night.error === undefined && event !== 'broken'
    const listed = isListed ? await this.#list(night, say) : night
    const { cases } = this.#options
    const way = wayAfter(at, cases)
    this.#told.push(way ? await this.#loadAll(listed, way, say) : listed)
    if (endsWeek(at, cases)) {
      await holdAll(this.#service, companies, CALM)
      for (const what of await this.#less.play(day, companies)) say(what)
    }
    const lived = await this.#life.live(at)
    for (const what of lived.wrong) say(what)
    if (endsWeek(at, cases)) await this.#figures.measureMemory()
    if (way || lived.changed || at === cases - 1 || at % COMPARED_EVERY === 0) await this.#compare(say)
  }

  async #compare(say: (what: string) => void): Promise<void> {
    const { wrong, rows, hash } = await compareRows(this.#lake, this.#expected)
    for (const what of wrong) say(what)
    this.#count('rows compared', rows)
    this.#hash = hash
  }

  /** @returns what rang */
  async #run(at: number, event: NightEvent): Promise<readonly string[]> {
    if (event !== 'killed' && event !== 'full')
      return alarmsOf(await (at % COMMAND_EVERY === 3 ? this.#nights.byCommand() : this.#nights.byLibrary()))
    const nth = 1 + Math.floor(this.#options.random() * WRITING_CALLS)
    const { end, parts } = await this.#nights.disturbed({ kind: event === 'full' ? 'ENOSPC' : 'kill', nth })
    this.#count(`${event}: ${end}`)
    return alarmsOf(parts)
  }

  async #list(night: ExpectedNight, say: (what: string) => void): Promise<ExpectedNight> {
    const listed = this.#expected.list(night, this.#world.companies)
    const { fetched = 0, left = 0 } = listed.listed ?? {}
    const from = createService({ url: this.#service.url, token: TOKEN, maxRequestsPerSecond: 500 })
    const { sync: found, gone = [] } = await sync({ from, lake: this.#lake, search: SEARCH })
    await from.close()
    const marked = gone.reduce((sum, one) => sum + (one.marked ?? 0), 0)
    if (found.fetched !== fetched || marked !== left)
      say(`the list fetched ${found.fetched} and marked ${marked}, expected ${fetched} and ${left}`)
    // A list that loads no company is no load.
    if (fetched > 0) this.#lastLoad = night.day
    return listed
  }

  async #loadAll(night: ExpectedNight, way: WayOfAll, say: (what: string) => void): Promise<ExpectedNight> {
    const { companies } = this.#world
    for (const what of await loadAll(this.#service, this.#lake, companies, way)) say(what)
    this.#lastLoad = night.day
    this.#count(`all as ${way}`)
    return this.#expected.loadAll(night, companies, way)
  }

  async #end(): Promise<void> {
    const { checks } = await check({ lake: this.#lake })
    for (const { name, status, value } of checks)
      if (status !== 'passed') this.#wrong.push(`the rule "${name}" finds ${value} in sound data`)
    const to = join(this.#folder, 'report.html')
    await report({ lake: this.#lake, to })
    const kept = process.env.FIRMLAKE_YEAR_REPORT
    if (kept) await report({ lake: this.#lake, to: kept, maxAgeMs: MAX_AGE_MS, maxGap: 0 })
    const { snapshots } = await listManifest(this.#lake)
    const { compacted, forgot } = this.#life
    const story = { nights: this.#told, compacted, forgot, shown: this.#expected.shown.length }
    this.#wrong.push(
      ...compareStory(await readFile(to, 'utf8'), { ...story, snapshots: snapshots.length }),
      ...this.#figures.grown(),
    )
  }
}
