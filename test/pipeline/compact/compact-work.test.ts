import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { withSession } from '../../../src/pipeline/compact/compact-work.ts'

test('withSession stops statements that begin after the signal too', async () => {
  const controller = new AbortController()
  const options = { lake: 'none', signal: controller.signal }
  const work = withSession(options, join(tmpdir(), 'firmlake-compact-work-spill'), async (session) => {
    controller.abort()
    await session.run('SELECT sum(hash(i)) FROM range(1000000000000) AS t (i)')
  })
  await expect(work).rejects.toThrow('Interrupted')
})
