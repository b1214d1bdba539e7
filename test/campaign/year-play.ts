/** Plays the nights of a year one after the other, and judges each. */

import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { check } from '../../src/jobs/check.ts'
import { report } from '../../src/jobs/report.ts'
import { sync } from '../../src/jobs/sync.ts'
import { listManifest, newestNumber } from '../../src/manifest/snapshots/snapshots.ts'
import { createService } from '../../src/source/service/service.ts'
import { missingDuckLake } from '../support/ducklake.ts'
import type { CampaignOptions, CampaignResult } from './campaign.ts'
import { ShiftedClock } from './shifted-clock.ts'
import { holdAll, loadAll, type WayOfAll, wayAfter } from './year-all.ts'
import { ExpectedLake, type ExpectedNight } from './year-expected.ts'
import { YearFigures } from './year-figures.ts'
import { isHeldNight, YearHeld } from './year-held.ts'
import { YearLess } from './year-less.ts'
import { endsWeek, YearLife } from './year-life.ts'
import { alarmsOf, checkedFile, YearNights } from './year-night.ts'
import { otherReadersMissing } from './year-readers.ts'
import { compareRows } from './year-rows.ts'
import { CALM, faultsOf, TOKEN, YearService } from './year-service.ts'
import { compareStory } from './year-story.ts'
import { BEHIND, type Company, dayAfter, EVENTS, HELD, type NightEvent, YearWorld } from './year-world.ts'

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
const MAX_UNLOOKED_MS = 204 * HOUR_MS
/** So often all rows are compared, and after whatever is done to the lake besides loading. */
const COMPARED_EVERY = 4
const WEEK = 7
/** The night of a week that lists all companies. */
const LISTED = 5
/** Whoever stops a year early has seen its figures. */
const TABLE_EVERY = 60
/** Of so many nights one is played by the command. */
const COMMAND_EVERY = 10
/** Of the nights that are held back some are killed before, and played again. */
const SHARE_KILLED = 0.25
/** Companies of the file that comes in the place of one that is held back. */
const RIGHT_IN_PLACE = 3
/** A writing call of a night's command, counted from 1: some nights have fewer. */
const WRITING_CALLS = 250

/** A quiet day comes after another one, so that a night has nothing to bring; what is held back is decided on a night later. */
const behind = (event: NightEvent): readonly NightEvent[] =>
  event === 'quiet' ? ['quiet'] : event in BEHIND ? [BEHIND[event as keyof typeof BEHIND]] : []

/** The first night has everything and a broken line, the second one is held back; then each kind comes once before any comes again. */
const eventsOf = (nights: number, random: () => number): readonly NightEvent[] => {
  const held = HELD[Math.floor(random() * HELD.length)] ?? 'released'
  const events: NightEvent[] = ['quiet', held, ...behind(held)]
  while (events.length < nights) {
    const round = [...EVENTS]
    while (round.length > 0) {
      const [event = 'quiet'] = round.splice(Math.floor(random() * round.length), 1)
      events.push(event, ...behind(event))
    }
  }
  return events.slice(0, nights)
}

/** Since when it is that a day was. */
const msSince = (day: string, night: ExpectedNight): number => Date.parse(night.day) - Date.parse(day)

