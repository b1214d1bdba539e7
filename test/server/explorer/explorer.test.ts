/** Named questions: what they answer, and what a caller sees of it. */

import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, onTestFinished, test } from 'vitest'
import { openQuery, query } from '../../../src/jobs/query.ts'
import { readRows } from '../../../src/lake/query/read-rows.ts'
import { pagesOf } from '../../../src/report/pages.ts'
import type { Caller } from '../../../src/server/access/caller.ts'
import type { ExplorerReply } from '../../../src/server/explorer/explorer.ts'
import { maySeeOf } from '../../../src/server/explorer/explorer.ts'
import { qualityRules } from '../../../src/server/explorer/report-questions.ts'
import {
  ALPHA,
  BETA,
  EVERYTHING,
  IMAGE,
  loadExplorerLake,
  NORSE,
  openExplorer,
  SECRETS,
  swedish,
} from './explorer-lake.ts'

let folder = ''
let lake = ''
let explorer: ReturnType<typeof openExplorer>
const NEVER = new AbortController().signal

beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'firmlake-'))
  lake = join(folder, 'lake')
  await loadExplorerLake(lake)
  explorer = openExplorer(lake)
})
afterAll(async () => {
  await explorer.close()
  await rm(folder, { recursive: true, force: true })
})

const ask = (name: string, parameters: unknown = {}, caller: Caller = EVERYTHING): Promise<ExplorerReply> =>
  explorer.ask(name, parameters, caller, NEVER)

const rowsIn = (reply: ExplorerReply): Record<string, unknown>[] => {
  if (reply.kind !== 'answer') throw new TypeError(`Cannot read rows of "${reply.kind}"`)
  return reply.rows.map((row) => Object.fromEntries(reply.columns.map((name, at) => [name, row[at]])))
}
const rowsOf = async (...asked: Parameters<typeof ask>): Promise<Record<string, unknown>[]> =>
  rowsIn(await ask(...asked))
const sqlOf = (reply: ExplorerReply): string => (reply.kind === 'answer' && reply.sql) || ''

const namesFound = async (text: string, caller?: Caller): Promise<unknown[]> =>
  (await rowsOf('search', { text }, caller)).map((row) => row.company_name)

test('search finds companies by parts of their name without accents, by number and identifier', async () => {
  expect(await namesFound('norse a')).toEqual(['Norse Å'])
  expect(await namesFound('ALPH')).toEqual(['Alpha'])
  expect(await namesFound('5510')).toHaveLength(5)
  expect(await namesFound('55-101')).toEqual(['Alpha'])
  expect(await namesFound(String(BETA))).toEqual([IMAGE])
  expect(await namesFound('%')).toEqual([])
  expect(await namesFound(`' OR true --`)).toEqual([])
  expect(await namesFound('\ud800 \0')).toEqual([])
})

test('figures of a company come with gaps as gaps, and with the values before, by the rule of restatements', async () => {
  const rows = await rowsOf('figures', { id: ALPHA })
  const sales = rows.filter((row) => row.line_item === 'NetSales' && row.consolidation === 'Consolidated')
  expect(sales.map((row) => [row.fiscal_year, row.value, row.currency])).toEqual([
    [2018, 1000, 'EUR'],
    [2019, 2000, 'EUR'],
    [2021, 12_000, 'EUR'],
  ])
  expect(
    rows.filter((row) => row.category === 'Employees').map((row) => [row.fiscal_year, row.value]),
  ).toEqual([
    [2019, 4],
    [2021, 5],
  ])
  const restated = await query({ lake, sql: 'FROM restatements ORDER BY internal_id' })
  expect(restated).toHaveLength(1)
  expect(restated[0]).toMatchObject({ internal_id: ALPHA, fiscal_year: 2021, old_value: 10_000, snapshot: 2 })
  expect(
    rows.filter((row) => row.earlier !== null).map((row) => [row.line_item, row.fiscal_year, row.earlier]),
  ).toEqual([
    [
      'NetSales',
      2021,
      [
        {
          value: 10_000,
          currency: 'EUR',
          until_snapshot: 2,
          until: expect.stringMatching(/^\d{4}-\d\d-\d\dT/),
        },
      ],
    ],
  ])
})

