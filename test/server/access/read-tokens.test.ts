import { chmod, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { AREAS } from '../../../src/contract/authorization.ts'
import { ToolkitError } from '../../../src/core/errors.ts'
import { isOpenToOthers, newTokenRegistry, readTokens } from '../../../src/server/access/choose-tokens.ts'
import { sha256Of } from '../../../src/support/hash.ts'
import { readPage } from '../../support/page.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'

const fileOf = async (document: unknown): Promise<string> => {
  const path = join(await temporaryFolder(), 'tokens.json')
  await writeFile(path, typeof document === 'string' ? document : JSON.stringify(document))
  return path
}
const read = async (...tokens: readonly unknown[]) => readTokens(await fileOf({ tokens }))

const SECRET = 'very-secret-token'
const OTHER = 'another-long-token'
const ANALYST = {
  name: 'analyst',
  sha256: sha256Of(SECRET),
  countries: { SE: ['Owner', 'Key Person'], NO: 'all', DK: [] },
  requestsPerSecond: 20,
}

test('readTokens reads rights by country, and the token is found by its hash', async () => {
  const registry = newTokenRegistry(await read(ANALYST, { name: 'boss', token: OTHER, everything: true }))
  expect(await registry.find(SECRET)).toEqual({
    caller: {
      name: 'analyst',
      rights: {
        countries: new Map([
          ['SE', new Set(['Owner', 'Key Person'])],
          ['NO', new Set(AREAS)],
          ['DK', new Set()],
        ]),
        withoutCountry: null,
      },
    },
    sha256: Buffer.from(sha256Of(SECRET), 'hex'),
    requestsPerSecond: 20,
  })
  expect((await registry.find(OTHER))?.caller).toEqual({ name: 'boss', rights: 'everything' })
  expect(await registry.find('unknown-4711-0815')).toBe(undefined)
  expect(await registry.find(sha256Of(SECRET))).toBe(undefined)
})

test('readTokens reads the rights on records without a country', async () => {
  const [all, some] = await read(
    { name: 'a', token: SECRET, countries: {}, withoutCountry: 'all' },
    { name: 'b', token: OTHER, countries: {}, withoutCountry: ['Owner'] },
  )
  expect(all?.caller.rights).toMatchObject({ withoutCountry: new Set(AREAS) })
  expect(some?.caller.rights).toMatchObject({ withoutCountry: new Set(['Owner']) })
})

const failure = async (path: string): Promise<ToolkitError> => {
  const error: unknown = await readTokens(path).catch((caught: unknown) => caught)
  if (error instanceof ToolkitError) return error
  throw new Error('expected an error')
}

test.each([
  ['a name with a space', { ...ANALYST, name: 'an analyst' }, 'tokens[0].name: expected a name'],
  ['no token', { name: 'a', everything: true }, 'tokens[0]: expected one of "sha256" and "token"'],
  ['two tokens', { ...ANALYST, token: SECRET }, 'tokens[0]: expected one of "sha256" and "token"'],
  ['a hash that is none', { ...ANALYST, sha256: SECRET }, 'tokens[0].sha256: expected 64 hexadecimal digits'],
  [
    'a token with a space',
    { name: 'a', token: `${SECRET} x`, everything: true },
    'tokens[0].token: expected 16 characters or more of',
  ],
  [
    'a short token',
    { name: 'a', token: SECRET.slice(0, 15), everything: true },
    'tokens[0].token: expected 16 characters or more of',
  ],
  ['no rights', { name: 'a', token: SECRET }, 'tokens[0]: expected "everything": true or "countries"'],
  ['both rights', { ...ANALYST, everything: true }, 'tokens[0]: expected either "everything" or "countries"'],
  [
    'everything but not true',
    { name: 'a', token: SECRET, everything: 1 },
    'tokens[0].everything: expected true',
  ],
  [
    'an unknown area',
    { ...ANALYST, countries: { SE: ['Owners'] } },
    'tokens[0].countries.SE[0]: expected one of',
  ],
  [
    'a country by its name',
    { ...ANALYST, countries: { Sweden: 'all' } },
    'tokens[0].countries, field 1: expected',
  ],
  ['a rate of none', { ...ANALYST, requestsPerSecond: 0 }, 'tokens[0].requestsPerSecond: expected a number'],
  ['a token as a field', { ...ANALYST, [SECRET]: true }, 'tokens[0], field 5: expected one of name,'],
  ['no object', SECRET, 'tokens[0]: expected an object'],
])('readTokens refuses %s, names the place and never the token', async (_what, token, problem) => {
  const error = await failure(await fileOf({ tokens: [token] }))
  expect(error.code).toBe('TOKENS_UNREADABLE')
  expect(error.message).toContain(problem)
  expect(error.message).not.toContain(SECRET.slice(0, 15))
  expect(error.cause).toBe(undefined)
})

test.each([
  ['text that is no JSON', `{"tokens":[{"token":"${SECRET}",`],
  ['no list of tokens', { token: SECRET }],
  ['an empty list', { tokens: [] }],
  ['one token twice', { tokens: [ANALYST, { name: 'b', token: SECRET, everything: true }] }],
  ['one name twice', { tokens: [ANALYST, { name: 'analyst', token: OTHER, everything: true }] }],
])('readTokens refuses %s', async (_what, document) => {
  const error = await failure(await fileOf(document))
  expect(error.code).toBe('TOKENS_UNREADABLE')
  expect(error.message).not.toContain(SECRET)
})

test('readTokens names a file that is not there', async () => {
  const error = await failure(join(await temporaryFolder(), 'absent.json'))
  expect(error.code).toBe('TOKENS_UNREADABLE')
  expect(error.message).toContain('it does not exist')
})

test.skipIf(process.platform === 'win32')('isOpenToOthers sees who may read the file', async () => {
  const path = await fileOf({})
  await chmod(path, 0o640)
  expect(await isOpenToOthers(path)).toBe(true)
  await chmod(path, 0o600)
  expect(await isOpenToOthers(path)).toBe(false)
})

test('the example of docs/serving.md is a file of tokens, and its hash that of the token beside it', async () => {
  const page = readPage('docs/serving.md')
  const [, example = ''] = /```json\n(\{\s+"tokens".*?)```/s.exec(page) ?? []
  const entries = await readTokens(await fileOf(example))
  expect(entries.map(({ caller }) => caller.name)).toEqual(['nightly', 'analyst'])
  const [, token = ''] = /printf %s '([^']+)' \\\| sha256sum/.exec(page) ?? []
  expect((await newTokenRegistry(entries).find(token))?.caller.name).toBe('nightly')
})
