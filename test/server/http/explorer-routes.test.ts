/** The explorer's addresses: files without a token and without data, questions with one, all others as they were. */

import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import type { ExplorerReply } from '../../../src/server/explorer/explorer.ts'
import { memberOf } from '../../../src/support/json-form.ts'
import { bearer, get, openFake, post, SWEDISH, SWEDISH_ENTRY, signIn } from './open-fake.ts'

const FILES = ['/', '/explorer/app.js', '/explorer/app.css']

test('the page and its files need no token, load nothing from elsewhere, and are asked for again', async () => {
  const address = await openFake()
  for (const path of FILES) {
    const response = await get(`${address}${path}`, {})
    expect(response.status).toBe(200)
    const policy = response.headers.get('content-security-policy') ?? ''
    expect(policy).toContain("default-src 'none'; script-src 'self'; style-src 'self'")
    expect(policy).not.toMatch(/unsafe|https?:|\*/)
    expect(response.headers.get('x-content-type-options')).toBe('nosniff')
    const etag = response.headers.get('etag') ?? ''
    const again = await get(`${address}${path}`, { 'if-none-match': etag })
    expect([again.status, await again.text()]).toEqual([304, ''])
  }
})

test('a part of a page needs a token, and its questions get their parameters and the caller', async () => {
  const asked: unknown[] = []
  const address = await openFake({
    askExplorer: async (name, parameters, caller) => {
      asked.push([name, parameters, caller.name])
      return { kind: 'answer', snapshot: 12, columns: ['company_name'], rows: [['<b>']] }
    },
  })
  const url = `${address}/explorer/fragment/found`
  const refused = await post(url, { text: 'x' }, {})
  expect([refused.status, await refused.text()]).toEqual([401, ''])
  expect((await post(url, {}, bearer('wrong'))).status).toBe(401)
  expect(asked).toEqual([])
  expect(await (await post(url, { text: 'x' }, bearer(SWEDISH))).text()).toContain('<bdi>&lt;b&gt;</bdi>')
  expect(asked).toEqual([['search', { text: 'x' }, 'swedish']])
  const file = `${address}/explorer/file/holdings`
  expect((await post(file, { id: 1 }, {})).status).toBe(401)
  const csv = await post(file, { id: 1 })
  expect([csv.headers.get('content-type'), csv.headers.get('cache-control')]).toEqual([
    'text/csv; charset=utf-8',
    'no-store',
  ])
  expect(await csv.text()).toBe('company_name\r\n<b>\r\n')
})

const sessionIn = async (response: Response): Promise<string> =>
  String(memberOf(await response.json(), 'session'))

test('a token is exchanged for a session, which asks in its name until somebody signs out', async () => {
  const asked: string[] = []
  const lines: string[] = []
  const address = await openFake(
    {
      askExplorer: async (_name, _body, caller) => {
        asked.push(caller.name)
        return { kind: 'answer', snapshot: 12, columns: [], rows: [] }
      },
    },
    { log: { write: (line) => lines.push(line) } },
  )
  const [url, question] = [`${address}/explorer/api/session`, `${address}/explorer/fragment/lake`]
  expect((await post(url, {}, {})).status).toBe(401)
  expect((await post(url, {}, bearer('no-token-of-this-server'))).status).toBe(401)
  const begun = await post(url, {}, bearer(SWEDISH))
  expect([begun.status, begun.headers.get('cache-control')]).toEqual([200, 'no-store'])
  const session = await sessionIn(begun)
  expect(session).not.toContain(SWEDISH)
  expect((await post(question, {}, bearer(session))).status).toBe(200)
  // It stands for its token in the explorer alone, and makes no other one.
  expect((await post(url, {}, bearer(session))).status).toBe(401)
  for (const path of ['/v2/companies', '/v2/relations'])
    expect((await post(`${address}${path}`, {}, bearer(session))).status).toBe(401)
  expect((await get(`${address}/v2/batches/batch-files`, bearer(session))).status).toBe(401)
  const end = (text: string) => fetch(url, { method: 'DELETE', headers: bearer(text) })
  expect((await end(session)).status).toBe(204)
  expect((await post(question, {}, bearer(session))).status).toBe(401)
  expect((await end(session)).status).toBe(401)
  expect(asked).toEqual(['swedish'])
  const log = lines.join('\n')
  expect(log).not.toContain(session)
  expect(log).toContain('"token":"swedish"')
})

