import { expect, test } from 'vitest'
import { hashingEmbedder } from '../../../src/server/ranking/hashing-embedder.ts'

const similarity = async (one: string, other: string): Promise<number> => {
  const [a, b] = await hashingEmbedder().embed([one, other])
  return a?.reduce((sum, value, at) => sum + value * (b?.[at] ?? 0), 0) ?? 0
}

const COMPANIES = [
  'Nordfrakt Logistics AB. Freight by road. transport, warehouses. Göteborg',
  'Sköld Bakery. Bread and fresh pastry. bakery. Malmö',
  'Lakeside Software Ltd. Computer programming. software for schools. Leeds',
  'Kalvik Timber Oy. Wooden doors and frames. timber. Oulu',
] as const

test('embed gives the same vectors for the same texts, in the order of the texts', async () => {
  const first = await hashingEmbedder().embed(COMPANIES)
  const again = await hashingEmbedder().embed([...COMPANIES].reverse())
  expect([...again].reverse()).toEqual(first)
})

test('embed gives the vector that copies made before hold', async () => {
  const [vector] = await hashingEmbedder(8).embed(['Skåne'])
  // When this changes, copies of the old name would be searched with new vectors: raise the number in the name.
  expect(Array.from(vector ?? [], (value) => Number(value.toFixed(4)))).toEqual([
    0, 0, -0.3596, -0.2681, -0.3596, 0.4512, -0.6277, 0.2681,
  ])
  expect(hashingEmbedder(8).name).toBe('hashing-1-8')
})

test.each([1, 16, 256, 1000])('embed gives vectors of length 1 in %d dimensions', async (dimensions) => {
  for (const vector of await hashingEmbedder(dimensions).embed(COMPANIES)) {
    expect(vector).toHaveLength(dimensions)
    expect(Math.hypot(...vector)).toBeCloseTo(1, 5)
  }
})

test.each(['', ' ', '– % \0 \uFEFF'])('embed gives zeros for a text without a word: %j', async (text) => {
  const [vector] = await hashingEmbedder().embed([text])
  expect(vector).toEqual(new Float32Array(256))
})

test.each([
  ['freight and transport', 0],
  ['fresh bread', 1],
  ['programming software', 2],
  ['wooden frames', 3],
  ['goteborg', 0],
  ['MALMO', 1],
  ['tranport', 0],
  ['programing', 2],
  ['sofware for schools', 2],
])('embed puts %j next to the company that shares its words or spelling', async (question, nearest) => {
  const scores = await Promise.all(COMPANIES.map((text) => similarity(question, text)))
  expect(scores.indexOf(Math.max(...scores))).toBe(nearest)
  expect(scores[nearest]).toBeGreaterThan(hashingEmbedder().leastSimilarity)
})

test('embed keeps texts without a common word below the least similarity', async () => {
  const { leastSimilarity } = hashingEmbedder()
  expect(await similarity('quantum optics', COMPANIES[1])).toBeLessThan(leastSimilarity)
  expect(await similarity(COMPANIES[0], COMPANIES[1])).toBeLessThan(leastSimilarity)
})

test('embed brings a slip of the pen nearer than another word', async () => {
  expect(await similarity('software', 'sofware')).toBeGreaterThan(await similarity('software', 'bakery'))
})

test('embed does not let a repeated word drown the others', async () => {
  expect(await similarity('pastry', `${'bread '.repeat(20)} pastry`)).toBeGreaterThan(0.15)
  // Not so much as where it stands once, though.
  expect(await similarity('pastry', 'bread pastry')).toBeGreaterThan(0.5)
})

test('embed stops when its signal fires', async () => {
  const reason = new Error('stopped')
  await expect(hashingEmbedder().embed(COMPANIES, AbortSignal.abort(reason))).rejects.toBe(reason)
})

test.each([0, -1, 1.5, Number.NaN])('hashingEmbedder refuses %d dimensions', (dimensions) => {
  expect(() => hashingEmbedder(dimensions)).toThrow(RangeError)
})
