/**
 * The same deliveries in many orders: what is current, what each company had been before and what a database shows depend on when
 * the service said them, never on when they were loaded. A case is an order, with compactions and deliveries in between.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../src/jobs/compact/compact.ts'
import { convert } from '../../src/jobs/convert/convert.ts'
import { query } from '../../src/jobs/query/query.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { deliver } from '../../src/targets/deliver.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'

const WHOLE_CASES = 60
const COMPANIES = 9
const DELIVERIES = 7
/** Small files that come in one call, and share a partition. */
const SMALL_FILES = 9
const COMPACTED = 0.2
const DELIVERED = 0.4

/** What the service said of some companies at an instant: net sales by id. */
interface Said {
  readonly day: number
  readonly sales: ReadonlyMap<number, number>
}

interface Delivery {
  readonly kind: 'file' | 'program' | 'folder'
  readonly said: readonly Said[]
}

const instantOf = (day: number): string => new Date(Date.UTC(2025, 0, day)).toISOString()

const recordOf = (id: number, { day, sales }: Said, isStamped: boolean): object => ({
  BasicDetails: { InternalId: id, CompanyName: `of ${day}`, CountryCode: 'SE' },
  MetaData: {
    ...{ CurrentCurrencyCode: 'SEK', FinancialFigureScale: 'None' },
    ...(isStamped && { OwnersUpdatedAt: instantOf(day) }),
  },
  Financials: { ProfitAndLoss: { NetSales: { 2024: sales.get(id) } } },
})

const shuffled = <T>(items: readonly T[], random: () => number): T[] =>
  items
    .map((item) => [random(), item] as const)
    .sort(([a], [b]) => a - b)
    .map(([, item]) => item)

/** Deliveries of days that are all unlike, so that no order of loads decides. */
const storyOf = (random: () => number): readonly Delivery[] => {
  const days = shuffled(
    Array.from({ length: DELIVERIES + SMALL_FILES }, (_, at) => at + 1),
    random,
  )
  const said = (): Said => ({
    day: days.pop() ?? 0,
    sales: new Map(
      Array.from({ length: COMPANIES }, (_, id) => [id + 1, Math.floor(random() * 3)] as const).filter(
        () => random() < 0.4,
      ),
    ),
  })
  const kinds = Array.from({ length: DELIVERIES - 1 }, () => (random() < 0.7 ? 'file' : 'program'))
  return [
    ...kinds.map((kind): Delivery => ({ kind: kind === 'file' ? 'file' : 'program', said: [said()] })),
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

const expectedOf = (story: readonly Delivery[]) => {
  const versions = versionsOf(story)
  const pairs = versions.slice(1).map((one, at) => [versions[at] ?? one, one] as const)
  return {
    current: versions
      .filter(([id], at) => versions[at + 1]?.[0] !== id)
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

const load = async (folder: string, lake: string, at: number, { kind, said }: Delivery): Promise<void> => {
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
  await convert({ from: own, lake })
}

/** Plays one order. @returns what was wrong */
const play = async (story: readonly Delivery[], random: () => number): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-orders-'))
  const [lake, database] = [join(folder, 'lake'), join(folder, 'out.duckdb')]
  const wrong: string[] = []
  const { current, history, restated } = expectedOf(story)
  const order = shuffled([...story.entries()], random)
  let isCompacted = false
  const compare = (what: string, found: unknown, expected: unknown): void => {
    if (!isDeepStrictEqual(found, expected))
      wrong.push(
        `${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(expected)}; order ${order.map(([at]) => at)}`,
      )
  }
  try {
    for (const [at, delivery] of order) {
      await load(folder, lake, at, delivery)
      if (random() < COMPACTED) isCompacted = (await compact({ lake })).kind === 'compacted' || isCompacted
      if (random() < DELIVERED) await deliver({ lake, sinks: [database] })
    }
    await deliver({ lake, sinks: [database] })
    compare('current', await rows(lake, CURRENT), current)
    compare('database', await inDatabase(database), current)
    if (isCompacted) return wrong
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
    await rm(folder, { recursive: true })
  }
}

const runCases = async ({ cases, random, log }: CampaignOptions) => {
  const wrong: string[] = []
  let versions = 0
  for (let at = 0; at < cases; at += 1) {
    const story = storyOf(random)
    versions += versionsOf(story).length
    wrong.push(...(await play(story, random)))
    log(`${at + 1} of ${cases}: ${wrong.length} wrong`)
  }
  return { cases, wrong, figures: { versions } }
}

export const campaign: Campaign = {
  about: 'the deliveries decide, not their order',
  wholeCases: WHOLE_CASES,
  run: runCases,
}
