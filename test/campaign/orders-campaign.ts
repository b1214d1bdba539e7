/**
 * The same deliveries in many orders: what is current, what each company had been before and what a database shows depend on when
 * the service said them, never on when they were loaded. They come as files, records of a program, pulls in which companies are
 * missing, and runs that two workers share; some loads are killed first. A case is an order, with compactions and deliveries in
 * between.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { gc } from '../../src/jobs/gc.ts'
import { readStatus } from '../../src/jobs/lake-status.ts'
import { pull } from '../../src/jobs/pull.ts'
import { query } from '../../src/jobs/query.ts'
import { commitRun, planRun, workRun } from '../../src/jobs/run-steps.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { createService } from '../../src/source/service/service.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { type FakeCompany, openFakeService } from '../service/fake-service.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'
import { Step, UsualTimes } from './disturbed-steps.ts'

const WHOLE_CASES = 60
const COMPANIES = 9
const DELIVERIES = 8
/** Small files that come in one call, and share a partition. */
const SMALL_FILES = 9
/** Of the cases, and in these of the loads. */
const [COMPACTING, COMPACTED] = [0.5, 0.4]
const DELIVERED = 0.4

/** What the service said of some companies at an instant: net sales by id. */
interface Said {
  readonly day: number
  readonly sales: ReadonlyMap<number, number>
}

const KINDS = ['file', 'file', 'file', 'killed', 'program', 'pull', 'pull', 'shared'] as const

interface Delivery {
  readonly kind: (typeof KINDS)[number] | 'folder'
  readonly said: readonly Said[]
}

const instantOf = (day: number): string => new Date(Date.UTC(2025, 0, day)).toISOString()

const recordOf = (id: number, { day, sales }: Said, isStamped: boolean): object => ({
  BasicDetails: { InternalId: id, CompanyName: `of ${day}`, CountryCode: 'SE' },
  MetaData: {
    ...{ CurrentCurrencyCode: 'USD', FinancialFigureScale: 'None' },
    ...(isStamped && { OwnersUpdatedAt: instantOf(day) }),
  },
  Financials: { ProfitAndLoss: { NetSales: { 2023: sales.get(id) } } },
})

const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

const IDS = Array.from({ length: COMPANIES }, (_, at) => at + 1)

/** What the lake begins with: a listing says of known companies that they are gone. */
const FIRST: Delivery = { kind: 'file', said: [{ day: 1, sales: new Map(IDS.map((id) => [id, 1])) }] }

/** Deliveries of days that are all unlike, so that no order of loads decides. */
const storyOf = (random: () => number): readonly Delivery[] => {
  const days = shuffled(
    Array.from({ length: DELIVERIES + SMALL_FILES }, (_, at) => at + 2),
    random,
  )
  const said = (): Said => ({
    day: days.pop() ?? 0,
    sales: new Map(IDS.map((id) => [id, Math.floor(random() * 3)] as const).filter(() => random() < 0.4)),
  })
  const kinds = Array.from(
    { length: DELIVERIES - 1 },
    () => KINDS[Math.floor(random() * KINDS.length)] ?? 'file',
  )
  return [
    FIRST,
    ...kinds.map((kind): Delivery => ({ kind, said: [said()] })),
    { kind: 'folder' as const, said: Array.from({ length: SMALL_FILES }, said) },
  ].filter((one) => one.said.some(({ sales }) => sales.size > 0))
}

type Versions = readonly (readonly [id: number, day: number, sales: number])[]

/** Every version of every company in the order in which the service said them. */
const versionsOf = (story: readonly Delivery[]): Versions =>
  story
    .flatMap(({ said }) => said)
    .flatMap(({ day, sales }) => [...sales].map(([id, value]) => [id, day, value] as const))
    .sort(([a, x], [b, y]) => a - b || x - y)

/** The last day on which a pull did not find a company; 0 where each has it. */
const goneOn = (story: readonly Delivery[], id: number): number =>
  Math.max(
    0,
    ...story
      .filter(({ kind }) => kind === 'pull')
      .flatMap(({ said }) => said.filter(({ sales }) => !sales.has(id)).map(({ day }) => day)),
  )

/** Days of which is asked what had been said by then. */
const ASKED_DAYS = [1, 3, 5, 7, 9, 11, 13, 15, 17, 19]

const BY_DATE = `SELECT internal_id, company_name, value FROM `

/** Companies that each pull has: of others it depends on what the lake knew whether it says that they are gone. */
const alwaysListed = (story: readonly Delivery[]): readonly number[] =>
  IDS.filter((id) => goneOn(story, id) === 0)

