/** A service that repeats the token in what it says: nobody beyond the client gets it. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { ToolkitError } from '../../../src/core/errors.ts'
import { errorWithoutToken, holdsToken } from '../../../src/source/service/token.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { answeringServer, client, FACTS, page, status, TOKEN } from './answering-server.ts'

const REQUEST = { content: 'companies', search: { CountryCode: ['SE'] }, pageSize: 10 } as const

test('page gives a cursor without the token, and sends it as it was', async () => {
  const server = await answeringServer(page({}, { ...FACTS, Cursor: TOKEN }), page())
  const service = client(server.url)
  const { pagination } = await service.page({ ...REQUEST, cursor: '*' }, () => undefined)
  expect(pagination.Cursor).not.toContain(TOKEN)
  await service.page({ ...REQUEST, cursor: pagination.Cursor ?? '' }, () => undefined)
  expect(server.seen.map(({ body }) => JSON.parse(body).Cursor)).toEqual(['*', TOKEN])
})

test('page refuses a cursor that holds what stands for the token', async () => {
  const server = await answeringServer(page({}, { ...FACTS, Cursor: 'a\0b' }))
  await expect(client(server.url).page(REQUEST, () => undefined)).rejects.toMatchObject({
    code: 'ANSWER_INVALID',
  })
})

test('page, parameters and batchFiles refuse an answer that repeats the token, at once and without it', async () => {
  const said = { Companies: [{ Name: `for ${TOKEN}` }], SearchParameters: [], BatchFiles: [] }
  const server = await answeringServer(page(said))
  const service = client(server.url)
  for (const asked of [
    service.page(REQUEST, () => undefined),
    service.parameters('companies'),
    service.batchFiles(),
  ]) {
    const error = await asked.catch((reason: unknown) => reason)
    expect(error).toMatchObject({ code: 'ANSWER_INVALID', context: { kind: 'token' } })
    expect(String(error)).not.toContain(TOKEN)
  }
  expect(service.counters().retries).toBe(0)
})

test('download keeps no ETag that repeats the token', async () => {
  const folder = await temporaryFolder()
  const cut = status(200, { etag: `"${TOKEN}"`, 'content-length': '100' }, 'half')
  const server = await answeringServer(cut, status(401))
  await expect(client(server.url).download('f', join(folder, 'f'))).rejects.toMatchObject({
    code: 'TOKEN_REFUSED',
  })
  for (const name of await readdir(folder))
    expect(await readFile(join(folder, name), 'utf8'), name).not.toContain(TOKEN)
  const whole = await answeringServer(status(200, { etag: `"${TOKEN}"` }, 'whole'))
  expect(await client(whole.url).download('f', join(folder, 'f'))).not.toHaveProperty('etag')
})

test('a redirect to a host of the token is refused without naming it', async () => {
  const token = 'token-of-a-long-name'
  const server = await answeringServer(status(302, { location: `https://${token}.example/x` }))
  const error = await client(server.url, { token })
    .page(REQUEST, () => undefined)
    .catch((reason: unknown) => reason)
  expect(error).toMatchObject({ code: 'SERVICE_REDIRECTED' })
  expect(String(error)).toContain('https://….example')
})

test('errorWithoutToken takes the token out of message, context and cause, and leaves other errors as they are', () => {
  const error = new ToolkitError('USAGE', `x ${TOKEN}`, { at: TOKEN, n: 1 }, new Error(TOKEN))
  expect(errorWithoutToken(error, TOKEN)).toMatchObject({
    message: 'x …',
    context: { at: '…', n: 1 },
    cause: undefined,
  })
  expect(errorWithoutToken(error, 'another-long-token')).toBe(error)
})

test('holdsToken does not take a short token for one', () => {
  expect([holdsToken('a token', 'token'), holdsToken(Buffer.from(`"${TOKEN}"`), TOKEN)]).toEqual([
    false,
    true,
  ])
})
