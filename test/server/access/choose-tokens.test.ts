import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { chooseTokens, type TokensRequest } from '../../../src/server/access/choose-tokens.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const choose = (request: Partial<TokensRequest>) =>
  chooseTokens({ host: '127.0.0.1', random: (bytes) => new Uint8Array(bytes).fill(1), ...request })

test('the one token of the environment may see everything', async () => {
  const { registry, fresh, warning } = await choose({ token: 'abc', host: '0.0.0.0' })
  expect(registry.find('abc')?.caller.rights).toBe('everything')
  expect([fresh, warning]).toEqual([undefined, undefined])
})

test('a fresh token of 32 random bytes is made on loopback', async () => {
  for (const host of ['127.0.0.1', '127.3.2.1', 'localhost', '::1']) {
    const { registry, fresh } = await choose({ host })
    expect(fresh).toBe(Buffer.alloc(32, 1).toString('base64url'))
    expect(registry.find(fresh ?? '')?.caller.rights).toBe('everything')
  }
})

test.each(['0.0.0.0', '::', '10.0.0.1', 'example.com', '127.0.0.1.example.com'])(
  'no token is made where others could reach the server: %s',
  async (host) => {
    await expect(choose({ host })).rejects.toMatchObject({ code: 'USAGE' })
  },
)

test('a token that no header can carry is refused without being told', async () => {
  const error: unknown = await choose({ token: 'abc\n' }).catch((caught: unknown) => caught)
  expect(error).toMatchObject({ code: 'TOKEN_INVALID' })
  expect(String(error)).not.toContain('abc')
})

test.skipIf(process.platform === 'win32')(
  'the file counts more, and others reading it is a warning',
  async () => {
    const file = join(await temporaryFolder(), 'tokens.json')
    await writeFile(file, '{"tokens":[{"name":"a","token":"def","everything":true}]}')
    await chmod(file, 0o644)
    const { registry, warning } = await choose({ file, token: 'abc' })
    expect(registry.find('def')?.caller.name).toBe('a')
    expect(registry.find('abc')).toBe(undefined)
    expect(warning).toContain('chmod 600')
    await chmod(file, 0o600)
    expect((await choose({ file })).warning).toBe(undefined)
  },
)
