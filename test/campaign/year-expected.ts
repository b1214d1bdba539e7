/** What a lake that pulls a world each night must hold, and what each night must bring: worked out without any of our code. */

import {
  type Company,
  dayAfter,
  hasRelations,
  type NightEvent,
  recordOf,
  relationsOf,
  USUAL_STATUS,
} from './year-world.ts'

const PARTS = ['added', 'restated', 'changed', 'unchanged'] as const
export type Part = (typeof PARTS)[number]

/** How each company came in a load, or in a night: of several loads the first of `PARTS` counts. */
export type Brought = ReadonlyMap<number, Part>

/** What must come of a night. */
export interface ExpectedNight {
  readonly day: string
  readonly event: NightEvent
  readonly isCommitted: boolean
  readonly brought: Brought
  readonly quarantined: number
  /** Code of the error that the night ends with. */
  readonly error: string | undefined
  /** Ids of companies whose sales are others than before. */
  readonly restated: readonly number[]
  /** Names that no load had before. */
  readonly drift: readonly string[]
  /** What the weekly list finds, where it runs: companies that the lake lacks, and how many have left. */
  readonly listed: { readonly fetched: number; readonly left: number } | undefined
}

/** What a night finds. */
export interface Offered {
  readonly companies: readonly Company[]
  /** Ids of companies that come without a usable one. */
  readonly broken: ReadonlySet<number>
  /** Companies of a file, none of which the service brings in the same night. @default none */
  readonly filed?: readonly Company[] | undefined
}

/** A record as a load brought it. */
export interface Version {
  readonly company: Company
  readonly snapshot: number
  /** Whether a compaction has put its rows together with the same ones before. */
  readonly isCompacted?: boolean
}

/** As `nightly` has it, unless it is told otherwise. */
const MOST_BAD = 0.01

const sameText = (one: object | undefined, other: object): boolean =>
  one !== undefined && JSON.stringify(one) === JSON.stringify(other)

const driftOf = ({ extra, item, status }: Company): readonly string[] => [
  ...(extra === undefined ? [] : [extra]),
  ...(item === undefined ? [] : [item]),
  ...(status === USUAL_STATUS ? [] : [String(status)]),
]

const onceOf = (one: Brought, other: Brought): Brought => {
  const ids = new Set([...one.keys(), ...other.keys()])
  const partOf = (id: number): Part =>
    PARTS.find((part) => one.get(id) === part || other.get(id) === part) ?? 'unchanged'
  return new Map([...ids].map((id) => [id, partOf(id)]))
}

/** The records of one content that a lake has. */
class Held {
  readonly current = new Map<number, Version>()
  /** All versions. */
  history: Version[] = []
  readonly #recordOf: (company: Company) => object

  constructor(recordOf: (company: Company) => object) {
    this.#recordOf = recordOf
  }

  lacks(company: Company): boolean {
    const held = this.current.get(company.id)
    return held === undefined || !sameText(this.#recordOf(held.company), this.#recordOf(company))
  }

  load(companies: readonly Company[], snapshot: number): void {
    for (const company of companies) {
      const version = { company, snapshot }
      this.current.set(company.id, version)
      this.history.push(version)
    }
  }

  forget(ids: ReadonlySet<number>): void {
    for (const id of ids) this.current.delete(id)
    this.history = this.history.filter(({ company }) => !ids.has(company.id))
  }

  /** Every version stays. */
  compact(): void {
    this.history = this.history.map((version) => {
      const compacted = { ...version, isCompacted: true }
      if (this.current.get(version.company.id) === version) this.current.set(version.company.id, compacted)
      return compacted
    })
  }
}

export class ExpectedLake {
  readonly companies = new Held(recordOf)
  readonly relations = new Held(relationsOf)
  readonly gone = new Set<number>()
  /** Ids of companies and persons that were erased, and do not come again. */
  readonly forgotten = new Set<number>()
  /** Lines in quarantine, by snapshot. */
  quarantined = 0
  /** The newest one. */
  snapshot = 0
  readonly #names = new Set<string>()
  #lastPulled: string | undefined
  #lastRelations: string | undefined

  /** Companies that the lake shows. */
  get shown(): readonly Company[] {
    return [...this.companies.current.values()]
      .map(({ company }) => company)
      .filter(({ id }) => !this.gone.has(id))
  }

