import { beforeAll, describe, expect, test } from 'vitest'
import { Engine, type Session } from '../../../src/lake/duckdb/engine.ts'
import { ident, literal } from '../../../src/lake/duckdb/sql.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { vectorText } from '../../../src/server/ranking/embedder.ts'
import {
  companyStrings,
  embeddingStrings,
  postingsOf,
  rankedByTerms,
  rankedByVector,
  termCountsOf,
  termsOf,
} from '../../../src/server/ranking/terms.ts'

let session: Session
beforeAll(async () => {
  const engine = await Engine.open({ memoryBytes: 200_000_000 })
  session = await engine.connect()
  await session.run("ATTACH ':memory:' AS serving")
  return () => {
    session.close()
    engine.close()
  }
})

const termsIn = async (text: string): Promise<unknown> => {
  const [row] = await session.rows(`SELECT ${termsOf('$1::VARCHAR')} AS terms`, [text])
  return row?.terms
}

test.each([
  ['Acme Foods AB', ['acme', 'foods', 'ab']],
  ['Skåne Łódź Straße', ['skane', 'lodz', 'strasse']],
  ['556012-3456', ['556012', '3456']],
  ["O'Neill's 100% — “H&M”", ['o', 'neill', 's', '100', 'h', 'm']],
  ['\uFEFFAcme\uFEFF', ['acme']],
  ['before\0after', ['before', 'after']],
  ['a_b', ['a', 'b']],
  ['東京 ガス', ['東京', 'カス']],
  ['', []],
  [' ,;%', []],
])('termsOf cuts %j', async (text, terms) => {
  expect(await termsIn(text)).toEqual(terms)
})

test('termsOf cuts long terms at 64 characters', async () => {
  expect(await termsIn('é'.repeat(100))).toEqual(['e'.repeat(64)])
})

/** A column of a company, in SQL of our own. */
type Company = Readonly<Record<string, string>>

/** Makes the table `companies` of the lake's columns; the values are SQL. */
const companiesOf = async (companies: readonly Company[]): Promise<void> => {
  const columns = TABLES.find(({ name }) => name === 'companies')?.columns ?? []
  await session.run(
    `CREATE OR REPLACE TABLE companies (${columns.map(({ name, type }) => `${ident(name)} ${type}`).join(', ')})`,
  )
  for (const company of companies)
    await session.run(
      `INSERT INTO companies (${Object.keys(company).join(', ')}) VALUES (${Object.values(company).join(', ')})`,
    )
}

describe('the texts of a company', () => {
  const company = {
    internal_id: '7',
    company_name: "'Acme Foods AB'",
    previous_names: "['Acme Meat', 'Sköld & Co']",
    org_no: "'556012-3456'",
    vat_number: "'SE556012345601'",
    keywords: "['frozen', 'peas']",
    linkedin: "{keywords: ['food']}",
    industry_codes: "[{code: '10.39', text: 'Vegetables', type: 'Nace'}]",
    business_description_eng: "'Freezes peas.'",
    business_description_original: "'Fryser ärtor.'",
    website_summary: "'All about peas'",
    address_city: "'Malmö'",
    url: "'https://www.acme.example/om-oss?x=1'",
    enhanced_url: "'acme.example'",
  }

  test('companyTexts gives every text with its weight, numbers joined too, and a host once', async () => {
    await companiesOf([company])
    const rows = await session.rows(`SELECT weight, text FROM (${companyStrings('companies')})`)
    expect(rows.map(({ weight, text }) => [weight, text])).toEqual([
      [3, 'Acme Foods AB'],
      [3, 'Acme Meat Sköld & Co'],
      [3, '556012-3456'],
      [3, '5560123456'],
      [3, 'SE556012345601'],
      [2, 'frozen peas'],
      [2, 'food'],
      [2, 'Vegetables'],
      [1, 'Freezes peas.'],
      [1, 'Fryser ärtor.'],
      [1, 'All about peas'],
      [1, 'Malmö'],
      [1, 'acme.example'],
    ])
  })

  test('postingsOf sums the weights of a term over texts and counts', async () => {
    await companiesOf([company])
    const rows = await session.rows(
      `SELECT term, weight FROM (${postingsOf('companies')}) WHERE term IN ('acme', 'peas')`,
    )
    // acme: name 3, previous name 3, host 1; peas: keyword 2, description 1, summary 1
    expect(Object.fromEntries(rows.map(({ term, weight }) => [term, weight]))).toEqual({ acme: 7, peas: 4 })
  })

  test('termCountsOf sums the weights of a company', async () => {
    await companiesOf([
      { internal_id: '7', company_name: "'Acme Foods'", address_city: "'Malmö'" },
      { internal_id: '8' },
    ])
    await session.run(`CREATE OR REPLACE TABLE posting AS ${postingsOf('companies')}`)
    expect(await session.rows(termCountsOf('posting'))).toEqual([{ internal_id: '7', text_terms: 7 }])
  })

  test('embeddingTexts gives one text of at most 2,000 characters, the name first', async () => {
    await companiesOf([
      company,
      { internal_id: '8' },
      { internal_id: '9', company_name: "'Long'", website_summary: "repeat('x', 5000)" },
    ])
    const rows = await session.rows(
      `SELECT text FROM (${embeddingStrings('companies')}) ORDER BY internal_id`,
    )
    const strings = rows.map(({ text }) => String(text))
    expect(strings[0]).toBe(
      'Acme Foods AB. Vegetables. frozen, peas. food. Freezes peas.. All about peas. Malmö',
    )
    expect(strings[1]).toBe('')
    expect(strings[2]).toHaveLength(2000)
  })
})

