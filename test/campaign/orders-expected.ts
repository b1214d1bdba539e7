/** Deliveries of invented companies, and what a lake must show after them in any order: worked out from the records alone. */

/** What the service said of some companies at an instant: net sales by id. */
export interface Said {
  readonly day: number
  readonly sales: ReadonlyMap<number, number>
}

const KINDS = [
  ...(['file', 'file', 'file', 'program', 'program', 'program'] as const),
  ...(['killed', 'pull', 'pull', 'shared'] as const),
] as const

export interface Delivery {
  readonly kind: (typeof KINDS)[number] | 'folder'
  readonly said: readonly Said[]
}

const COMPANIES = 9
const DELIVERIES = 20
/** Small files that come in one call, and share a partition. */
const SMALL_FILES = 9
/** A pull lacks few companies: of those that each pull has more is known. */
const [SAID, SAID_BY_PULL] = [0.4, 0.85]

export const IDS = Array.from({ length: COMPANIES }, (_, at) => at + 1)
/** Companies of another country that no delivery tells of again: what is merged behind them is small. */
const STILL_COUNTRY = 'DK'
export const STILL = Array.from({ length: 300 }, (_, at) => 1001 + at)

export const instantOf = (day: number): string => new Date(Date.UTC(2025, 0, day)).toISOString()
export const dayOf = (day: number): string => instantOf(day).slice(0, 10)

