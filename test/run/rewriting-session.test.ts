import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withRewritingSession } from '../../src/run/rewriting-session.ts'

test('withRewritingSession stops statements that begin after the signal too', async () => {
  const controller = new AbortController()
  const options = { signal: controller.signal }
  const work = withRewritingSession(options, join(tmpdir(), 'firmlake-rewriting-spill'), async (session) => {
    controller.abort()
    await session.run('SELECT sum(hash(i)) FROM range(1000000000000) AS t (i)')
  })
  await expect(work).rejects.toThrow('Interrupted')
})
