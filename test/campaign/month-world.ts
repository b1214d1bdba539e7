/**
 * What happens at a service in a month, chosen by a seed, and what a lake that pulls each night must hold of it: worked out
 * here without any of our code, by days and versions.
 */

const DAY_MS = 86_400_000

/** What a night brings. */
export const EVENTS = [
  'quiet',
  'new',
  'changed',
  'restated',
  'vanished',
  'drift',
  'broken',
  'refused',
  'half',
] as const
export type NightEvent = (typeof EVENTS)[number]

/** A company as the service has it. */
interface Company {
  readonly id: number
  /** Day of its last change. */
  readonly day: string
  readonly name: string
  readonly sales: number
  /** A field that the contract does not know. */
  readonly extra: string | undefined
}

/** What a load of companies brought, or all of a night. */
export interface Brought {
  readonly added: number
  readonly restated: number
  readonly changed: number
  readonly unchanged: number
}

/** What must come of a night. */
export interface ExpectedNight {
  readonly day: string
  readonly event: NightEvent
  readonly isCommitted: boolean
  readonly brought: Brought
  readonly quarantined: number
  /** Code of the error that the night ends with. */
  readonly error: string | undefined
  readonly restatements: number
  /** Names that no load had before. */
  readonly drift: readonly string[]
  /** What the weekly list finds, where it runs: companies that the lake lacks, and how many have left. */
  readonly listed: { readonly fetched: number; readonly left: number } | undefined
}

/** As `nightly` has it, unless it is told otherwise. */
const MOST_BAD = 0.01

const NOTHING: Brought = { added: 0, restated: 0, changed: 0, unchanged: 0 }

const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

const hasRelations = ({ id }: Company): boolean => id % 10 === 0

const recordOf = ({ id, day, name, sales, extra }: Company): object => ({
  BasicDetails: { InternalId: id, CompanyName: name, CountryCode: 'SE' },
  MetaData: {
    CurrentCurrencyCode: 'USD',
    FinancialFigureScale: 'None',
    ContentUpdatedAt: `${day}T12:00:00`,
    RelationsUpdatedAt: `${day}T12:00:00`,
  },
  Financials: { ProfitAndLoss: { NetSales: { 2024: 1000 + id, 2025: sales } } },
  ...(extra !== undefined && { [extra]: 1 }),
})

export class MonthWorld {
  readonly #random: () => number
  readonly #companies = new Map<number, Company>()
  /** As the lake has them, those that left too. */
  readonly #held = new Map<number, Company>()
  readonly #gone = new Set<number>()
  readonly #names = new Set<string>()
  #lastPulled: string | undefined
  /** Companies whose relations the lake has, as they were then. */
  readonly #heldRelations = new Map<number, Company>()
  #lastRelations: string | undefined
  #next = 1

  constructor(random: () => number, first: string, companies: number) {
    this.#random = random
    for (let at = 0; at < companies; at += 1) this.#add(dayAfter(first, -30))
  }

