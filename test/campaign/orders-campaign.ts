/**
 * The same deliveries in many orders: what is current, what each company had been before and what a database shows depend on when
 * the service said them, never on when they were loaded. They come as files, records of a program, pulls in which companies are
 * missing, and runs that two workers share; some loads are killed first. A case is an order, with merges, compactions, sweeps, forgets
 * and deliveries in between.
 */

import { mkdir, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { isDeepStrictEqual } from 'node:util'
import { compact } from '../../src/jobs/compact.ts'
import { convert } from '../../src/jobs/convert.ts'
import { forget } from '../../src/jobs/forget.ts'
import { gc } from '../../src/jobs/gc.ts'
import { readStatus } from '../../src/jobs/lake-status.ts'
import { pull } from '../../src/jobs/pull.ts'
import { openQuery } from '../../src/jobs/query.ts'
import { commitRun, planRun, workRun } from '../../src/jobs/run-steps.ts'
import { verify } from '../../src/jobs/verify.ts'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { listSnapshots, readSnapshot } from '../../src/manifest/snapshots/snapshots.ts'
import { fromRecords } from '../../src/source/from-records.ts'
import { createService } from '../../src/source/service/service.ts'
import { deliver } from '../../src/targets/deliver.ts'
import { compareCatalog } from '../manifest/ducklake/in-catalog.ts'
import { type FakeCompany, openFakeService } from '../service/fake-service.ts'
import { missingDuckLake } from '../support/ducklake.ts'
import type { Campaign, CampaignOptions } from './campaign.ts'
import { Step, UsualTimes } from './disturbed-steps.ts'
import {
  type Delivery,
  dayOf,
  ExpectedOrder,
  instantOf,
  joined,
  type Rows,
  recordOf,
  type Said,
  shuffled,
  storyOf,
} from './orders-expected.ts'

const WHOLE_CASES = 60
/** Of the cases. */
const SHARES = { merging: 0.6, compacting: 0.4, forgetting: 0.5 }
/** Of the loads, in these cases. */
const [COMPACTED, FORGOTTEN, SWEPT] = [0.15, 0.12, 0.3]
const MERGE_KILLED = 0.1
const DELIVERED = 0.3
/** Days of which is asked what had been said by then. */
const ASKED_DAYS = Array.from({ length: 10 }, (_, at) => 1 + 3 * at)
const BY_DATE = 'SELECT internal_id, company_name, value FROM '
/** Without the companies that only make the first partition large. */
const OWN = 'internal_id < 1000'

const CURRENT = `SELECT c.internal_id, c.company_name, f.value FROM companies AS c JOIN financials AS f USING (internal_id) WHERE c.${OWN} ORDER BY ALL`

const asked = async (lake: string, statements: readonly string[]): Promise<readonly unknown[][][]> => {
  const query = await openQuery({ lake })
  try {
    const answers: unknown[][][] = []
    for (const sql of statements) {
      const answer: unknown[][] = []
      for await (const chunk of (await query.run(sql)).rows)
        for (const row of chunk)
          answer.push(
            row.map((value) => (typeof value === 'string' && /^\d+$/.test(value) ? Number(value) : value)),
          )
      answers.push(answer)
    }
    return answers
  } finally {
    query.close()
  }
}

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

/** Kills a command at some moment. */
const kill = async (name: string, args: readonly string[], { lake, random, usual }: Play): Promise<void> => {
  const step = new Step(name, [...args, '--lake', lake, '--json'], lake, {})
  const began = performance.now()
  await step.signalAfter('SIGKILL', random() * 1.2 * usual.of(name))
  if ((await step.ended).end === 0) usual.learn(name, performance.now() - began)
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
  // The next one resumes it.
  if (kind === 'killed') await kill('convert', ['convert', own], one)
  await convert({ from: own, lake })
}

/** What is done to the lake after a load, which no row shows. */
class Upkeep {
  readonly #play: Play
  readonly #expected: ExpectedOrder
  readonly #does: Readonly<Record<keyof typeof SHARES, boolean>>
  readonly did: string[] = []
  readonly forgotten = new Set<number>()

  constructor(play: Play, expected: ExpectedOrder) {
    const { random } = play
    this.#play = play
    this.#expected = expected
    this.#does = {
      merging: random() < SHARES.merging,
      compacting: random() < SHARES.compacting,
      forgetting: random() < SHARES.forgetting,
    }
  }

  async keep(): Promise<void> {
    const { lake, random } = this.#play
    if (this.#does.merging) await this.#merge()
    if (this.#does.compacting && random() < COMPACTED) {
      await compact({ lake })
      this.did.push('compacted')
    }
    if (this.#does.forgetting && random() < FORGOTTEN) await this.#forget()
    if ((this.#does.merging || this.#does.compacting) && random() < SWEPT) {
      await gc({ lake, keep: 1 })
      this.did.push('swept')
    }
  }

  async #merge(): Promise<void> {
    const { lake, random } = this.#play
    const snapshot = await readSnapshot(lake)
    const isDue = (await compact({ lake, auto: true, dryRun: true })).kind !== 'nothing'
    if (isDue && random() < MERGE_KILLED) {
      await kill('compact', ['compact', '--auto'], this.#play)
      this.did.push('merge killed')
    }
    const { kind } = await compact({ lake, auto: true })
    if (kind !== 'compacted') return
    const left = (await readSnapshot(lake)).partitions.length
    this.did.push(left > 1 ? `merged ${snapshot.partitions.length} to ${left}` : 'merged all')
  }

  async #forget(): Promise<void> {
    const { lake, random } = this.#play
    const [known] = shuffled(this.#expected.history, random)
    if (known === undefined) return
    const [id, isLaterRefused] = [Number(known[0]), random() < 0.5]
    await forget({ lake, companies: [id], allowLater: !isLaterRefused })
    this.#expected.forget(id, isLaterRefused)
    this.forgotten.add(id)
    this.did.push(`forgot ${id}${isLaterRefused ? '' : ', which may come again'}`)
  }
}

interface View {
  readonly what: string
  readonly sql: string
  readonly wanted: Rows
}

const views = (expected: ExpectedOrder): readonly View[] => {
  const listed = `internal_id IN (${expected.listed.join(', ') || 'NULL'})`
  const view = (what: string, sql: string, wanted: Rows): View => ({ what, sql, wanted })
  return [
    view('current', CURRENT, expected.current),
    ...ASKED_DAYS.map((day) =>
      view(
        `figures as of day ${day}`,
        `${BY_DATE} figures_as_of('${dayOf(day)}') WHERE ${listed} ORDER BY ALL`,
        expected.saidBy(day),
      ),
    ),
    ...expected.shown.map(({ time, rows }) =>
      view(
        `figures as known at ${time}`,
        `${BY_DATE} figures_as_known('${time}') WHERE ${OWN} ORDER BY ALL`,
        rows,
      ),
    ),
    view(
      'first reported',
      `SELECT internal_id, first_value, first_as_of, newest_value FROM first_reported WHERE ${OWN} ORDER BY 1`,
      expected.firstReported,
    ),
    view(
      'history',
      `SELECT internal_id, company_name FROM companies_history WHERE ${OWN} ORDER BY internal_id, as_of`,
      expected.history,
    ),
    view(
      'restatements',
      `SELECT internal_id, old_value, new_value FROM restatements WHERE ${OWN} ORDER BY internal_id, as_of`,
      expected.restated,
    ),
    view(
      'company changes',
      `SELECT internal_id, old_value, new_value FROM company_changes WHERE ${OWN} AND column_name = 'company_name' ORDER BY internal_id, as_of`,
      expected.renamed,
    ),
    view(
      'intervals',
      `SELECT internal_id, value, strftime(as_of, '%Y-%m-%d'), strftime(until_as_of, '%Y-%m-%d') FROM financials_history WHERE ${listed} ORDER BY internal_id, as_of`,
      expected.intervals,
    ),
  ]
}

/** Plays one order. @returns what was wrong */
const play = async (
  story: readonly Delivery[],
  random: () => number,
  { usual, count }: { readonly usual: UsualTimes; readonly count: (what: string, times?: number) => void },
): Promise<readonly string[]> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-orders-'))
  const [lake, database] = [join(folder, 'lake'), join(folder, 'out.duckdb')]
  const wrong: string[] = []
  const [begin, ...later] = [...story.entries()]
  const order = [...(begin ? [begin] : []), ...shuffled(later, random)]
  const service = await openService()
  const one = { folder, lake, random, usual, service }
  const expected = new ExpectedOrder()
  const upkeep = new Upkeep(one, expected)
  const compare = (what: string, found: unknown, wanted: unknown): void => {
    if (!isDeepStrictEqual(found, wanted))
      wrong.push(
        `${what}: ${JSON.stringify(found)}, expected ${JSON.stringify(wanted)}; order ${upkeep.did.join(', ')}`,
      )
  }
  try {
    for (const [at, delivery] of order) {
      await load(one, at, delivery)
      expected.load(delivery)
      upkeep.did.push(`${delivery.kind} of ${delivery.said.map(({ day }) => day)}`)
      expected.see((await readSnapshot(lake)).time)
      await upkeep.keep()
      if (random() < DELIVERED) await deliver({ lake, sinks: [database] })
    }
    await deliver({ lake, sinks: [database] })
    const shown = views(expected)
    const answers = await asked(
      lake,
      shown.map(({ sql }) => sql),
    )
    for (const [at, { what, wanted }] of shown.entries())
      compare(what, what === 'intervals' ? joined(answers[at] ?? []) : answers[at], wanted)
    compare('status', (await readStatus(lake)).current, { companies: expected.count })
    // A forget does not reach a database.
    compare(
      'database',
      (await inDatabase(database)).filter(([id]) => !upkeep.forgotten.has(Number(id))),
      expected.current.filter(([id]) => !upkeep.forgotten.has(Number(id))),
    )
    compare('verify', (await verify({ lake })).problems, [])
    if (missingDuckLake() === undefined)
      compare('catalog', await compareCatalog(lake, (await listSnapshots(lake)).slice(-3)), [])
    count('versions', expected.versions)
    for (const did of upkeep.did) count(did.replace(/ (?:of |\d).*/, ''))
    return wrong
  } finally {
    await service.close()
    await rm(folder, { recursive: true })
  }
}

const runCases = async ({ cases, random, log }: CampaignOptions) => {
  const wrong: string[] = []
  const usual = new UsualTimes()
  const figures: Record<string, number> = {}
  const count = (what: string, times = 1): void => {
    figures[what] = (figures[what] ?? 0) + times
  }
  for (let at = 0; at < cases; at += 1) {
    const found = await play(storyOf(random), random, { usual, count })
    for (const what of found) log(what)
    wrong.push(...found.map((what) => `case ${at + 1}: ${what}`))
    log(`${at + 1} of ${cases}: ${wrong.length} wrong`)
  }
  return { cases, wrong, figures }
}

export const campaign: Campaign = {
  about: 'the deliveries decide, not their order',
  wholeCases: WHOLE_CASES,
  run: runCases,
}
