/** What `doctor --online` says of the service: of one that answers, and of what goes wrong with one. */

import { expect, onTestFinished, test } from 'vitest'
import { askService, type DoctorService } from '../../src/doctor/check-service.ts'
import { doctor } from '../../src/jobs/doctor.ts'
import { openFakeService } from '../service/fake-service.ts'
import { type Answer, answeringServer } from '../source/service/answering-server.ts'

const TOKEN = 'secret-token-4711-abcdef'
const ENV = { FIRMLAKE_TOKEN: TOKEN }

const TOLD = { tokenVariable: 'FIRMLAKE_TOKEN', uses: ['companies'] } as const

const told = async (
  asked: Pick<DoctorService, 'url'> & Partial<DoctorService>,
  { env = ENV, limitMs = 2000 }: { readonly env?: NodeJS.ProcessEnv; readonly limitMs?: number } = {},
): Promise<readonly string[]> =>
  (await askService({ ...TOLD, ...asked }, env, limitMs)).map(({ state, says }) => `${state}: ${says}`)

const answering =
  (status: number, body: string): Answer =>
  (response) => {
    response.writeHead(status, { 'content-type': 'application/json' }).end(body)
  }

test('a service that answers is asked for what is used of it, and nothing is asked without --online', async () => {
  const service = await openFakeService({
    companies: [
      { id: 1, country: 'SE', status: 1 },
      { id: 2, country: 'SE', status: 2 },
    ],
  })
  onTestFinished(service.close)
  const env = { FIRMLAKE_TOKEN: service.token, FIRMLAKE_URL: service.url }
  const { well, findings } = await doctor({ env })
  expect(well).toBe(true)
  expect(findings).toContainEqual({
    about: 'service',
    state: 'well',
    says: `"${service.url}", with a token`,
  })
  expect(service.counts()).toBe(0)
  expect(await told({ url: service.url, uses: ['companies', 'relations'] }, { env })).toEqual([
    expect.stringMatching(/^well: searches of companies are answered: \d+ parameters, 1 active companies$/),
    expect.stringMatching(/^well: searches of relations are open: \d+ parameters$/),
  ])
})

test('a token that is missing is said by the name of its variable', async () => {
  const { well, findings } = await doctor({
    ...{ env: {}, url: 'https://service.invalid', tokenVariable: 'OUR_TOKEN' },
  })
  expect(well).toBe(false)
  expect(findings).toContainEqual({
    about: 'service',
    state: 'missing',
    says: 'TOKEN_MISSING: Cannot call the service: the variable "OUR_TOKEN" is not set',
  })
})

test('a token that is refused, and repeated by the answer, is said and not shown', async () => {
  const { url } = await answeringServer(answering(401, JSON.stringify({ error: `no such token ${TOKEN}` })))
  const [said] = await told({ url })
  expect(said).toMatch(/^missing: TOKEN_REFUSED: /)
  expect(said).not.toContain(TOKEN)
})

test('something else at the address is no service', async () => {
  const { url } = await answeringServer(answering(200, JSON.stringify({ items: [{ name: 'else' }] })))
  expect((await told({ url }))[0]).toBe(
    'missing: ANSWER_INVALID: Cannot use the service: its search parameters of companies have none that the interface names, is the address right?',
  )
  const page = await answeringServer(answering(200, '<html>Sign in</html>'))
  expect((await told({ url: page.url }))[0]).toMatch(/^missing: (ANSWER_INVALID|SERVICE_FAILED): /)
})

test('a service that never answers takes no longer than the limit', async () => {
  const { url } = await answeringServer(() => undefined)
  const began = performance.now()
  const [said] = await told({ url }, { limitMs: 500 })
  expect(performance.now() - began).toBeLessThan(20_000)
  expect(said).toMatch(/^missing: (SERVICE_FAILED|SERVICE_BUSY|no answer within 0\.5 s)/)
})
