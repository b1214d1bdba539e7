import { expect, test } from 'vitest'
import { faultLayer } from '../../../src/server/faults/fault-layer.ts'
import { decodeFaults } from '../../../src/server/faults/read-faults.ts'
import { openServer } from '../../../src/server/http/open-server.ts'
import { fakeParts, get, post, SWEDISH, TOKEN } from './open-fake.ts'

interface Line {
  readonly time: string
  readonly route: string
  readonly status: number | null
  readonly cut?: boolean
}

/** Runs requests against a server and stops it. @returns the lines of its log, and its numbers before the stop */
const logged = async (
  ask: (url: string) => Promise<unknown>,
  parts = fakeParts(),
): Promise<{ text: string; lines: Line[]; metrics: string }> => {
  let text = ''
  const log = {
    write: (line: string) => {
      text += line
    },
  }
  const server = await openServer(parts, { port: 0, requestsPerSecond: 0.01, log })
  await ask(server.address)
  const metrics = await (await get(`${server.address}/metrics`, {})).text()
  await server.close()
  return {
    text,
    metrics,
    lines: text
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line)),
  }
}

const SECRET = 'Anna Person 19640823-3234'

test('a request is one line of JSON: time, method, route, status, time taken, bytes, name of the token', async () => {
  const { lines } = await logged((url) => post(`${url}/v2/companies`, { Cursor: '*' }).then((r) => r.text()))
  expect(lines[0]).toEqual({
    level: 'info',
    time: expect.stringMatching(/^\d{4}-\d\d-\d\dT.*Z$/),
    request: expect.any(String),
    method: 'POST',
    route: '/v2/companies',
    status: 200,
    ms: expect.any(Number),
    bytes: expect.any(Number),
    token: 'everyone',
    message: 'request',
  })
})

test('the log holds no token, no query, no body, no address that was made up', async () => {
  const { text, lines } = await logged(async (url) => {
    await post(`${url}/v2/companies?name=${encodeURIComponent(SECRET)}`, {
      SearchParameters: { DynamicSearch: [SECRET] },
    })
    await get(`${url}/v2/batches/batch-file/${encodeURIComponent(SECRET)}`, {
      authorization: `Bearer ${SWEDISH}`,
      'user-agent': SECRET,
    })
    await get(`${url}/${encodeURIComponent(SECRET)}`)
    await get(`${url}/v2/batches/batch-files`, { authorization: 'Bearer wrong-token' })
  })
  expect(lines.map(({ route, status }) => [route, status])).toEqual([
    ['/v2/companies', 200],
    ['/v2/batches/batch-file/:batchFileId', 404],
    ['none', 404],
    ['/v2/batches/batch-files', 401],
    ['/metrics', 200],
  ])
  for (const secret of [TOKEN, SWEDISH, 'wrong-token', 'Anna', '19640823', 'DynamicSearch'])
    expect(text).not.toContain(secret)
})

test('an answer that was cut is logged as such, one that never came without a status', async () => {
  const parts = fakeParts({
    layers: [
      faultLayer(
        decodeFaults({
          faults: [
            { on: 'companies', fault: 'reset' },
            { on: 'relations', fault: 'truncated' },
          ],
        }),
      ),
    ],
  })
  const { lines } = await logged(async (url) => {
    await post(`${url}/v2/companies`, {}).catch(() => undefined)
    await post(`${url}/v2/relations`, {}, { authorization: `Bearer ${SWEDISH}` })
      .then((response) => response.text())
      .catch(() => undefined)
  }, parts)
  expect(lines[0]).toMatchObject({ route: '/v2/companies', status: null, cut: true })
  expect(lines[1]).toMatchObject({ route: '/v2/relations', status: 200, cut: true })
})

test('metrics count requests, bytes, records and refusals, by route and status', async () => {
  const { metrics } = await logged(async (url) => {
    await post(`${url}/v2/companies`, { PageSize: 7, Cursor: '*' }).then((response) => response.text())
    await post(`${url}/v2/companies`, {}).then((response) => response.text())
    await get(`${url}/secret-address`)
  })
  const value = (name: string): number => {
    const line = metrics.split('\n').find((one) => one.startsWith(`${name} `))
    return Number(line?.slice(name.length + 1))
  }
  expect(value('firmlake_http_requests_total{route="/v2/companies",method="POST",status="200"}')).toBe(1)
  expect(value('firmlake_http_requests_total{route="/v2/companies",method="POST",status="429"}')).toBe(1)
  expect(value('firmlake_http_requests_total{route="none",method="GET",status="404"}')).toBe(1)
  expect(value('firmlake_records_total{content="companies"}')).toBe(7)
  expect(value('firmlake_http_throttled_total')).toBe(1)
  expect(value('firmlake_http_requests_in_flight')).toBe(1) // the request for the metrics
  expect(value('firmlake_http_response_bytes_total{route="/v2/companies"}')).toBeGreaterThan(300)
  expect(value('firmlake_http_request_duration_seconds_count{route="/v2/companies"}')).toBe(2)
  expect(metrics).toContain('process_resident_memory_bytes')
  for (const secret of ['secret-address', 'everyone', TOKEN]) expect(metrics).not.toContain(secret)
})
