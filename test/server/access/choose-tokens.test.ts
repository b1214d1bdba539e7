import { chmod, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, onTestFinished, test, vi } from 'vitest'
import { chooseTokens, type TokensRequest } from '../../../src/server/access/choose-tokens.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const ABC = 'abc-4711-0815-xyz'
const DEF = 'def-4711-0815-xyz'

const fileText = (...tokens: readonly object[]): string => JSON.stringify({ tokens })

const choose = (request: Partial<TokensRequest>) =>
  chooseTokens({ host: '127.0.0.1', random: (bytes) => new Uint8Array(bytes).fill(1), ...request })

test('the one token of the environment may see everything', async () => {
  const { registry, fresh, warning } = await choose({ token: ABC, host: '0.0.0.0' })
  expect((await registry.find(ABC))?.caller.rights).toBe('everything')
  expect([fresh, warning]).toEqual([undefined, undefined])
})

test('a fresh token of 32 random bytes is made on loopback', async () => {
  for (const host of ['127.0.0.1', '127.3.2.1', 'localhost', '::1']) {
    const { registry, fresh } = await choose({ host })
    expect(fresh).toBe(Buffer.alloc(32, 1).toString('base64url'))
    expect((await registry.find(fresh ?? ''))?.caller.rights).toBe('everything')
  }
})

test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'])(
  'no token is made where others could reach the server: %s',
  async (host) => {
    await expect(choose({ host })).rejects.toMatchObject({ code: 'USAGE' })
  },
)

test.each([`${ABC}\n`, ABC.slice(0, 15)])(
  'a token that no header can carry or that is short is refused without being told',
  async (token) => {
    const error: unknown = await choose({ token }).catch((caught: unknown) => caught)
    expect(error).toMatchObject({ code: 'TOKEN_INVALID', message: expect.stringContaining('16 characters') })
    expect(String(error)).not.toContain('abc')
  },
)

test.skipIf(process.platform === 'win32')(
  'the file counts more, and others reading it is a warning',
  async () => {
    const file = join(await temporaryFolder(), 'tokens.json')
    await writeFile(file, fileText({ name: 'a', token: DEF, everything: true }))
    await chmod(file, 0o644)
    const { registry, warning } = await choose({ file, token: ABC })
    expect((await registry.find(DEF))?.caller.name).toBe('a')
    expect(await registry.find(ABC)).toBe(undefined)
    expect(warning).toContain('chmod 600')
    await chmod(file, 0o600)
    expect((await choose({ file })).warning).toBe(undefined)
  },
)

test('a short token signs in nowhere, its hash in the file or not', async () => {
  const file = join(await temporaryFolder(), 'tokens.json')
  const short = ABC.slice(0, 15)
  await writeFile(file, fileText({ name: 'a', sha256: sha256Of(short), everything: true }), { mode: 0o600 })
  const { registry } = await choose({ file })
  expect(await registry.find(short)).toBe(undefined)
})

test('the file is read again when it changes; one that cannot be read leaves its last tokens, and is said once', async () => {
  vi.useFakeTimers({ toFake: ['performance'] })
  onTestFinished(() => {
    vi.useRealTimers()
  })
  const file = join(await temporaryFolder(), 'tokens.json')
  const write = (...tokens: readonly object[]): Promise<void> =>
    writeFile(file, fileText(...tokens), { mode: 0o600 })
  const [a, b] = [
    { name: 'a', token: ABC, everything: true },
    { name: 'b', token: DEF, countries: { SE: 'all' } },
  ]
  await write(a, b)
  const errors: Error[] = []
  const { registry } = await choose({ file, onTokensError: (error) => errors.push(error) })
  const names = async (): Promise<(string | undefined)[]> => {
    vi.advanceTimersByTime(1000)
    return [(await registry.find(ABC))?.caller.name, (await registry.find(DEF))?.caller.name]
  }
  expect(await names()).toEqual(['a', 'b'])
  await write(a)
  expect(await names()).toEqual(['a', undefined])
  await writeFile(file, '{"tokens":[')
  expect(await names()).toEqual(['a', undefined])
  expect(await names()).toEqual(['a', undefined])
  await rm(file)
  expect(await names()).toEqual(['a', undefined])
  expect(errors).toMatchObject([
    { code: 'TOKENS_UNREADABLE', message: expect.stringContaining('no JSON') },
    { code: 'TOKENS_UNREADABLE', message: expect.stringContaining('it does not exist') },
  ])
  await write(b)
  expect(await names()).toEqual([undefined, 'b'])
  await write({ ...b, everything: true, countries: undefined })
  await names()
  expect((await registry.find(DEF))?.caller.rights).toBe('everything')
})