  /** Line items that the contract does not know. */
  get items(): readonly string[] {
    return [...this.#names].filter((name) => name.startsWith('Item'))
  }

  #bring(came: readonly Company[]): Pick<ExpectedNight, 'brought' | 'restated' | 'drift'> {
    const brought = new Map<number, Part>()
    const restated: number[] = []
    const drift = new Set<string>()
    for (const one of came) {
      const before = this.companies.current.get(one.id)?.company
      if (before === undefined) brought.set(one.id, 'added')
      else if (before.sales !== one.sales) {
        brought.set(one.id, 'restated')
        restated.push(one.id)
      } else if (sameText(recordOf(before), recordOf(one))) brought.set(one.id, 'unchanged')
      else brought.set(one.id, 'changed')
      for (const name of driftOf(one)) if (!this.#names.has(name)) drift.add(name)
      this.gone.delete(one.id)
    }
    for (const name of drift) this.#names.add(name)
    return { brought, restated, drift: [...drift] }
  }

  /** Companies of the service that the lake shows, and that no night brings as long as they do not change. */
  settled(companies: readonly Company[]): readonly Company[] {
    const before = dayAfter(this.#lastPulled ?? '', -1)
    return companies.filter(
      ({ id, day }) => this.companies.current.has(id) && !this.gone.has(id) && day < before,
    )
  }

  /** A night that brings nothing. */
  nothing(event: NightEvent, day: string, error?: string): ExpectedNight {
    return {
      ...{ day, event, isCommitted: false, quarantined: 0, restated: [], drift: [], listed: undefined },
      brought: new Map(),
      error,
    }
  }

  /** What a night must bring that asks for all that changed since the day before the last one. */
  pull(event: NightEvent, day: string, { companies, broken, filed = [] }: Offered): ExpectedNight {
    const held = companies.filter(({ id }) => !this.forgotten.has(id))
    const nothing = this.nothing(event, day)
    if (event === 'refused') return { ...nothing, error: 'TOKEN_REFUSED' }
    if (event === 'redirected') return { ...nothing, error: 'SERVICE_REDIRECTED' }
    const since = (last: string | undefined): readonly Company[] =>
      held.filter((one) => last === undefined || one.day >= dayAfter(last, -1))
    const came = since(this.#lastPulled)
    const isHalf = event === 'half'
    const relations = isHalf ? [] : since(this.#lastRelations).filter(hasRelations)
    const bad = came.filter(({ id }) => broken.has(id)).length
    const hasNewRelations = relations.some((one) => this.relations.lacks(one))
    const holdRelations = (): void => {
      this.relations.load(relations, this.snapshot)
      this.#lastRelations = day
    }
    // The relations come alone then.
    if (bad > MOST_BAD * (came.length + relations.length)) {
      if (hasNewRelations) {
        this.snapshot += 1
        holdRelations()
      }
      return { ...nothing, isCommitted: hasNewRelations, error: 'QUARANTINE_LIMIT' }
    }
    const error = isHalf ? 'REQUEST_REFUSED' : undefined
    // What came before comes again, as long as nothing else does: it is nothing new.
    const file = filed.filter(({ id }) => !this.forgotten.has(id))
    const isNew =
      file.length > 0 ||
      came.some((one) => broken.has(one.id) || this.companies.lacks(one) || this.gone.has(one.id))
    if (this.#lastPulled !== undefined && !isNew && !hasNewRelations) return { ...nothing, error }
    this.snapshot += 1
    const whole = [...came.filter(({ id }) => !broken.has(id)), ...file]
    const found = this.#bring(whole)
    this.companies.load(whole, this.snapshot)
    this.quarantined += bad
    this.#lastPulled = day
    if (!isHalf) holdRelations()
    return { ...nothing, ...found, isCommitted: true, quarantined: bad, error }
  }

  /** What a list of all companies must find and bring: those that came broken, and those that left. */
  list(night: ExpectedNight, companies: readonly Company[]): ExpectedNight {
    const lacking = companies.filter(({ id }) => !this.companies.current.has(id) && !this.forgotten.has(id))
    this.snapshot += 1
    this.companies.load(lacking, this.snapshot)
    const left = this.#markLeft(night.day, companies)
    const brought = onceOf(night.brought, new Map(lacking.map(({ id }) => [id, 'added'])))
    return { ...night, brought, listed: { fetched: lacking.length, left } }
  }

  /** It is the newest pull of the search: the next night asks from there. @returns how many have left */
  #markLeft(day: string, companies: readonly Company[]): number {
    this.#lastPulled = day
    const there = new Set(companies.map(({ id }) => id))
    const left = [...this.companies.current.keys()].filter((id) => !there.has(id) && !this.gone.has(id))
    for (const id of left) this.gone.add(id)
    return left.length
  }

  /** What all companies bring after a night: pulled page by page, or with all relations as batch files. */
  loadAll(night: ExpectedNight, all: readonly Company[], by: 'pages' | 'batches'): ExpectedNight {
    const held = all.filter(({ id }) => !this.forgotten.has(id))
    this.snapshot += 1
    const { brought, restated, drift } = this.#bring(held)
    this.companies.load(held, this.snapshot)
    if (by === 'batches') this.relations.load(held.filter(hasRelations), this.snapshot)
    else this.#markLeft(night.day, all)
    return {
      ...night,
      brought: onceOf(night.brought, brought),
      restated: [...night.restated, ...restated],
      drift: [...night.drift, ...drift],
    }
  }

  compact(): void {
    this.snapshot += 1
    this.companies.compact()
    this.relations.compact()
  }

  forget(companies: readonly number[], persons: readonly number[]): void {
    this.snapshot += 1
    for (const id of [...companies, ...persons]) this.forgotten.add(id)
    for (const id of companies) this.gone.delete(id)
    this.companies.forget(this.forgotten)
    this.relations.forget(this.forgotten)
  }
}