/** What had been said of companies by the end of a day: the last version of each. */
const saidBy = (story: readonly Delivery[], ids: readonly number[], day: number): unknown[][] =>
  versionsOf(story)
    .filter(([id, of]) => of <= day && ids.includes(id))
    .filter(([id], at, all) => all[at + 1]?.[0] !== id)
    .map(([id, of, sales]) => [id, `of ${of}`, sales])

/** The first value of each company's figure and the newest one. */
const firstReported = (story: readonly Delivery[]): unknown[][] =>
  [...Map.groupBy(versionsOf(story), ([id]) => id).values()].map((own) => [
    ...[own[0]?.[0], own[0]?.[2], instantOf(own[0]?.[1] ?? 0), own.at(-1)?.[2]],
  ])

const expectedOf = (story: readonly Delivery[]) => {
  const versions = versionsOf(story)
  const pairs = versions.slice(1).map((one, at) => [versions[at] ?? one, one] as const)
  return {
    current: versions
      .filter(([id, day], at) => versions[at + 1]?.[0] !== id && day > goneOn(story, id))
      .map(([id, day, sales]) => [id, `of ${day}`, sales]),
    history: versions.map(([id, day]) => [id, `of ${day}`]),
    restated: pairs.flatMap(([[a, , before], [b, , after]]) =>
      a === b && before !== after ? [[b, before, after]] : [],
    ),
  }
}

const CURRENT =
  'SELECT c.internal_id, c.company_name, f.value FROM companies AS c JOIN financials AS f USING (internal_id) ORDER BY ALL'

const rows = async (lake: string, sql: string): Promise<unknown[][]> =>
  (await query({ lake, sql })).map((row) =>
    Object.values(row).map((value) =>
      typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value,
    ),
  )

const inDatabase = async (file: string): Promise<unknown[][]> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    await session.run(`ATTACH '${file}' AS db (READ_ONLY); USE db`)
    return (await session.rows(CURRENT)).map((row) => [
      Number(row.internal_id),
      row.company_name,
      Number(row.value),
    ])
  } finally {
    engine.close()
  }
}

/** The service of a lake, with a clock that is set. */
const openService = async () => {
  let now = instantOf(1)
  const fake = await openFakeService({ companies: [], now: () => now })
  const { url, token, clock } = fake
  const service = createService({
    ...{ url, token },
    now: clock,
    maxRequestsPerSecond: 5000,
    trustClock: true,
  })
  return {
    service,
    close: async (): Promise<void> => {
      await service.close()
      await fake.close()
    },
    says: (day: number, companies: readonly FakeCompany[]): void => {
      now = instantOf(day)
      fake.hold(companies)
    },
  }
}

const pullOf = async ({ lake, service }: Play, { day, sales }: Said): Promise<void> => {
  const companies = [...sales].map(([id, value]) => ({
    ...{ id, value, name: `of ${day}`, country: 'SE', lineItem: 'NetSales' },
    dates: { ContentUpdatedAt: instantOf(day).slice(0, 10) },
  }))
  service.says(day, companies)
  await pull({
    from: service.service,
    lake,
    search: { CountryCode: ['SE'] },
    content: 'companies',
    maxGone: '100%',
  })
}

/** As two machines load it. */
const share = async (from: string, lake: string): Promise<void> => {
  const { run } = await planRun({ load: 'convert', from, lake })
  if (run === null) return
  const work = (index: number) => workRun({ run, lake, shard: { index, of: 2 } })
  await Promise.all([work(0), work(1)])
  await commitRun({ run, lake })
}

/** Kills a load at some moment; the next one resumes it. */
const kill = async (from: string, { lake, random, usual }: Play): Promise<void> => {
  const step = new Step('convert', ['convert', from, '--lake', lake, '--json'], lake, {})
  const began = performance.now()
  await step.signalAfter('SIGKILL', random() * 1.2 * usual.of('convert'))
  if ((await step.ended).end === 0) usual.learn('convert', performance.now() - began)
}

interface Play {
  readonly folder: string
  readonly lake: string
  readonly random: () => number
  readonly usual: UsualTimes
  readonly service: Awaited<ReturnType<typeof openService>>
}

