/**
 * A year of nights into two lakes: one merges each night, is compacted by hand and swept, the other keeps every version as it was
 * loaded. At each month's end they have one history: current rows, rows of before with equal neighbours as one, restatements, changes
 * of companies, what was said and what was known on some days. Files come late, all companies are pulled each week, companies leave and
 * come back, some are forgotten in both. A case is a night.
 */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { forget } from '../../src/jobs/forget.ts'
import { gc } from '../../src/jobs/gc.ts'
import { pull } from '../../src/jobs/pull.ts'
import { verify } from '../../src/jobs/verify.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { createService } from '../../src/source/service/service.ts'
import type { Campaign, CampaignOptions, CampaignResult } from './campaign.ts'
import { type Room, roomOf, roomTable } from './history-room.ts'
import { compareHistories } from './history-rows.ts'
import { ShiftedClock } from './shifted-clock.ts'
import { holdAll } from './year-all.ts'
import { CALM, TOKEN, YearService } from './year-service.ts'
import {
  type Company,
  dayAfter,
  hasRelations,
  type NightEvent,
  personId,
  recordOf,
  relationsOf,
  YearWorld,
} from './year-world.ts'

const DAY_MS = 86_400_000
const FIRST_MS = Date.UTC(2025, 0, 1)
const NIGHT_MS = 8_100_000
const MONTH = 30
const WEEK = 7
/** The night of a week in which all companies are pulled. */
const PULLED = 5
const companiesOf = (nights: number): number => Math.min(300, 100 + 4 * nights)
const EVENTS = ['quiet', 'new', 'changed', 'restated', 'vanished', 'people', 'drift'] as const
/** Kinds of events of a night, each of which happens to some companies. */
const KINDS_A_NIGHT = 3
const SHARES = { late: 0.15, returned: 0.3 }
const LATE_COMPANIES = 6
/** Nights that a compaction by hand follows, and one before the end. */
const [COMPACTED_EVERY, COMPACTED, COMPACTED_BEFORE_END] = [120, 75, 3]
const SEARCH = { CountryCode: ['SE'] }

interface Lakes {
  /** Merges, is compacted and swept. */
  readonly merged: string
  /** Nothing is done to it but loads, and what is forgotten in both. */
  readonly whole: string
}

class PlayedHistory implements AsyncDisposable {
  readonly #options: CampaignOptions
  readonly #lakes: Lakes
  readonly #service: YearService
  readonly #clock = new ShiftedClock()
  readonly #world: YearWorld
  readonly #wrong: string[] = []
  readonly #counts = new Map<string, number>()
  /** States of companies, the days on which they were delivered, and who is away. */
  readonly #told: { readonly night: number; readonly company: Company }[] = []
  readonly #away = new Map<number, Company>()
  readonly #forgotten = new Set<number>()
  readonly #rooms: Room[] = []

  private constructor(folder: string, options: CampaignOptions, service: YearService) {
    this.#options = options
    this.#service = service
    this.#lakes = { merged: join(folder, 'merged'), whole: join(folder, 'whole') }
    this.#world = new YearWorld(options.random, this.#dayOf(0), companiesOf(options.cases))
  }

  static async open(folder: string, options: CampaignOptions): Promise<PlayedHistory> {
    return new PlayedHistory(folder, options, await YearService.open(folder))
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#clock[Symbol.dispose]()
    await this.#service[Symbol.asyncDispose]()
  }

