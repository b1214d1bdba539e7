/**
 * Command: `node bench/explorer.ts [--companies 100000] [--lake DIR] [--snapshot N]`. What the explorer's questions cost on a lake of
 * many companies as loads make it, not compacted: wall time and CPU of an overview, of browsing, a company's page, its owners, a search.
 */

import { rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { parseArgs } from 'node:util'
import { writeSample } from '../data/sample.ts'
import { convert } from '../src/jobs/convert.ts'
import { query } from '../src/jobs/query.ts'
import type { Caller } from '../src/server/access/caller.ts'
import { newExplorer } from '../src/server/explorer/explorer.ts'
import { indexFolder } from '../src/server/serving-index/build/build-index.ts'
import { currentIndex } from '../src/server/serving-index/build/current-index.ts'
import { attachSegments } from '../src/server/serving-index/segment-views.ts'
import { median } from './measure.ts'

const { values } = parseArgs({
  options: {
    companies: { type: 'string', default: '100000' },
    lake: { type: 'string' },
    snapshot: { type: 'string', default: '1' },
    out: { type: 'string', default: join(tmpdir(), 'firmlake-bench') },
  },
})

/** What the explorer has of `--memory 1GiB`. */
const MEMORY_BYTES = 176 * 1024 ** 2
const ATTEMPTS = 5
const home = join(values.out, 'explorer')
const lake = values.lake ?? join(home, 'lake')
if (values.lake === undefined) {
  await rm(home, { recursive: true, force: true })
  const sample = { companies: Number(values.companies), seed: 7, files: 4, small: false, awkward: 0 }
  await writeSample(join(home, 'data'), { ...sample, content: ['companies', 'relations'] }, 1)
  await convert({ from: [join(home, 'data')], lake })
}

const [row] = await query({ lake, sql: 'SELECT median(internal_id)::BIGINT AS min FROM companies' })
const [found] = await query({
  lake,
  sql: `SELECT min(internal_id) AS id FROM companies JOIN holdings_of(NULL) ON owned_id = internal_id WHERE internal_id >= ${row?.min}`,
})
const id = found?.id
const CALLERS: readonly Caller[] = [
  { name: 'everything', rights: 'everything' },
  {
    name: 'sweden',
    rights: { countries: new Map([['SE', new Set(['Owner'] as const)]]), withoutCountry: null },
  },
]
const TWO_FACETS = { country: ['SE'], status: ['Active'] }
const QUESTIONS: readonly (readonly [page: string, asked: readonly (readonly [string, object])[]])[] = [
  ['search', [['search', { text: 'holding as' }]]],
  ['list', [['browse', {}]]],
  ['list, two facets', [['browse', TWO_FACETS]]],
  ['list by name, from row 5,000', [['browse', { order: 'name', from: 5000 }]]],
  [
    'company',
    [
      ['company', { id }],
      ['figures', { id }],
    ],
  ],
  ['owners and holdings', [['ownership', { id }]]],
]
const OVERVIEW = [
  ['overview', {}],
  ['countries', {}],
  ['loads', {}],
] as const

const snapshot = Number(values.snapshot)
const index = await currentIndex({ lake, snapshot, memoryBytes: 1024 ** 3 })
const { segments } = index.description
await index.close()
const explorer = () =>
  newExplorer({
    ...{ lake, served: () => snapshot, memoryBytes: MEMORY_BYTES, timeoutMs: 120_000 },
    attachIndex: (session) => attachSegments(session, indexFolder(lake, snapshot), segments),
  })
const signal = new AbortController().signal

/** Milliseconds of wall time and of CPU. */
const measured = async (work: () => Promise<unknown>): Promise<readonly [number, number]> => {
  const [started, before] = [performance.now(), process.cpuUsage()]
  await work()
  const { user, system } = process.cpuUsage(before)
  return [performance.now() - started, (user + system) / 1e3]
}

const say = (name: string, all: readonly (readonly [number, number])[]): void =>
  console.log(
    `${name}: ${median(all.map(([wall]) => wall)).toFixed(0)} ms, ${median(all.map(([, cpu]) => cpu)).toFixed(0)} ms of CPU`,
  )

for (const caller of CALLERS) {
  // What is kept until the next snapshot: each attempt is a server's first.
  const [lists, facets]: (readonly [number, number])[][] = [[], []]
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const one = explorer()
    await one.ask('search', '{"text":"a"}', caller, signal)
    lists?.push(await measured(() => one.ask('browse', '{}', caller, signal)))
    facets?.push(await measured(() => one.ask('facets', JSON.stringify(TWO_FACETS), caller, signal)))
    await one.close()
  }
  say(`list, made by the first one of a snapshot, ${caller.name}`, lists ?? [])
  say(`facets, two chosen, ${caller.name}`, facets ?? [])
  // Its answers are kept: each attempt is a server's first.
  const first: (readonly [number, number])[] = []
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    const one = explorer()
    await one.ask('search', '{"text":"a"}', caller, signal)
    first.push(
      await measured(async () => {
        for (const [name, body] of OVERVIEW) await one.ask(name, JSON.stringify(body), caller, signal)
      }),
    )
    await one.close()
  }
  say(`overview, ${caller.name}`, first)
  const open = explorer()
  for (const [page, asked] of QUESTIONS) {
    const all: (readonly [number, number])[] = []
    for (let attempt = 0; attempt <= ATTEMPTS; attempt += 1)
      all.push(
        await measured(async () => {
          for (const [name, body] of asked) {
            const reply = await open.ask(name, JSON.stringify(body), caller, signal)
            if (reply.kind !== 'answer') throw new TypeError(`Cannot measure "${name}": ${reply.kind}`)
          }
        }),
      )
    // The first one reads which rows are current.
    say(`${page}, ${caller.name}`, all.slice(1))
  }
  await open.close()
}
console.log(`peak memory: ${Math.round(process.resourceUsage().maxRSS / 1024)} MB`)
await rm(home, { recursive: true, force: true })
