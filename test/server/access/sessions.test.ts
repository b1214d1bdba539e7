import { randomBytes } from 'node:crypto'
import { rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { SERVER_LIMITS } from '../../../src/core/server-limits.ts'
import { chooseTokens, newTokenRegistry, type TokenEntry } from '../../../src/server/access/choose-tokens.ts'
import { newSessions } from '../../../src/server/access/sessions.ts'
import { temporaryFolder } from '../../support/temporary-folder.ts'
import { entry, SWEDISH_ENTRY } from '../http/open-fake.ts'

const BOSS = entry('boss', 'token-of-the-boss')
const { idleMs, longestMs, perToken } = SERVER_LIMITS.sessions

/** Sessions with a clock, over tokens that a test may change. */
const bench = () => {
  const state = { ms: 0, entries: [BOSS, SWEDISH_ENTRY] as readonly TokenEntry[] }
  const tokens = {
    find: async () => undefined,
    findHash: (hash: Buffer) => newTokenRegistry(state.entries).findHash(hash),
  }
  const sessions = newSessions(tokens, randomBytes, () => state.ms)
  const nameOf = async (session: string) => (await sessions.find(session))?.caller.name
  return { state, sessions, nameOf }
}

test('a session stands for the entry of its token until it is ended', async () => {
  const { sessions, nameOf } = bench()
  const [first, second] = [sessions.begin(BOSS), sessions.begin(SWEDISH_ENTRY)]
  expect(await sessions.find(first)).toBe(BOSS)
  expect(await nameOf(second)).toBe('swedish')
  sessions.end(first)
  sessions.end('no-session')
  expect([await nameOf(first), await nameOf(second)]).toEqual([undefined, 'swedish'])
})

test('a session that was not begun here, or is changed by a character, is none', async () => {
  const { sessions, nameOf } = bench()
  const session = sessions.begin(BOSS)
  const changed = `${session.slice(0, -1)}${session.endsWith('A') ? 'B' : 'A'}`
  for (const wrong of [
    '',
    '.',
    'x.y',
    session.split('.')[0] ?? '',
    `${session}.`.replace('.', '..'),
    `${session}.third`,
    `${session}.`,
    `.${session}`,
    `${session}\n`,
    changed,
  ])
    expect([wrong, await nameOf(wrong)]).toEqual([wrong, undefined])
  for (const wrong of [changed, `${session}.third`]) sessions.end(wrong)
  expect(await nameOf(session)).toBe('boss')
  expect(session).toMatch(/^[\w-]{16}\.[\w-]{43}$/)
})

test('a session ends without use, and at the latest after its longest time', async () => {
  const { state, sessions, nameOf } = bench()
  const idle = sessions.begin(BOSS)
  state.ms += idleMs - 1
  expect(await nameOf(idle)).toBe('boss')
  state.ms += idleMs
  expect(await nameOf(idle)).toBe(undefined)
  const begun = state.ms
  const busy = sessions.begin(BOSS)
  while (state.ms + idleMs - 1 < begun + longestMs) {
    state.ms += idleMs - 1
    expect(await nameOf(busy)).toBe('boss')
  }
  state.ms = begun + longestMs
  expect(await nameOf(busy)).toBe(undefined)
})

test('a session ends for good when its token is removed, or may see something else', async () => {
  const { state, sessions, nameOf } = bench()
  const session = sessions.begin(BOSS)
  state.entries = [SWEDISH_ENTRY]
  expect(await nameOf(session)).toBe(undefined)
  state.entries = [BOSS]
  expect(await nameOf(session)).toBe(undefined)
  const again = sessions.begin(BOSS)
  state.entries = [{ ...BOSS, caller: { name: 'boss', rights: SWEDISH_ENTRY.caller.rights } }]
  expect(await nameOf(again)).toBe(undefined)
})

test('a token has so many sessions at most: the longest unused one ends, those of others stay', async () => {
  const { state, sessions, nameOf } = bench()
  const other = sessions.begin(SWEDISH_ENTRY)
  const begun = Array.from({ length: perToken }, () => sessions.begin(BOSS))
  state.ms += 1
  expect(await nameOf(begun[0] ?? '')).toBe('boss')
  sessions.begin(BOSS)
  expect([await nameOf(begun[0] ?? ''), await nameOf(begun[1] ?? ''), await nameOf(other)]).toEqual([
    'boss',
    undefined,
    'swedish',
  ])
})

test('a session that is ended while its token is looked up stays ended', async () => {
  const { sessions } = bench()
  const session = sessions.begin(BOSS)
  const found = sessions.find(session)
  sessions.end(session)
  expect(await found).toBe(undefined)
  expect(await sessions.find(session)).toBe(undefined)
})

test('a token that is removed from its file ends its sessions', async () => {
  const file = join(await temporaryFolder(), 'tokens.json')
  const write = (...tokens: readonly object[]) => writeFile(file, JSON.stringify({ tokens }))
  const [boss, other] = [
    { name: 'boss', token: 'token-of-the-boss', everything: true },
    { name: 'other', token: 'token-of-another', everything: true },
  ]
  await write(boss, other)
  const { registry } = await chooseTokens({ file, host: '127.0.0.1', random: randomBytes })
  const sessions = newSessions(registry, randomBytes)
  const found = await registry.find('token-of-the-boss')
  const session = sessions.begin(found ?? BOSS)
  expect((await sessions.find(session))?.caller.name).toBe('boss')
  await write(other)
  await expect.poll(() => sessions.find(session), { timeout: 5000 }).toBe(undefined)
  await rm(file)
})