test('owners and holdings are walked in both directions, circles are marked, protected persons have no name', async () => {
  const rows = await rowsOf('ownership', { id: ALPHA })
  const shown = rows.map((row) => [
    row.direction,
    row.level,
    row.owner_name,
    row.owned_name,
    row.min_stake,
    row.max_stake,
    row.is_cycle,
  ])
  expect(shown).toContainEqual(['up', 1, IMAGE, 'Alpha', 60, 60, true])
  expect(shown).toContainEqual(['down', 1, 'Alpha', 'Norse Å', 100, 100, false])
  expect(rows.filter((row) => row.is_cycle)).toHaveLength(3)
  const hidden = rows.filter((row) => row.owner_kind === 'protected')
  expect(
    hidden.map((row) => [row.owner_name, row.owner_id, row.min_stake, row.max_stake, row.is_stated]),
  ).toEqual([
    [null, null, 0, 100, false],
    [null, null, 25, 50, true],
  ])
  expect(new Set(hidden.map((row) => row.owner)).size).toBe(2)
  expect(rows.every((row) => row.owner_kind !== 'person' || row.owner_id === null)).toBe(true)
})

test.each([
  ['everything', EVERYTHING],
  ['Sweden with Hidden Person Access', swedish('Owner', 'Hidden Person Access')],
])('no answer to a token for %s names a protected person', async (_name, caller) => {
  for (const id of [ALPHA, BETA, NORSE]) {
    const text = JSON.stringify([
      await ask('ownership', { id }, caller),
      await ask('company', { id }, caller),
    ])
    for (const secret of SECRETS) expect(text).not.toContain(secret)
  }
})

test('a token sees the countries and areas that it has, in every question', async () => {
  const sweden = swedish('Owner')
  expect(await namesFound('norse', sweden)).toEqual([])
  expect(await rowsOf('company', { id: NORSE }, sweden)).toEqual([])
  expect(await rowsOf('figures', { id: NORSE }, sweden)).toEqual([])
  // Known from Alpha's record, which may be seen; of its own, which may not, nothing is.
  const above = await rowsOf('ownership', { id: NORSE }, sweden)
  expect(above).toHaveLength(6)
  expect(above[0]).toMatchObject({
    direction: 'up',
    owner_name: 'Alpha',
    owned_name: 'Norse',
    owned_id: null,
  })
  expect(above.map((row) => row.owner_name)).not.toContain('Open Person')
  expect((await rowsOf('ownership', { id: NORSE })).map((row) => row.owner_name)).toContain('Open Person')
  expect(await rowsOf('overview', {}, sweden)).toEqual([
    expect.objectContaining({ companies: 4, countries: 1, relations: 3 }),
  ])
  const coverage = await rowsOf('section', { id: 'reporting' }, sweden)
  expect(new Set(coverage.map((row) => row.country_code))).toEqual(new Set(['SE']))
  // And the one who asked before sees again what it may see.
  expect(await rowsOf('overview')).toMatchObject([{ countries: 2 }])
  expect(await rowsOf('ownership', { id: ALPHA }, swedish('Key Person'))).toEqual([])
})

test('a token whose rights have changed sees nothing of what it saw before', async () => {
  const before: Caller = { ...swedish('Owner'), rights: 'everything' }
  expect(await rowsOf('overview', {}, before)).toMatchObject([{ countries: 2 }])
  expect(await rowsOf('overview', {}, swedish('Owner'))).toMatchObject([{ companies: 4, countries: 1 }])
})

const SECTIONS = pagesOf({ lineItems: ['NetSales'], rules: qualityRules() }).flatMap(
  ({ sections }) => sections,
)

