/** What happens at a service in a year, chosen by a seed: companies and their relations, as records of the interface. */

import { alwaysPresent } from '../../src/contract/objects.ts'

const DAY_MS = 86_400_000

/** What a night brings. */
export const EVENTS = [
  'quiet',
  'new',
  'changed',
  'restated',
  'vanished',
  'people',
  'drift',
  'broken',
  'refused',
  'redirected',
  'half',
  'faulty',
  'killed',
  'full',
  'released',
  'discarded',
  'replaced',
  'waiting',
] as const
/** Nights whose load is held back. */
export const HELD = ['released', 'discarded', 'replaced', 'waiting'] as const
/** What comes a night later: the load that takes the place of one that is held back, or waits for it. */
export const BEHIND = { replaced: 'replacing', waiting: 'waited' } as const
export type NightEvent = (typeof EVENTS)[number] | (typeof BEHIND)[keyof typeof BEHIND]

/** A company as the service has it. */
export interface Company {
  readonly id: number
  /** Day of its last change. */
  readonly day: string
  readonly name: string
  readonly sales: number
  readonly staff: number
  readonly status: number
  /** A field and a line item that the contract does not know. */
  readonly extra: string | undefined
  readonly item: string | undefined
  /** Numbers of the persons that lead it and led it, and a child's share. */
  readonly chair: number
  readonly chairBefore: number | undefined
  readonly stake: number
}

/** Many figures at once, as the service has them or a file that is no service's. */
export interface Delivery {
  readonly by: 'file' | 'service'
  /** As they are delivered. */
  readonly companies: readonly Company[]
  /** Whether the figures are right, and not a thousand times too large. */
  readonly isRight: boolean
}

const SHARE_DELIVERED = 0.15

/** Active: in the contract, so that it is no drift. */
export const USUAL_STATUS = 10
const FIRST_PERSON = 1_000_000

export const dayAfter = (day: string, days: number): string =>
  new Date(Date.parse(day) + days * DAY_MS).toISOString().slice(0, 10)

/** Every tenth company has relations, which count as changed when it is. */
export const hasRelations = ({ id }: Company): boolean => id % 10 === 0

/** With every field that is always present: pages and batch files give the same then. */
export const recordOf = ({ id, day, name, sales, staff, status, extra, item }: Company): object => ({
  BasicDetails: {
    ...{ InternalId: id, CompanyName: name, CountryCode: 'SE', OperationalStatus: status },
    ...alwaysPresent('USD').BasicDetails,
  },
  EnhancedDetails: { Employees: { 2025: staff }, ...alwaysPresent('USD').EnhancedDetails },
  MetaData: {
    ...alwaysPresent('USD').MetaData,
    ContentUpdatedAt: `${day}T12:00:00`,
    RelationsUpdatedAt: `${day}T12:00:00`,
  },
  Financials: {
    ProfitAndLoss: {
      NetSales: { 2024: 1000 + id, 2025: sales },
      ...(item !== undefined && { [item]: { 2025: 7 } }),
    },
  },
  ...(extra !== undefined && { [extra]: 1 }),
})

export const personId = (number: number): number => FIRST_PERSON + number
export const nationalIdOf = (number: number): string => `19500101-${String(number).padStart(6, '0')}`
const personOf = (number: number): object => ({
  InternalId: personId(number),
  Name: `First${number} Last${number}`,
  FirstName: `First${number}`,
  LastName: `Last${number}`,
  NationalIdentificationNumber: nationalIdOf(number),
  CountryCode: 'SE',
  IsCompany: false,
})

export const relationsOf = ({ id, name, chair, chairBefore, stake }: Company): object => ({
  InternalId: id,
  Name: name,
  CountryCode: 'SE',
  Parents: [
    {
      ...personOf(chair),
      KeyPersonRoles: [{ Id: 1, Text: 'Chair' }],
      ...(chairBefore !== undefined && { History: [personOf(chairBefore)] }),
    },
  ],
  Children: [
    {
      InternalId: id + 1,
      Name: `Child of ${id}`,
      IsCompany: true,
      Ownerships: [{ OwnershipStake: stake }],
    },
  ],
})

