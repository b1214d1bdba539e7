/** Cursors over restarts of a server. */

import { expect, test } from 'vitest'
import { sharedLake } from '../support/lakes.ts'
import { cli } from './run-cli.ts'

const TOKEN = 'token-of-the-test'

test('a cursor outlives a restart with FIRMLAKE_CURSOR_KEY, and does not without', async () => {
  const lake = await sharedLake('relations')
  /** Asks a server of its own for the page at a cursor. */
  const page = async (key: string, cursor: string): Promise<Response> => {
    const answered = Promise.withResolvers<Response>()
    const ended = cli(['serve', '--lake', lake, '--port', '0'], {
      env: { FIRMLAKE_SERVE_TOKEN: TOKEN, FIRMLAKE_CURSOR_KEY: key },
      onStart: (child) => {
        let said = ''
        child.once('exit', () => answered.reject(new Error(said)))
        child.stderr?.on('data', (text: string) => {
          said += text
          const url = /Serving snapshot 1 of .* at (http:\S+)\n/.exec(said)?.[1]
          if (url === undefined) return
          said = ''
          const body = { SearchParameters: { CountryCode: ['SE'] }, PageSize: 2, Cursor: cursor }
          const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
          fetch(`${url}/v2/companies`, { method: 'POST', headers, body: JSON.stringify(body) })
            .then(answered.resolve, answered.reject)
            .finally(() => child.kill())
        })
      },
    })
    await ended
    return answered.promise
  }
  const statusAfterRestart = async (key: string): Promise<number> => {
    const first = await page(key, '*')
    expect(first.status).toBe(200)
    return (await page(key, JSON.parse(first.headers.get('x-pagination') ?? '{}').Cursor)).status
  }
  expect(await statusAfterRestart('k'.repeat(32))).toBe(200)
  expect(await statusAfterRestart('')).toBe(400)
})