  get companies(): readonly object[] {
    return [...this.#companies.values()].map(recordOf)
  }

  /** Every tenth company has relations, which count as changed when it is. */
  get relations(): readonly object[] {
    return [...this.#companies.values()]
      .filter(hasRelations)
      .map(({ id, name }) => ({ InternalId: id, Name: name, CountryCode: 'SE' }))
  }

  /** Companies that the lake shows. */
  get shown(): number {
    return this.#held.size - this.#gone.size
  }

  #add(day: string): void {
    const id = this.#next++
    this.#companies.set(id, { id, day, name: `Company ${id}`, sales: 2000 + id, extra: undefined })
  }

  #change(day: string, change: (company: Company) => Partial<Company>): void {
    const ids = [...this.#companies.keys()]
    const id = ids[Math.floor(this.#random() * ids.length)] ?? 1
    const company = this.#companies.get(id)
    if (company) this.#companies.set(id, { ...company, ...change(company), day })
  }

  /** What happens at the service on the day before a night. @returns ids that come broken in the night */
  happen(event: NightEvent, night: string): ReadonlySet<number> {
    const day = dayAfter(night, -1)
    const times = 1 + Math.floor(this.#random() * 4)
    for (let at = 0; at < times; at += 1) {
      if (event === 'new' || event === 'broken') this.#add(day)
      else if (event === 'changed' || event === 'refused' || event === 'half')
        this.#change(day, ({ name }) => ({ name: `${name} I` }))
      else if (event === 'restated')
        this.#change(day, ({ sales }) => ({ sales: Math.round(sales * (1.05 + this.#random())) }))
      else if (event === 'drift' && at === 0)
        this.#change(day, () => ({ extra: `Extra${night.replaceAll('-', '')}` }))
      else if (event === 'vanished' && at < 2)
        this.#companies.delete(
          [...this.#companies.keys()][Math.floor(this.#random() * this.#companies.size)] ?? 0,
        )
    }
    return new Set(event === 'broken' ? [this.#next - 1] : [])
  }

  /** What a night must bring that asks for all that changed since the day before the last one. */
  pull(event: NightEvent, day: string, broken: ReadonlySet<number>): ExpectedNight {
    const nothing = {
      day,
      event,
      isCommitted: false,
      brought: NOTHING,
      quarantined: 0,
      restatements: 0,
      drift: [],
      listed: undefined,
    }
    if (event === 'refused') return { ...nothing, error: 'TOKEN_REFUSED' }
    const since = (last: string | undefined): readonly Company[] =>
      [...this.#companies.values()].filter((one) => last === undefined || one.day >= dayAfter(last, -1))
    const came = since(this.#lastPulled)
    const isHalf = event === 'half'
    const relations = isHalf ? [] : since(this.#lastRelations).filter(hasRelations)
    const bad = came.filter(({ id }) => broken.has(id))
    const hasNewRelations = relations.some(({ id, name }) => this.#heldRelations.get(id)?.name !== name)
    const holdRelations = (): void => {
      for (const one of relations) this.#heldRelations.set(one.id, one)
      this.#lastRelations = day
    }
    // The relations come alone then.
    if (bad.length > MOST_BAD * (came.length + relations.length)) {
      if (hasNewRelations) holdRelations()
      return { ...nothing, isCommitted: hasNewRelations, error: 'QUARANTINE_LIMIT' }
    }
    const error = isHalf ? 'REQUEST_REFUSED' : undefined
    // What came before comes again, as long as nothing else does: it is nothing new.
    const isNew = came.some((one) => broken.has(one.id) || this.#held.get(one.id) !== one)
    if (this.#lastPulled !== undefined && !isNew && !hasNewRelations) return { ...nothing, error }
    const brought = { ...NOTHING }
    let restatements = 0
    const drift = new Set<string>()
    for (const one of came) {
      if (broken.has(one.id)) continue
      const before = this.#held.get(one.id)
      if (before === undefined) brought.added += 1
      else if (before.sales !== one.sales) brought.restated += 1
      else if (before.name !== one.name || before.extra !== one.extra) brought.changed += 1
      else brought.unchanged += 1
      if (before !== undefined && before.sales !== one.sales) restatements += 1
      if (one.extra !== undefined && !this.#names.has(one.extra)) drift.add(one.extra)
      this.#held.set(one.id, one)
      this.#gone.delete(one.id)
    }
    for (const name of drift) this.#names.add(name)
    this.#lastPulled = day
    if (!isHalf) holdRelations()
    return {
      ...{ day, event, isCommitted: true, brought, quarantined: bad.length, restatements, drift: [...drift] },
      ...{ error, listed: undefined },
    }
  }

  /** What a list of all companies must find and bring: those that came broken, and those that left. */
  list(night: ExpectedNight): ExpectedNight {
    const lacking = [...this.#companies.values()].filter(({ id }) => !this.#held.has(id))
    for (const one of lacking) this.#held.set(one.id, one)
    // It is the newest pull of the search: the next night asks from there.
    this.#lastPulled = night.day
    const left = [...this.#held.keys()].filter((id) => !this.#companies.has(id) && !this.#gone.has(id))
    for (const id of left) this.#gone.add(id)
    const brought = { ...night.brought, added: night.brought.added + lacking.length }
    return { ...night, brought, listed: { fetched: lacking.length, left: left.length } }
  }
}