/** @param lastLooked when companies that left were looked for */
const expectedAlarms = (night: ExpectedNight, lastLoad: string, lastLooked: string): readonly string[] =>
  [
    ...(night.error === undefined ? [] : [night.error]),
    ...(night.quarantined > 0 ? ['quarantined_share'] : []),
    ...(night.drift.length > 0 ? ['new_drift'] : []),
    ...(msSince(lastLoad, night) >= MAX_AGE_MS ? ['age_seconds'] : []),
    ...(msSince(lastLooked, night) > MAX_UNLOOKED_MS ? ['unlooked_seconds'] : []),
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
  readonly #held: YearHeld
  readonly #figures = new YearFigures()
  readonly #wrong: string[] = []
  readonly #told: ExpectedNight[] = []
  readonly #counts = new Map<string, number>()
  #lastLoad: string
  #lastLooked: string
  #hash = ''

  private constructor(folder: string, options: CampaignOptions, service: YearService, less: YearLess) {
    this.#less = less
    this.#options = options
    this.#folder = folder
    this.#lake = join(folder, 'lake')
    this.#service = service
    this.#held = new YearHeld(this.#lake)
    this.#lastLoad = this.#dayOf(0)
    this.#lastLooked = this.#dayOf(0)
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
    const isHeld = isHeldNight(event)
    const night =
      isHeld || event === 'waited' ? await this.#holdBack(at, event, say) : await this.#load(at, event, say)
    const { cases } = this.#options
    const isListed = at % WEEK === LISTED && night.error === undefined && event !== 'broken' && !isHeld
    const listed = isListed && event !== 'waited' ? await this.#list(night, say) : night
    const { pending } = this.#held
    const way = pending ? undefined : wayAfter(at, cases)
    this.#told.push(way ? await this.#loadAll(listed, way, say) : listed)
    if (endsWeek(at, cases)) {
      await holdAll(this.#service, this.#world.companies, CALM)
      for (const what of await this.#less.play(day, this.#world.companies)) say(what)
    }
    for (const what of await this.#held.check()) say(what)
    const lived = await this.#life.live(at)
    await this.#held.moved()
    for (const what of lived.wrong) say(what)
    if (endsWeek(at, cases)) await this.#figures.measureMemory()
    const isDue = isHeld || event === 'waited' || event === 'replacing' || at % COMPARED_EVERY === 0
    if (way || lived.changed || at === cases - 1 || isDue) await this.#compare(say)
  }

  /** A night that loads what the service has. */
  async #load(at: number, event: NightEvent, say: (what: string) => void): Promise<ExpectedNight> {
    const day = this.#dayOf(at)
    const broken = at === 0 ? new Set([FIRST_BROKEN]) : this.#world.happen(event, day)
    const refuses = (path: string): number | undefined =>
      event === 'refused' ? 401 : event === 'half' && path.includes('relations') ? 400 : undefined
    const filed = event === 'replacing' ? await this.#replace(at, day) : []
    const { companies } = this.#world
    const faults = event === 'faulty' ? faultsOf(this.#options.random) : []
    for (const { fault } of faults) this.#count(`fault ${fault}`)
    await holdAll(this.#service, companies, {
      ...{ broken, refuses },
      faults: event === 'redirected' ? this.#service.redirects : faults,
    })
    const { snapshot } = this.#expected
    const night = this.#expected.pull(event, day, { companies, broken, filed })
    await this.#run(at, event, { night, snapshot }, say)
    this.#world.accept(filed)
    return night
  }

  /** What is right comes in the place of what is held back. @returns the companies of a file */
  async #replace(at: number, day: string): Promise<readonly Company[]> {
    const { pending } = this.#held
    if (pending === undefined) throw new RangeError('Cannot replace a load: none is held back')
    this.#held.pending = undefined
    this.#world.correct(pending.delivery, day)
    if (pending.delivery.by === 'service') return []
    const right = pending.delivery.companies
      .slice(0, RIGHT_IN_PLACE)
      .filter(({ id }) => !this.#expected.forgotten.has(id))
      .map((one) => ({ ...one, sales: 2 + one.sales / 1000, day: dayAfter(day, -1) }))
    await this.#held.put(`night-${at}`, right)
    return right
  }

  /** A night whose load is held back, or waits for the one that is; and what becomes of it. */
  async #holdBack(at: number, event: NightEvent, say: (what: string) => void): Promise<ExpectedNight> {
    const day = this.#dayOf(at)
    if (isHeldNight(event)) {
      const isRight = event === 'released' || (event === 'waiting' && this.#options.random() < 0.5)
      // What the service has changed comes with the same night, and is not in a file.
      this.#world.happen('changed', day)
      const settled = this.#expected.settled(this.#world.companies)
      const delivery = this.#world.deliver(settled, day, isRight)
      const { companies } = this.#world
      await holdAll(this.#service, companies, CALM)
      await this.#held.expect({ at, day, event, delivery, companies })
      this.#count(`held by a ${delivery.by}`)
    }
    const night = this.#expected.nothing(event, day, 'LOAD_HELD')
    await this.#run(at, event, { night, snapshot: this.#expected.snapshot }, say)
    for (const what of await this.#held.check()) say(what)
    const { pending } = this.#held
    if (pending === undefined || event === 'waiting' || event === 'replaced') return night
    const { delivery } = pending
    this.#count(`${event}: ${delivery.isRight ? 'released' : 'discarded'}`)
    if (!delivery.isRight) {
      for (const what of await this.#held.discard()) say(what)
      this.#world.correct(delivery, day)
      await holdAll(this.#service, this.#world.companies, CALM)
      return night
    }
    await this.#held.release()
    const filed = delivery.by === 'file' ? delivery.companies : []
    const { snapshot } = this.#expected
    const shown = this.#expected.pull(event, pending.day, {
      ...{ companies: pending.companies, broken: new Set() },
      filed,
    })
    this.#world.accept(filed)
    this.#lastLoad = pending.day
    await this.#checkMade(snapshot, say)
    return { ...shown, day, error: 'LOAD_HELD' }
  }

  async #compare(say: (what: string) => void): Promise<void> {
    const { wrong, rows, hash } = await compareRows(this.#lake, this.#expected)
    for (const what of wrong) say(what)
    this.#count('rows compared', rows)
    this.#hash = hash
  }

  /** @param snapshot the newest before */
  async #checkMade(snapshot: number, say: (what: string) => void): Promise<void> {
    const [found, made] = [await newestNumber(this.#lake), this.#expected.snapshot].map(
      (one) => one - snapshot,
    )
    if (found !== made) say(`${found} snapshots, expected ${made}`)
  }

  /** Plays a night, and judges its alarms and its snapshots. */
  async #run(
    at: number,
    event: NightEvent,
    { night, snapshot }: { readonly night: ExpectedNight; readonly snapshot: number },
    say: (what: string) => void,
  ): Promise<void> {
    const rings = await this.#figures.measure(this.#lake, () => this.#ring(at, event))
    await this.#checkMade(snapshot, say)
    if (night.isCommitted) this.#lastLoad = night.day
    const expected = expectedAlarms(night, this.#lastLoad, this.#lastLooked)
    if (String(rings) !== String(expected)) say(`rang [${rings}], expected [${expected}]`)
    this.#count('alarms', rings.length)
  }

  /** @returns what rang */
  async #ring(at: number, event: NightEvent): Promise<readonly string[]> {
    const isHeld = isHeldNight(event)
    const config =
      isHeld || event === 'waited'
        ? checkedFile('wait')
        : event === 'replacing'
          ? checkedFile('replace')
          : undefined
    const isKilled = event === 'killed' || (isHeld && this.#options.random() < SHARE_KILLED)
    if (!isKilled && event !== 'full')
      return alarmsOf(
        await (at % COMMAND_EVERY === 3 ? this.#nights.byCommand(config) : this.#nights.byLibrary(config)),
      )
    const nth = 1 + Math.floor(this.#options.random() * WRITING_CALLS)
    const kind = event === 'full' ? 'ENOSPC' : 'kill'
    const { end, parts } = await this.#nights.disturbed({ kind, nth }, config)
    this.#count(`${isHeld ? 'held' : event}: ${end}`)
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
    this.#lastLooked = night.day
    // A list that loads no company is no load.
    if (fetched > 0) this.#lastLoad = night.day
    return listed
  }

  async #loadAll(night: ExpectedNight, way: WayOfAll, say: (what: string) => void): Promise<ExpectedNight> {
    const { companies } = this.#world
    for (const what of await loadAll(this.#service, this.#lake, companies, way)) say(what)
    this.#lastLoad = night.day
    if (way === 'pages') this.#lastLooked = night.day
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
    const { forgotten, shown } = this.#expected
    const story = { nights: this.#told, compacted, forgot, forgotten, shown: shown.length }
    this.#wrong.push(
      ...compareStory(await readFile(to, 'utf8'), { ...story, snapshots: snapshots.length }),
      ...this.#figures.grown(),
    )
  }
}
