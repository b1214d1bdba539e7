/** What is asked of a server to time it: chains of whole profiles, minified pages, counts, text searches. */

import { Agent, request } from 'undici'
import { FIRST_CURSOR } from '../src/contract/limits.ts'
import type { ServerProcess } from './server-process.ts'

export interface Measured {
  readonly name: string
  /** Most milliseconds that the median should take; `null` where only the figure is wanted. */
  readonly aim: number | null
  /** Of each request until its body is whole, in milliseconds. */
  readonly times: readonly number[]
}

interface Answered {
  readonly ms: number
  readonly cursor: string | null
}
type Ask = (body: object) => Promise<Answered>

const PAGE = 500
const FULL_PAGE_MS = 250
const MINIFIED_PAGE_MS = 40
const COUNT_MS = 50

/** Keeps one connection, as a client does. */
const asker = ({ url, token }: ServerProcess, agent: Agent): Ask => {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  return async (body) => {
    const begun = performance.now()
    const answer = await request(`${url}/v2/companies`, {
      method: 'POST',
      headers,
      body: JSON.stringify(body),
      dispatcher: agent,
    })
    await answer.body.dump({ limit: Number.MAX_SAFE_INTEGER })
    const ms = performance.now() - begun
    if (answer.statusCode !== 200) throw new Error(`The server answered ${answer.statusCode}, expected 200`)
    const pagination = JSON.parse(String(answer.headers['x-pagination']))
    return { ms, cursor: pagination.Cursor ?? null }
  }
}

/** Nearly all companies: those with a date. */
const ALL = { ContentUpdatedAt: ['2000-01-01'] }

const chain = async (ask: Ask, currency: string): Promise<number[]> => {
  const times: number[] = []
  for (let cursor: string | null = FIRST_CURSOR; cursor !== null; ) {
    const answered: Answered = await ask({
      SearchParameters: ALL,
      Currency: currency,
      PageSize: PAGE,
      Cursor: cursor,
    })
    times.push(answered.ms)
    cursor = answered.cursor
  }
  return times
}

/** The whole chain, and its first and last pages apart: they should take equally long. */
const chainRows = (name: string, times: readonly number[]): Measured[] => {
  const tenth = Math.max(1, Math.floor(times.length / 10))
  return [
    { name, aim: FULL_PAGE_MS, times },
    { name: '  its first tenth', aim: FULL_PAGE_MS, times: times.slice(0, tenth) },
    { name: '  its last tenth', aim: FULL_PAGE_MS, times: times.slice(-tenth) },
  ]
}

const each = async (ask: Ask, bodies: readonly object[]): Promise<number[]> => {
  const times: number[] = []
  for (const body of bodies) times.push((await ask(body)).ms)
  return times
}

const ROUNDS = 30
const rounds = <T>(make: (round: number) => T): T[] =>
  Array.from({ length: ROUNDS }, (_, round) => make(round))
/** A count: the smallest page of the cheapest kind, with a filter that was not asked before. */
const count = (parameters: object, currency = 'USD'): object => ({
  SearchParameters: parameters,
  Currency: currency,
  PageSize: 1,
  MinifiedSearch: true,
})
const day = (round: number): string => new Date(Date.UTC(2024, 0, 1 + round)).toISOString().slice(0, 10)

const COUNTS: Readonly<Record<string, (round: number) => object>> = {
  'count: NetSales from-to': (round) => count({ NetSales: [1e6 + round, 5e7 + round] }),
  'count: NetSales from-to, in EUR': (round) => count({ NetSales: [1e6 + round, 5e7 + round] }, 'EUR'),
  'count: EBIT_Year_2022 from, TotalAssets from': (round) =>
    count({ EBIT_Year_2022: [1e5 + round], TotalAssets: [1e6 + round] }, 'EUR'),
  'count: country and date': (round) => count({ CountryCode: ['SE', 'NO'], ContentUpdatedAt: [day(round)] }),
  'count: industry code by prefix': (round) =>
    count({ IndustryCode: [String(10 + round)], OperationalStatus: [10] }),
}

const WORDS = [
  'steel',
  'software',
  'transport',
  'timber',
  'energy',
  'food',
  'paper',
  'machine',
  'design',
  'water',
]
const words = (round: number): string =>
  `${WORDS[round % WORDS.length]} ${WORDS[(round * 7 + Math.floor(round / 10) + 1) % WORDS.length]} ${round}`

/** How long a small request waits while a converted chain is under way on another connection. */
const beside = async (server: ServerProcess, agent: Agent, working: Promise<unknown>): Promise<number[]> => {
  const times: number[] = []
  let isDone = false
  working.then(
    () => (isDone = true),
    () => (isDone = true),
  )
  while (!isDone) {
    const begun = performance.now()
    const { body } = await request(`${server.url}/healthz`, { dispatcher: agent })
    await body.dump()
    times.push(performance.now() - begun)
    await new Promise((resume) => setTimeout(resume, 5))
  }
  return times
}

export const measureAnswers = async (server: ServerProcess): Promise<readonly Measured[]> => {
  const [agent, other] = [new Agent({ connections: 1 }), new Agent({ connections: 1 })]
  try {
    const ask = asker(server, agent)
    // The first answers of a fresh server are those of code that is not compiled yet.
    const first = await each(ask, [{ SearchParameters: ALL, PageSize: PAGE, Cursor: FIRST_CURSOR }])
    const measured: Measured[] = [
      { name: 'first page of a fresh server', aim: null, times: first },
      ...chainRows('cursor page of 500, in USD (4 of 5 as reported)', await chain(ask, 'USD')),
      ...chainRows('cursor page of 500, in EUR (9 of 10 converted)', await chain(ask, 'EUR')),
    ]
    const converted = chain(ask, 'SEK')
    const waits = await beside(server, other, converted)
    await converted
    measured.push({ name: '/healthz beside a converted chain', aim: null, times: waits })
    const minified = rounds((round) => ({
      SearchParameters: { ContentUpdatedAt: [day(round)] },
      PageSize: PAGE,
      PageNumber: 1 + (round % 10),
      MinifiedSearch: true,
    }))
    measured.push({
      name: 'minified page of 500, new search',
      aim: MINIFIED_PAGE_MS,
      times: await each(ask, minified),
    })
    for (const [name, make] of Object.entries(COUNTS))
      measured.push({ name, aim: COUNT_MS, times: await each(ask, rounds(make)) })
    const strings: Readonly<Record<string, (round: number) => object>> = {
      'sorted page of 500 by NetSales, minified': (round) => ({
        SearchParameters: { ContentUpdatedAt: [day(round)] },
        PageSize: PAGE,
        SortByColumn: 'NetSales',
        MinifiedSearch: true,
      }),
      'DynamicSearch, page of 10': (round) => ({ SearchParameters: { DynamicSearch: [words(round)] } }),
      'SemanticSearch, page of 10': (round) => ({ SearchParameters: { SemanticSearch: [words(round)] } }),
    }
    for (const [name, make] of Object.entries(strings))
      measured.push({ name, aim: null, times: await each(ask, rounds(make)) })
    return measured
  } finally {
    await agent.close()
    await other.close()
  }
}
