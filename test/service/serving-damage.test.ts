import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { verifyLake } from '../../src/manifest/verify/verify-lake.ts'
import { type Bench, openBench } from '../run/batch-bench.ts'
import { post } from '../server/http/open-fake.ts'
import { fileOf } from '../server/serving-index/served-lake.ts'
import { loadCompanies, makeServable, openServer, SEARCH, TOKEN } from './serving.ts'

let bench: Bench
beforeAll(async () => {
  bench = openBench(await mkdtemp(join(tmpdir(), 'firmlake-')))
  await loadCompanies(bench)
  await makeServable(bench.lake)
})
afterAll(() => rm(join(bench.lake, '..'), { recursive: true, force: true }))

const problems = async (): Promise<readonly string[]> => {
  // Rows are counted elsewhere: here only the files for serving are damaged.
  const countRows = () => Promise.resolve(0)
  const { problems: found } = await verifyLake({ lake: bench.lake, countRows })
  return found.filter(({ path }) => path.startsWith('_')).map(({ path }) => path)
}

test.each(['companies', 'relations'] as const)(
  'a page of %s with a damaged document is 500, the log and verify name the file, and the next start heals it',
  async (content) => {
    expect(await problems()).toEqual([])
    const folder = join(bench.lake, '_serve', '00000001')
    const name = await fileOf(folder, content)
    const path = join(folder, name)
    const log: string[] = []
    const ask = async (address: string) => {
      const response = await post(
        `${address}/v2/${content}`,
        { SearchParameters: SEARCH, PageSize: 100 },
        { authorization: `Bearer ${TOKEN}` },
      )
      return { status: response.status, text: await response.text() }
    }
    const server = await openServer(bench.lake, {
      http: { port: 0, stopTimeoutMs: 100, log: { write: (line) => log.push(line) } },
    })
    const right = await ask(server.address)
    expect(right.status).toBe(200)
    const bytes = await readFile(path)
    const half = bytes.length >> 1
    await writeFile(path, Buffer.from(bytes).fill('c', half, half + 9), { flag: 'r+' })
    const wrong = await ask(server.address)
    expect(wrong.status).toBe(500)
    expect(wrong.text).not.toContain('ompany')
    const logged = log.filter((line) => line.includes('"level":"error"'))
    expect(logged).toEqual([expect.stringContaining('INDEX_UNUSABLE')])
    expect(logged[0]).toContain(name)
    expect(logged[0]).not.toContain('ompany 3')
    expect(await problems()).toEqual([`_serve/00000001/${name}`])
    await server.close()
    const again = await openServer(bench.lake)
    expect(await ask(again.address)).toEqual(right)
    expect(await problems()).toEqual([])
    await again.close()
  },
)
