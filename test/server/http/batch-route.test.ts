import { expect, test } from 'vitest'
import { sha256Of } from '../../../src/support/hash.ts'
import { CONTENT, storeOf } from './batch-store.ts'
import { bearer, bodyOf, get, openFake, rawRequest } from './open-fake.ts'

const ETAG = `"${sha256Of(CONTENT)}"`
const open = async (): Promise<string> =>
  `${await openFake({ batches: await storeOf(CONTENT) })}/v2/batches/batch-file/1`
const fetchPart = async (url: string, headers: Record<string, string>) => {
  const response = await get(url, { ...bearer(), ...headers })
  return {
    status: response.status,
    range: response.headers.get('content-range'),
    body: await response.text(),
  }
}

test('a download has length, ETag, digest and type', async () => {
  const response = await get(await open())
  expect(response.status).toBe(200)
  expect(Object.fromEntries(response.headers)).toMatchObject({
    'content-type': 'application/octet-stream',
    'content-length': '26',
    'accept-ranges': 'bytes',
    etag: ETAG,
    'repr-digest': `sha-256=:${Buffer.from(sha256Of(CONTENT), 'hex').toString('base64')}:`,
  })
  expect(await response.text()).toBe(CONTENT)
})

test.each([
  ['bytes=0-4', 'abcde', 'bytes 0-4/26'],
  ['bytes=20-', 'uvwxyz', 'bytes 20-25/26'],
  ['bytes=-3', 'xyz', 'bytes 23-25/26'],
  ['bytes=-100', CONTENT, 'bytes 0-25/26'],
  ['bytes=24-100', 'yz', 'bytes 24-25/26'],
])('range %s is that part', async (range, body, contentRange) => {
  expect(await fetchPart(await open(), { range })).toEqual({ status: 206, range: contentRange, body })
})

test.each(['bytes=26-', 'bytes=100-200', 'bytes=-0'])('range %s is outside the file', async (range) => {
  expect(await fetchPart(await open(), { range })).toEqual({ status: 416, range: 'bytes */26', body: '' })
})

test.each(['bytes=5-2', 'bytes=0-1,4-5', 'lines=1-2', 'bytes=-', 'bytes=x-y'])(
  'range %s is no single range: the whole file comes',
  async (range) => {
    expect(await fetchPart(await open(), { range })).toEqual({ status: 200, range: null, body: CONTENT })
  },
)

test('If-Range takes the range for the same ETag only', async () => {
  const url = await open()
  const range = 'bytes=20-'
  expect((await fetchPart(url, { range, 'if-range': ETAG })).status).toBe(206)
  for (const other of ['"other"', `W/${ETAG}`, 'Wed, 21 Oct 2026 07:28:00 GMT'])
    expect(await fetchPart(url, { range, 'if-range': other })).toMatchObject({ status: 200, body: CONTENT })
})

test('If-None-Match and If-Match are kept', async () => {
  const url = await open()
  expect((await fetchPart(url, { 'if-none-match': ETAG })).status).toBe(304)
  expect((await fetchPart(url, { 'if-none-match': '"other"' })).status).toBe(200)
  expect((await fetchPart(url, { 'if-match': ETAG })).status).toBe(200)
  expect((await fetchPart(url, { 'if-match': '"other"' })).status).toBe(412)
})

test.each([
  ['', {}],
  [' of the whole file, whatever range it names', { range: 'bytes=1-2' }],
  [' of the whole file, whatever range there is not', { range: 'bytes=99-' }],
])('HEAD tells the length%s without the body', async (_what, headers) => {
  const response = await rawRequest(await open(), { method: 'HEAD', headers })
  expect(response.statusCode).toBe(200)
  expect(response.headers['content-range']).toBeUndefined()
  expect(response.headers['content-length']).toBe('26')
  expect(response.headers.etag).toBe(ETAG)
  expect(await bodyOf(response)).toBe('')
})