test('what belongs to no country is for those who see everything', async () => {
  expect(await ask('loads', {}, swedish('Owner'))).toEqual({ kind: 'forbidden' })
  expect(await ask('section', { id: 'durations' }, swedish('Owner'))).toEqual({ kind: 'forbidden' })
  const isOpen = Object.fromEntries(SECTIONS.map(({ id, sql }) => [id, maySeeOf(swedish('Owner'))(sql)]))
  expect(isOpen).toMatchObject({
    ...{ nights: true, reporting: true, 'largest-restatements': true, rules: true, findings: true },
    ...{
      numbers: false,
      durations: false,
      snapshots: false,
      'drift-names': false,
      'quarantine-nights': false,
    },
  })
  expect(SECTIONS.every(({ sql }) => maySeeOf(EVERYTHING)(sql))).toBe(true)
  expect(await rowsOf('loads')).toEqual([expect.objectContaining({ loads: 2, gap: 0, quarantined: 0 })])
})

test('every section that a token may see is answered, and says its statement', async () => {
  // For those who may see all of them: below.
  const caller = swedish('Owner')
  for (const { id, sql } of SECTIONS)
    if (maySeeOf(caller)(sql))
      expect([id, await ask('section', { id }, caller)]).toEqual([
        id,
        expect.objectContaining({ kind: 'answer', sql: expect.any(String) }),
      ])
  const reporting = async (lineItem: string): Promise<readonly unknown[]> =>
    (await rowsOf('section', { id: 'item-0', lineItem })).map((row) => row.reporting)
  expect(new Set(await reporting("EB'ITDA"))).toEqual(new Set([0]))
  expect(new Set(await reporting('EBITDA'))).toEqual(new Set([0, 1, 4]))
})

test('the sections of the report say what query says', async () => {
  const lakeQuery = await openQuery({ lake })
  onTestFinished(() => lakeQuery.close())
  for (const { id } of SECTIONS) {
    const reply = await ask('section', { id })
    expect([id, await readRows(await lakeQuery.run(sqlOf(reply)))]).toEqual([id, rowsIn(reply)])
  }
})

test.for([
  ['company', { id: '1; DROP' }, 'id'],
  ['company', {}, 'id'],
  ['figures', { id: '9223372036854775808' }, 'id'],
  ['ownership', { id: '1e3' }, 'id'],
  ['search', { text: '' }, 'text'],
  ['search', { text: 'x'.repeat(201) }, 'text'],
  ['section', { id: 'none' }, 'the name of a section'],
  ['section', { id: 'companies; SELECT 1' }, 'the name of a section'],
] as const)('%s refuses what is no parameter (%#)', async ([name, parameters, said]) => {
  expect(await ask(name, parameters)).toEqual({ kind: 'refused', messages: [expect.stringContaining(said)] })
})

test('a question that there is not is unknown', async () => {
  expect((await ask('constructor')).kind).toBe('unknown')
})

test('a question that takes too long fails, and the next one is answered', async () => {
  const hasty = openExplorer(lake, { timeoutMs: 1 })
  await expect(hasty.ask('overview', {}, EVERYTHING, NEVER)).rejects.toMatchObject({ code: 'QUERY_FAILED' })
  await hasty.close()
  const gone = new AbortController()
  const left = explorer.ask('section', { id: 'findings' }, swedish('Owner', 'Key Person'), gone.signal)
  gone.abort()
  await expect(left).rejects.toThrow()
  expect(await rowsOf('overview')).toMatchObject([{ countries: 2 }])
})

test('the explorer moves to the snapshot that is served, and without memory it is off', async () => {
  let snapshot = 1
  const moving = openExplorer(lake, { snapshot: () => snapshot })
  expect(await moving.ask('ownership', { id: ALPHA }, EVERYTHING, NEVER)).toMatchObject({
    snapshot: 1,
    rows: [],
  })
  snapshot = 2
  expect(await moving.ask('overview', {}, EVERYTHING, NEVER)).toMatchObject({ snapshot: 2 })
  await moving.close()
  const off = openExplorer(lake, { memoryBytes: 0 })
  expect(await off.ask('overview', {}, EVERYTHING, NEVER)).toEqual({ kind: 'off' })
  await off.close()
})
