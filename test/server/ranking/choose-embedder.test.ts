import { createServer } from 'node:http'
import { expect, onTestFinished, test } from 'vitest'
import { chooseEmbedder } from '../../../src/server/ranking/choose-embedder.ts'

test('chooseEmbedder takes none without an environment', async () => {
  expect(await chooseEmbedder({})).toBeUndefined()
})

test('chooseEmbedder takes the service of the environment with its key and scale', async () => {
  const keys: (string | undefined)[] = []
  const server = createServer((request, response) => {
    keys.push(request.headers.authorization)
    request.resume()
    response.end(JSON.stringify({ data: [{ index: 0, embedding: [1, 2, 3] }] }))
  })
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  onTestFinished(() => {
    server.closeAllConnections()
    server.close()
  })
  const address = server.address()
  const embedder = await chooseEmbedder({
    FIRMLAKE_EMBEDDER_URL: `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}`,
    FIRMLAKE_EMBEDDER_MODEL: 'tiny',
    FIRMLAKE_EMBEDDER_KEY: 'abc',
    FIRMLAKE_EMBEDDER_LEAST_SIMILARITY: '0.4',
  })
  expect(embedder).toMatchObject({ dimensions: 3, minSimilarity: 0.4 })
  expect(keys).toEqual(['Bearer abc'])
})

test.each([
  { FIRMLAKE_EMBEDDER_URL: 'https://example.com' },
  { FIRMLAKE_EMBEDDER_MODEL: 'tiny' },
  {
    FIRMLAKE_EMBEDDER_URL: 'https://example.com',
    FIRMLAKE_EMBEDDER_MODEL: 'tiny',
    FIRMLAKE_EMBEDDER_LEAST_SIMILARITY: '2',
  },
])('chooseEmbedder refuses %j', async (environment) => {
  await expect(chooseEmbedder(environment)).rejects.toMatchObject({ code: 'USAGE' })
})