test('requests of a session count as those of its token', async () => {
  const swede = { ...SWEDISH_ENTRY, requestsPerSecond: 2 }
  const address = await openFake(signIn([swede]))
  const url = `${address}/explorer/api/session`
  const session = await sessionIn(await post(url, {}, bearer(SWEDISH)))
  const statuses: number[] = []
  for (const token of [session, SWEDISH, session, SWEDISH])
    statuses.push((await post(`${address}/explorer/fragment/lake`, {}, bearer(token))).status)
  expect(statuses.slice(-2)).toEqual([429, 429])
})

test.each([
  [{ kind: 'refused', messages: ['the body.id: expected a number.'] }, 400],
  [{ kind: 'forbidden' }, 403],
  [{ kind: 'unknown' }, 404],
  [{ kind: 'off' }, 501],
] as const)('%j is a status', async (reply, status) => {
  const address = await openFake({ askExplorer: async () => reply })
  expect((await post(`${address}/explorer/fragment/lake`, {})).status).toBe(status)
})

test('a fragment is HTML with the page’s policy, and each status of one is counted and logged by its name', async () => {
  const lines: string[] = []
  const replies: (ExplorerReply | Error)[] = [
    { kind: 'answer', snapshot: 12, columns: [], rows: [] },
    { kind: 'forbidden' },
    { kind: 'off' },
    new ToolkitError('QUERY_FAILED', 'Cannot answer: it took longer than 1 ms'),
    new Error('words of the data'),
  ]
  const address = await openFake(
    {
      askExplorer: async () => {
        const reply = replies.shift()
        if (reply === undefined || reply instanceof Error) throw reply
        return reply
      },
    },
    { log: { write: (line) => lines.push(line) } },
  )
  const url = `${address}/explorer/fragment/company-findings`
  expect((await post(url, { id: 1 }, {})).status).toBe(401)
  expect((await post(url, { id: 'x' })).status).toBe(400)
  expect((await post(url, '{')).status).toBe(400)
  const shown = await post(url, { id: 1 })
  expect([shown.status, shown.headers.get('content-type'), shown.headers.get('cache-control')]).toEqual([
    200,
    'text/html; charset=utf-8',
    'no-store',
  ])
  expect(shown.headers.get('content-security-policy')).toContain("default-src 'none'")
  expect(await shown.text()).toMatch(
    /^<div class="card"><h2>Quality<\/h2>[\s\S]*No rule on the data is broken/,
  )
  const statuses: number[] = []
  for (const _ of replies.slice()) {
    const failed = await post(url, { id: 1 })
    statuses.push(failed.status)
    expect(await failed.text()).not.toContain('words of the data')
  }
  expect(statuses).toEqual([403, 501, 503, 500])
  expect((await post(`${address}/explorer/fragment/none`, {})).status).toBe(404)
  const logged = lines.flatMap((line) => {
    const { message, route, status } = JSON.parse(line)
    return message === 'request' && route === '/explorer/fragment/company-findings' ? [status] : []
  })
  expect(logged).toEqual([401, 400, 400, 200, ...statuses])
  expect(await (await get(`${address}/metrics`)).text()).toContain(
    'firmlake_http_requests_total{route="/explorer/fragment/company-findings",method="POST",status="503"} 1',
  )
})

test('other addresses and methods keep their 401, 404 and 405', async () => {
  const address = await openFake()
  expect((await get(`${address}/v2/batches/batch-files`, {})).status).toBe(401)
  for (const path of [
    '/explorer',
    '/explorer/',
    '/explorer/app.ts',
    '/index.html',
    '/explorer/api/search',
    '/v2',
  ])
    expect([path, (await get(`${address}${path}`, {})).status]).toEqual([path, 404])
  expect((await post(`${address}/`, {}, {})).status).toBe(405)
  expect((await get(`${address}/explorer/fragment/found`)).status).toBe(405)
  expect((await get(`${address}/v2/companies`, {})).status).toBe(405)
})