export const recordOf = (id: number, { day, sales }: Said, isStamped: boolean): object => ({
  BasicDetails: {
    ...{ InternalId: id, CompanyName: `of ${day}`, CountryCode: IDS.includes(id) ? 'SE' : STILL_COUNTRY },
  },
  MetaData: {
    ...{ CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
    ...(isStamped && { OwnersUpdatedAt: instantOf(day) }),
  },
  Financials: { ProfitAndLoss: { NetSales: { 2023: sales.get(id) } } },
})

export const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/** What the lake begins with: a listing says of known companies that they are gone. */
const FIRST: Delivery = {
  kind: 'file',
  said: [{ day: 1, sales: new Map([...IDS, ...STILL].map((id) => [id, 1])) }],
}

/** Deliveries of days that are all unlike, so that no order of loads decides. */
export const storyOf = (random: () => number): readonly Delivery[] => {
  const days = shuffled(
    Array.from({ length: DELIVERIES + SMALL_FILES }, (_, at) => at + 2),
    random,
  )
  const said = (share: number): Said => ({
    day: days.pop() ?? 0,
    sales: new Map(IDS.map((id) => [id, Math.floor(random() * 3)] as const).filter(() => random() < share)),
  })
  const kinds = Array.from(
    { length: DELIVERIES - 1 },
    () => KINDS[Math.floor(random() * KINDS.length)] ?? 'file',
  )
  return [
    FIRST,
    ...kinds.map((kind): Delivery => ({ kind, said: [said(kind === 'pull' ? SAID_BY_PULL : SAID)] })),
    { kind: 'folder' as const, said: Array.from({ length: SMALL_FILES }, () => said(SAID)) },
  ].filter((one) => one.said.some(({ sales }) => sales.size > 0))
}

type Version = readonly [id: number, day: number, sales: number]
export type Rows = readonly (readonly unknown[])[]

/** What a lake must hold after deliveries and forgets in the order in which they came. */
export class ExpectedOrder {
  #versions: readonly Version[] = []
  /** The last day on which a pull did not find a company. */
  readonly #gone = new Map<number, number>()
  readonly #pulled: number[] = []
  readonly #refused = new Set<number>()
  /** What the lake showed after each load. */
  #shown: { readonly time: string; readonly rows: Rows }[] = []

  load({ kind, said }: Delivery): void {
    const known = new Set(this.#versions.map(([id]) => id))
    for (const { day, sales } of said) {
      const came = [...sales].filter(([id]) => !this.#refused.has(id))
      const versions = came.map(([id, value]): Version => [id, day, value])
      this.#versions = [...this.#versions, ...versions].sort(([a, x], [b, y]) => a - b || x - y)
      if (kind !== 'pull') continue
      this.#pulled.push(day)
      for (const id of IDS) if (known.has(id) && !sales.has(id)) this.#gone.set(id, this.#lastWithout(id))
    }
  }

  /** The last pull that has left no version of a company. What was forgotten counts as never pulled. */
  #lastWithout(id: number): number {
    const versions = new Set(this.#versions.flatMap(([one, day]) => (one === id ? [day] : [])))
    return Math.max(...this.#pulled.filter((day) => !versions.has(day)))
  }

  /** @param isLaterRefused whether later deliveries leave it out */
  forget(id: number, isLaterRefused: boolean): void {
    this.#versions = this.#versions.filter(([one]) => one !== id)
    this.#gone.delete(id)
    if (isLaterRefused) this.#refused.add(id)
    this.#shown = this.#shown.map(({ time, rows }) => ({ time, rows: rows.filter(([one]) => one !== id) }))
  }

  /** From now on the lake has been seen at an instant. */
  see(time: string): void {
    this.#shown.push({ time, rows: this.current })
  }

  get shown(): readonly { readonly time: string; readonly rows: Rows }[] {
    return this.#shown
  }

  get #ownVersions(): readonly Version[] {
    return this.#versions.filter(([id]) => IDS.includes(id))
  }

  #isLast = ([id]: Version, at: number, all: readonly Version[]): boolean => all[at + 1]?.[0] !== id

  get current(): Rows {
    return this.#ownVersions
      .filter(this.#isLast)
      .filter(([id, day]) => day > (this.#gone.get(id) ?? 0))
      .map(([id, day, sales]) => [id, `of ${day}`, sales])
  }

  /** Companies that each pull has: of others it depends on what the lake knew whether it says that they are gone. */
  get listed(): readonly number[] {
    return IDS.filter((id) => !this.#gone.has(id))
  }

  /** What had been said of listed companies by the end of a day. */
  saidBy(day: number): Rows {
    return this.#versions
      .filter(([id, of]) => of <= day && this.listed.includes(id))
      .filter(this.#isLast)
      .map(([id, of, sales]) => [id, `of ${of}`, sales])
  }

  /** The first value of each company's figure and the newest one. */
  get firstReported(): Rows {
    return [...Map.groupBy(this.#ownVersions, ([id]) => id).values()].map((own) => [
      ...[own[0]?.[0], own[0]?.[2], instantOf(own[0]?.[1] ?? 0), own.at(-1)?.[2]],
    ])
  }

  /** Every version of every company in the order in which the service said them. */
  get history(): Rows {
    return this.#ownVersions.map(([id, day]) => [id, `of ${day}`])
  }

  /** Pairs of neighbours. */
  get #pairs(): readonly (readonly [Version, Version])[] {
    return this.#ownVersions
      .slice(1)
      .flatMap((one, at) => (this.#ownVersions[at]?.[0] === one[0] ? [[this.#ownVersions[at], one]] : []))
  }

  get restated(): Rows {
    return this.#pairs.flatMap(([[, , before], [id, , after]]) =>
      before === after ? [] : [[id, before, after]],
    )
  }

  /** Names, which are other ones in each version. */
  get renamed(): Rows {
    return this.#pairs.map(([[, before], [id, after]]) => [id, `of ${before}`, `of ${after}`])
  }

  /** From which day until which listed companies had which figure; equal neighbours are one. */
  get intervals(): Rows {
    const found: [id: number, value: number, from: string, until: string | null][] = []
    for (const [id, day, value] of this.#versions.filter(([one]) => this.listed.includes(one))) {
      const before = found.at(-1)
      if (before?.[0] === id) {
        if (before[1] === value) continue
        before[3] = dayOf(day)
      }
      found.push([id, value, dayOf(day), null])
    }
    return found
  }

  /** How many companies are current. */
  get count(): number {
    return this.current.length + STILL.length
  }

  get versions(): number {
    return this.#ownVersions.length
  }
}

/** Neighbours of a history that have the same value as one, as a lake that is not compacted has them apart. */
export const joined = (rows: readonly unknown[][]): Rows => {
  const found: unknown[][] = []
  for (const row of rows) {
    const before = found.at(-1)
    if (before && before[0] === row[0] && before[1] === row[1] && before[3] === row[2])
      found.splice(-1, 1, [...before.slice(0, 3), row[3]])
    else found.push(row)
  }
  return found
}
