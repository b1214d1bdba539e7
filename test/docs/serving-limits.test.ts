import { expect, test } from 'vitest'
import { LIMITS } from '../../src/contract/limits.ts'
import { SERVER_LIMITS } from '../../src/core/server-limits.ts'
import { readPage } from '../support/page.ts'

const seconds = (ms: number): string => `${ms / 1000} s`

/** How the page says each of them. */
const SAID: Readonly<Record<keyof typeof SERVER_LIMITS, string>> = {
  bodyBytes: `request body, ${SERVER_LIMITS.bodyBytes / 2 ** 20} MiB`,
  messages: `messages of a refusal, ${SERVER_LIMITS.messages}`,
  headMs: `head of a request ${seconds(SERVER_LIMITS.headMs)}`,
  requestMs: `whole request ${seconds(SERVER_LIMITS.requestMs)}`,
  checkEveryMs: `checked every ${seconds(SERVER_LIMITS.checkEveryMs)}`,
  stalledMs: `takes nothing of its answer, ${seconds(SERVER_LIMITS.stalledMs)}`,
  idleMs: `idle connection, ${seconds(SERVER_LIMITS.idleMs)}`,
  stopMs: 'gives open ones ten seconds',
  queryMs: `time of one query, ${seconds(SERVER_LIMITS.queryMs)}`,
  connections: `connections, ${SERVER_LIMITS.connections}`,
  requestsAtOnce: `under way at once, ${SERVER_LIMITS.requestsAtOnce}`,
  failedSignIns: `${SERVER_LIMITS.failedSignIns.atOnce} at once, then one per second`,
  sessions: `sessions of a token, ${SERVER_LIMITS.sessions.perToken}`,
  tokenCharacters: `A token has ${SERVER_LIMITS.tokenCharacters} characters or more`,
  tokensEveryMs: 'at most once a second',
}

test('docs/serving.md says every limit of the server', () => {
  const page = readPage('docs/serving.md')
  for (const [name, text] of Object.entries(SAID)) expect(page, name).toContain(text)
  expect(page).toContain(`companies of a cursor chain, ${LIMITS.cursorCap.toLocaleString('en')}`)
  expect([SERVER_LIMITS.stopMs, SERVER_LIMITS.tokensEveryMs]).toEqual([10_000, 1000])
  expect(SERVER_LIMITS.failedSignIns.perSecond).toBe(1)
  expect([SERVER_LIMITS.sessions.idleMs, SERVER_LIMITS.sessions.longestMs]).toEqual([3_600_000, 43_200_000])
})
