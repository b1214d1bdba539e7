/** The explorer's addresses: files without a token and without data, questions with one, all others as they were. */

import { expect, test } from 'vitest'
import { bearer, get, openFake, post, SWEDISH } from './open-fake.ts'

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

test('a question needs a token, and gets the body and the caller as they are', async () => {
  const asked: unknown[] = []
  const address = await openFake({
    askExplorer: async (name, body, caller) => {
      asked.push([name, body, caller.name])
      return { kind: 'answer', snapshot: 12, columns: ['a'], rows: [[1]] }
    },
  })
  const url = `${address}/explorer/api/search`
  const refused = await post(url, { text: 'x' }, {})
  expect([refused.status, await refused.text()]).toEqual([401, ''])
  expect((await post(url, {}, bearer('wrong'))).status).toBe(401)
  expect(asked).toEqual([])
  const answer = await post(url, { text: 'x' }, bearer(SWEDISH))
  expect(await answer.json()).toEqual({ snapshot: 12, columns: ['a'], rows: [[1]] })
  expect(answer.headers.get('cache-control')).toBe('no-store')
  expect(asked).toEqual([['search', '{"text":"x"}', 'swedish']])
})

test.each([
  [{ kind: 'refused', messages: ['the body.id: expected a number.'] }, 400],
  [{ kind: 'forbidden' }, 403],
  [{ kind: 'unknown' }, 404],
  [{ kind: 'off' }, 501],
] as const)('%j is a status', async (reply, status) => {
  const address = await openFake({ askExplorer: async () => reply })
  expect((await post(`${address}/explorer/api/company`, {})).status).toBe(status)
})

test('other addresses and methods keep their 401, 404 and 405', async () => {
  const address = await openFake()
  expect((await get(`${address}/v2/batches/batch-files`, {})).status).toBe(401)
  for (const path of ['/explorer', '/explorer/', '/explorer/app.ts', '/index.html', '/explorer/api', '/v2'])
    expect([path, (await get(`${address}${path}`, {})).status]).toEqual([path, 404])
  expect((await post(`${address}/`, {}, {})).status).toBe(405)
  expect((await get(`${address}/explorer/api/search`)).status).toBe(405)
  expect((await get(`${address}/v2/companies`, {})).status).toBe(405)
})
