/** Agents over a lake in a bucket. */

import { rm } from 'node:fs/promises'
import { expect, test } from 'vitest'
import { ALPHA, loadExplorerLake } from '../server/explorer/explorer-lake.ts'
import { LAKE, objectFile, s3Bench } from '../storage/s3-bench.ts'
import { openAgents } from './agent-client.ts'

test('a lake in a bucket is asked as one in a folder, and an error shows no secret', async (context) => {
  const { server } = await s3Bench(context)
  await loadExplorerLake(LAKE)
  const agents = await openAgents(LAKE)
  expect((await agents.data('query', { sql: 'SELECT count(*) FROM companies' })).rows).toEqual([[5]])
  expect(await agents.data('company', { id: ALPHA })).toMatchObject({ company: { company_name: 'Alpha' } })
  expect((await agents.data('lake_status')).snapshot).toBe(2)
  await rm(objectFile(server, ''), { recursive: true })
  const failed = await agents.call('find_company', { text: 'alpha' })
  expect(failed).toMatchObject({ isError: true, text: expect.stringMatching(/^LAKE_NOT_FOUND: /) })
  expect(failed.text).not.toContain(server.secretKey)
  await agents.close()
})