const load = async (one: Play, at: number, { kind, said }: Delivery): Promise<void> => {
  const { folder, lake } = one
  const lines = (one: Said, isStamped: boolean) =>
    [...one.sales.keys()].map((id) => recordOf(id, one, isStamped))
  const [first] = said
  if (kind === 'program' && first) {
    await convert({
      from: fromRecords(`p${at}`, lines(first, false), { asOf: instantOf(first.day) }),
      lake,
      content: 'companies',
    })
    return
  }
  if (kind === 'pull' && first) return pullOf(one, first)
  const own = join(folder, String(at))
  await mkdir(own, { recursive: true })
  for (const [number, one] of said.entries())
    if (one.sales.size > 0)
      await writeFile(
        join(own, `${number}.jsonl`),
        lines(one, true)
          .map((line) => `${JSON.stringify(line)}\n`)
          .join(''),
      )
  if (kind === 'shared') return share(own, lake)
  if (kind === 'killed') await kill(own, one)
  await convert({ from: own, lake })
}

/** Plays one order. @returns what was wrong */
const play = async (
  story: readonly Delivery[],
  random: () => number,
  usual: UsualTimes,
): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-orders-'))
  const [lake, database] = [join(folder, 'lake'), join(folder, 'out.duckdb')]
  const wrong: string[] = []
  const { current, history, restated } = expectedOf(story)
  const [begin, ...later] = [...story.entries()]
  const order = [...(begin ? [begin] : []), ...shuffled(later, random)]
  const service = await openService()
  const one = { folder, lake, random, usual, service }
  const isCompacting = random() < COMPACTING
  /** What the lake showed after each load, and when that was committed. */
  const shown: { readonly time: string; readonly rows: unknown[][] }[] = []
  const compare = (what: string, found: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(found, expected))
      wrong.push(
        `${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}; order ${order.map(([, { kind, said }]) => `${kind} of ${said.map(({ day }) => day)}`)}`,
      )
  }
  try {
    for (const [at, delivery] of order) {
      await load(one, at, delivery)
      shown.push({ time: (await readSnapshot(lake)).time, rows: await rows(lake, CURRENT) })
      if (isCompacting && random() < COMPACTED) {
        await compact({ lake })
        if (random() < 0.5) await gc({ lake, keep: 1 })
      }
      if (random() < DELIVERED) await deliver({ lake, sinks: [database] })
    }
    await deliver({ lake, sinks: [database] })
    compare('current', await rows(lake, CURRENT), current)
    compare('status', (await readStatus(lake)).current, { companies: current.length })
    compare('database', await inDatabase(database), current)
    const listed = alwaysListed(story)
    for (const day of ASKED_DAYS) {
      const sql = `${BY_DATE} figures_as_of('${instantOf(day).slice(0, 10)}') WHERE internal_id IN (${listed.join(', ') || 'NULL'}) ORDER BY ALL`
      compare(`figures as of day ${day}`, await rows(lake, sql), saidBy(story, listed, day))
    }
    for (const { time, rows: known } of shown)
      compare(
        `figures as known at ${time}`,
        await rows(lake, `${BY_DATE} figures_as_known('${time}') ORDER BY ALL`),
        known,
      )
    compare(
      'first reported',
      await rows(
        lake,
        'SELECT internal_id, first_value, first_as_of, newest_value FROM first_reported ORDER BY 1',
      ),
      firstReported(story),
    )
    compare(
      'history',
      await rows(lake, 'SELECT internal_id, company_name FROM companies_history ORDER BY internal_id, as_of'),
      history,
    )
    compare(
      'restatements',
      await rows(
        lake,
        'SELECT r.internal_id, old_value, new_value FROM restatements AS r JOIN companies_history AS h ON h.internal_id = r.internal_id AND h.snapshot = r.snapshot AND h.company_name = r.company_name ORDER BY r.internal_id, h.as_of',
      ),
      restated,
    )
    return wrong
  } finally {
    await service.close()
    await rm(folder, { recursive: true })
  }
}

const runCases = async ({ cases, random, log }: CampaignOptions) => {
  const wrong: string[] = []
  const usual = new UsualTimes()
  const figures: Record<string, number> = { versions: 0 }
  for (let at = 0; at < cases; at += 1) {
    const story = storyOf(random)
    figures.versions = (figures.versions ?? 0) + versionsOf(story).length
    for (const { kind } of story) figures[kind] = (figures[kind] ?? 0) + 1
    wrong.push(...(await play(story, random, usual)))
    log(`${at + 1} of ${cases}: ${wrong.length} wrong`)
  }
  return { cases, wrong, figures }
}

export const campaign: Campaign = {
  about: 'the deliveries decide, not their order',
  wholeCases: WHOLE_CASES,
  run: runCases,
}