/** Names only, so that every term weighs 3 a time. */
const NAMES = [
  'Nordic Software Consulting',
  'Software Software Software House',
  'Nordic Timber',
  'Skåne Bakery',
  'Bakery of the Nordic Sea and the Software of Ships',
  'House of Timber',
  'Consulting',
  "Robert'); DROP TABLE posting; --",
  '100% Wool',
  'Łódź',
] as const

/** BM25 as in the books, over names cut at blanks and signs. */
const bm25 = (question: string): Map<number, number> => {
  const cut = (text: string): string[] => text.toLowerCase().match(/[\p{L}\p{N}]+/gu) ?? []
  const documents = NAMES.map(cut)
  const average = documents.reduce((sum, terms) => sum + terms.length * 3, 0) / documents.length
  const scores = new Map<number, number>()
  for (const term of new Set(cut(question))) {
    const having = documents.filter((terms) => terms.includes(term)).length
    const rarity = Math.log(1 + (documents.length - having + 0.5) / (having + 0.5))
    for (const [id, terms] of documents.entries()) {
      const weight = terms.filter((other) => other === term).length * 3
      const length = terms.length * 3
      const share = (weight * 2.2) / (weight + 1.2 * (0.25 + (0.75 * length) / average))
      if (weight > 0) scores.set(id, (scores.get(id) ?? 0) + rarity * share)
    }
  }
  return scores
}

const ranked = async (question: string): Promise<[number, number][]> => {
  const rows = await session.rows(
    `SELECT internal_id, score FROM (${rankedByTerms('$1')}) ORDER BY score DESC, internal_id`,
    [question],
  )
  return rows.map(({ internal_id, score }) => [Number(internal_id), Number(score)])
}

const index = async (companies: readonly Company[]): Promise<void> => {
  await companiesOf(companies)
  await session.run(
    `CREATE OR REPLACE TABLE serving.posting AS ${postingsOf('companies')} ORDER BY term, internal_id`,
  )
  await session.run(
    `CREATE OR REPLACE TABLE serving.company AS SELECT internal_id, text_terms FROM (${termCountsOf('serving.posting')})`,
  )
}

describe('rankedByTerms', () => {
  beforeAll(() => index(NAMES.map((name, id) => ({ internal_id: String(id), company_name: literal(name) }))))

  test.each(['software', 'nordic software', 'Consulting Nordic house', 'the bakery of timber', 'wool'])(
    'gives the companies and order of BM25 for %j',
    async (question) => {
      const wanted = [...bm25(question)].sort(([a, x], [b, y]) => y - x || a - b)
      const found = await ranked(question)
      expect(found.map(([id]) => id)).toEqual(wanted.map(([id]) => id))
      for (const [at, [, score]] of found.entries()) expect(score).toBeCloseTo(wanted[at]?.[1] ?? 0, 6)
    },
  )

  test('puts hits in more terms of a question first', async () => {
    expect((await ranked('nordic software consulting')).map(([id]) => id)[0]).toBe(0)
  })

  test.each([
    ['skane', 3],
    ['SKÅNE', 3],
    ['lodz', 9],
    ['\uFEFFWool', 8],
  ])('finds a company by %j', async (question, id) => {
    expect((await ranked(question))[0]?.[0]).toBe(id)
  })

  test.each(['', ' ', '%', '_', "'", '\0', "' OR 1=1 --", '$1', '[\\p{L}', 'zebra'])(
    'finds nothing by %j',
    async (question) => {
      expect(await ranked(question)).toEqual([])
    },
  )

  test('takes a question of quotes, signs and NUL as text', async () => {
    const found = await ranked('wool\0\'); DROP TABLE serving.posting; --%"\\')
    expect(found.map(([id]) => id).sort()).toEqual([7, 8])
    expect((await ranked('wool'))[0]?.[0]).toBe(8)
  })

  test('looks up no more than the first 128 words of a question', async () => {
    const words = Array.from({ length: 128 }, (_, no) => `word${no}`).join(' ')
    expect(await ranked(`${words} wool`)).toEqual([])
    expect(await ranked(`wool ${words}`)).toHaveLength(1)
  })
})

describe('rankedByTerms, of numbers', () => {
  beforeAll(() =>
    index([
      { internal_id: '1', company_name: "'Acme'", org_no: "'556012-3456'", vat_number: "'SE5560123456'" },
      { internal_id: '2', company_name: "'Other'", org_no: "'556999-9999'" },
    ]),
  )

  test.each(['556012-3456', '5560123456', '5560-123456', 'SE 556012-3456', 'SE5560123456'])(
    'finds a company by its number written as %j',
    async (question) => {
      expect((await ranked(question)).map(([id]) => id)).toEqual([1])
    },
  )
})

describe('rankedByVector', () => {
  const near = async (vector: readonly number[], minSimilarity: number): Promise<unknown> =>
    session.rows(`${rankedByVector('$1', { dimensions: 2, minSimilarity })} ORDER BY score DESC`, [
      vectorText(Float32Array.from(vector)),
    ])

  beforeAll(async () => {
    await session.run('CREATE OR REPLACE TABLE serving.embedding (internal_id BIGINT, vector FLOAT[2])')
    await session.run(
      'INSERT INTO serving.embedding VALUES (1, [1, 0]), (2, [0.6, 0.8]), (3, [0, 1]), (4, [0, 0])',
    )
  })

  test('gives the cosine similarity of those above the least one', async () => {
    expect(await near([1, 0], 0.5)).toEqual([
      { internal_id: '1', score: 1 },
      { internal_id: '2', score: expect.closeTo(0.6, 6) },
    ])
  })

  test('finds nothing by a vector of zeros, nor a company with one', async () => {
    expect(await near([0, 0], 0.1)).toEqual([])
    expect(await near([0, 1], 0.1)).toHaveLength(2)
  })
})