export class YearWorld {
  readonly #random: () => number
  readonly #companies = new Map<number, Company>()
  #next = 1
  #nextPerson = 1

  constructor(random: () => number, first: string, companies: number) {
    this.#random = random
    for (let at = 0; at < companies; at += 1) this.#add(dayAfter(first, -30))
  }

  get companies(): readonly Company[] {
    return [...this.#companies.values()]
  }

  #add(day: string): void {
    const id = this.#next++
    this.#companies.set(id, {
      ...{ id, day, name: `Company ${id}`, sales: 2000 + id, staff: 10 + (id % 90), status: USUAL_STATUS },
      ...{ extra: undefined, item: undefined, chair: this.#nextPerson++, chairBefore: undefined, stake: 60 },
    })
  }

  #pick(): number {
    const ids = [...this.#companies.keys()]
    return ids[Math.floor(this.#random() * ids.length)] ?? 1
  }

  #change(day: string, change: (company: Company) => Partial<Company>, id = this.#pick()): void {
    const company = this.#companies.get(id)
    if (company) this.#companies.set(id, { ...company, ...change(company), day })
  }

  #changePeople(day: string): void {
    const ids = this.companies.filter(hasRelations).map(({ id }) => id)
    const change = ({ chair }: Company): Partial<Company> => ({
      ...{ chair: this.#nextPerson++, chairBefore: chair },
      stake: 1 + Math.floor(this.#random() * 99),
    })
    this.#change(day, change, ids[Math.floor(this.#random() * ids.length)])
  }

  /** A field, a line item or a code that nobody knows. */
  #drift(day: string, night: string): void {
    const word = night.replaceAll('-', '')
    const kind = Math.floor(this.#random() * 3)
    this.#change(day, () =>
      kind === 0
        ? { extra: `Extra${word}` }
        : kind === 1
          ? { item: `Item${word}` }
          : { status: Number(word) },
    )
  }

  /** Restates many companies of some. */
  deliver(some: readonly Company[], night: string, isRight: boolean): Delivery {
    const left = [...some]
    const chosen = Array.from({ length: Math.ceil(SHARE_DELIVERED * this.#companies.size) }, () =>
      left.splice(Math.floor(this.#random() * left.length), 1),
    ).flat()
    const factor = isRight ? 1.5 : 1000
    const day = dayAfter(night, -1)
    const companies = chosen.map((one) => ({ ...one, sales: Math.round(factor * one.sales), day }))
    const by = this.#random() < 0.5 ? 'file' : 'service'
    if (by === 'service') this.accept(companies)
    return { by, companies, isRight }
  }

  /** The service has them so, too. */
  accept(companies: readonly Company[]): void {
    for (const company of companies) this.#companies.set(company.id, company)
  }

  /** The service has the figures from before the delivery again. @param night in which that was found out */
  correct({ by, companies }: Delivery, night: string): void {
    if (by === 'service')
      this.accept(companies.map((one) => ({ ...one, sales: Math.round(one.sales / 1000), day: night })))
  }

  /** What happens at the service on the day before a night. @returns ids that come broken in the night */
  happen(event: NightEvent, night: string): ReadonlySet<number> {
    const day = dayAfter(night, -1)
    const times = 1 + Math.floor(this.#random() * 4)
    if (event === 'drift') this.#drift(day, night)
    for (let at = 0; at < times; at += 1) {
      if (event === 'new' || event === 'broken') this.#add(day)
      else if (event === 'people') this.#changePeople(day)
      else if (event === 'restated')
        this.#change(day, ({ sales }) => ({ sales: Math.round(sales * (1.05 + this.#random())) % 1_000_000 }))
      else if (event === 'vanished' && at < 2) this.#companies.delete(this.#pick())
      else if (!['quiet', 'drift', 'vanished'].includes(event))
        this.#change(day, ({ name }) => ({ name: `${name.slice(0, 40)} I` }))
    }
    return new Set(event === 'broken' ? [this.#next - 1] : [])
  }
}
