/** Whether extensions can be installed, from a repository of loopback in place of DuckDB's. */

import { readFile } from 'node:fs/promises'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { checkExtensions } from '../../../src/jobs/doctor/check-extensions.ts'
import { answeringServer } from '../../source/service/answering-server.ts'
import { HTTPFS, missingHttpfs } from '../../support/httpfs.ts'
import { needs } from '../../support/needs.ts'

test('extensions that can be fetched are said to be so', async (context) => {
  needs(context, 'httpfs, which .ci/install-tools installs', missingHttpfs())
  const body = gzipSync(await readFile(HTTPFS), { level: 1 })
  const { url, seen } = await answeringServer((response) => void response.writeHead(200).end(body))
  expect(await checkExtensions(60_000, url)).toMatchObject({ about: 'extensions', state: 'well' })
  expect(seen[0]?.url).toMatch(/\/httpfs\.duckdb_extension\.gz$/)
})

test('a repository that has none, and one that never answers, are said', async () => {
  const none = await answeringServer((response) => void response.writeHead(404).end())
  expect(await checkExtensions(60_000, none.url)).toMatchObject({
    state: 'absent',
    says: expect.stringContaining('it is not reached, or refuses'),
    mend: expect.stringContaining('FIRMLAKE_HTTPFS'),
  })
  const silent = await answeringServer(() => undefined)
  expect((await checkExtensions(3000, silent.url)).says).toContain('no answer within 3 s')
})