  #dayOf(night: number): string {
    return new Date(FIRST_MS + night * DAY_MS).toISOString().slice(0, 10)
  }

  #count(what: string, times = 1): void {
    this.#counts.set(what, (this.#counts.get(what) ?? 0) + times)
  }

  /** In both lakes. */
  async #inBoth(work: (lake: string) => Promise<unknown>): Promise<void> {
    await work(this.#lakes.merged)
    await work(this.#lakes.whole)
  }

  async play(): Promise<CampaignResult> {
    const { cases } = this.#options
    for (let night = 0; night < cases; night += 1) {
      this.#clock.moveTo(FIRST_MS + night * DAY_MS + NIGHT_MS)
      await this.#load(night)
      if (night % WEEK === PULLED) await this.#pull()
      await this.#keep(night)
      if (night % MONTH === MONTH - 1 || night === cases - 1) await this.#endMonth(night)
    }
    for (const lake of Object.values(this.#lakes))
      for (const problem of (await verify({ lake })).problems)
        this.#wrong.push(`verify: ${JSON.stringify(problem)}`)
    return { cases, wrong: this.#wrong, figures: Object.fromEntries(this.#counts) }
  }

  /** What has changed on the day before, and sometimes a file of earlier days. */
  async #load(night: number): Promise<void> {
    const [day, { random }] = [this.#dayOf(night), this.#options]
    if (night > 0) this.#happen(day)
    const companies = this.#world.companies.filter((one) => night === 0 || one.day === dayAfter(day, -1))
    for (const company of companies) this.#told.push({ night, company })
    await this.#deliver(`night ${night}`, companies, new Date().toISOString())
    if (night < 3 || random() >= SHARES.late) return
    const before = 1 + Math.floor(random() * (night - 1))
    await this.#deliver(
      `late in night ${night}`,
      this.#late(),
      new Date(FIRST_MS + before * DAY_MS + NIGHT_MS / 2 + night * 1000).toISOString(),
    )
    this.#count('late files')
  }

  #happen(day: string): void {
    const { random } = this.#options
    const before = new Map(this.#world.companies.map((one) => [one.id, one]))
    for (let at = 0; at < KINDS_A_NIGHT; at += 1)
      this.#world.happen(EVENTS[Math.floor(random() * EVENTS.length)] as NightEvent, day)
    const there = new Set(this.#world.companies.map(({ id }) => id))
    for (const [id, company] of before) if (!there.has(id)) this.#away.set(id, company)
    const [[id, returned] = []] = this.#away
    if (id === undefined || returned === undefined || random() >= SHARES.returned) return
    // It has its old stamps: no night brings it, but the next pull of all companies does.
    this.#away.delete(id)
    this.#world.accept([returned])
    this.#count('came back')
  }

  /** Companies as some night had them, some with another figure. */
  #late(): readonly Company[] {
    const { random } = this.#options
    const chosen = new Map<number, Company>()
    for (let at = 0; at < LATE_COMPANIES; at += 1) {
      const one = this.#told[Math.floor(random() * this.#told.length)]?.company
      if (one) chosen.set(one.id, random() < 0.5 ? one : { ...one, sales: one.sales + 1 })
    }
    return [...chosen.values()]
  }

  async #deliver(name: string, companies: readonly Company[], asOf: string): Promise<void> {
    const contents = {
      companies: companies.map(recordOf),
      relations: companies.filter(hasRelations).map(relationsOf),
    } as const
    for (const [content, records] of Object.entries(contents))
      if (records.length > 0)
        await this.#inBoth((lake) =>
          convert({
            from: fromRecords(`${content} of ${name}`, records, { asOf }),
            lake,
            content: content as keyof typeof contents,
            threads: 1,
          }),
        )
    this.#count('records', companies.length)
  }

  /** All companies, each with its day: those that no answer has are gone. */
  async #pull(): Promise<void> {
    await holdAll(this.#service, this.#world.companies, CALM)
    const from = createService({ url: this.#service.url, token: TOKEN, maxRequestsPerSecond: 500 })
    try {
      await this.#inBoth((lake) =>
        pull({ from, lake, content: 'companies', search: SEARCH, maxGone: '100%', threads: 1 }),
      )
    } finally {
      await from.close()
    }
    this.#count('pulls of all')
  }

  /** What is done to a lake besides loads. */
  async #keep(night: number): Promise<void> {
    const { merged } = this.#lakes
    const { cases } = this.#options
    if ((await compact({ lake: merged, auto: true })).kind === 'compacted') this.#count('merges')
    if (night === Math.floor(cases / 2) || night === Math.floor((3 * cases) / 4)) await this.#forget()
    if (night % COMPACTED_EVERY === COMPACTED || night === cases - COMPACTED_BEFORE_END)
      if ((await compact({ lake: merged })).kind === 'compacted') this.#count('compactions')
    if (night % WEEK === WEEK - 1) await gc({ lake: merged, keep: 1 })
  }

  /** A company with relations, the child of another, and a person. */
  async #forget(): Promise<void> {
    const some = this.#world.companies.filter(({ id }) => !this.#forgotten.has(id))
    const [own, third] = some.filter(hasRelations)
    const child = some.find(({ id }) => id % 10 === 1)
    if (!own || !third || !child) throw new RangeError('Cannot forget: the world has too few companies')
    const [companies, persons] = [[own.id, child.id], [personId(third.chair)]]
    await this.#inBoth((lake) => forget({ lake, companies, persons }))
    for (const id of companies) this.#forgotten.add(id)
    this.#count('forgets')
  }

  async #endMonth(night: number): Promise<void> {
    const { log } = this.#options
    // The first month's end, a night in the middle and the last one.
    const days = new Set(
      [MONTH - 1, Math.floor(night / 2), night].map((at) => this.#dayOf(Math.min(at, night))),
    )
    const { wrong, rows } = await compareHistories(this.#lakes, [...days])
    this.#wrong.push(...wrong.map((what) => `night ${night}: ${what}`))
    this.#count('rows compared', rows)
    this.#rooms.push(await roomOf({ ...this.#lakes }, night + 1))
    for (const what of wrong) log(what)
    for (const line of roomTable(this.#rooms)) log(line)
    log(`${night + 1} nights: ${rows} rows compared, ${this.#wrong.length} wrong`)
  }
}

export const campaign: Campaign = {
  about: 'a lake that is merged and compacted has the history of one that never is',
  wholeCases: 365,
  run: async (options) => {
    const folder = await mkdtemp(join(tmpdir(), 'firmlake-history-'))
    try {
      await using history = await PlayedHistory.open(folder, options)
      return await history.play()
    } finally {
      await rm(folder, { recursive: true, force: true })
    }
  },
}
