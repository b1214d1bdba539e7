import { expect, test } from 'vitest'
import { deliver } from '../../src/targets/deliver.ts'
import { openBench } from '../run/batch-bench.ts'
import { withClient } from '../support/postgres-server.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { usePostgres } from '../support/use-postgres.ts'

const server = usePostgres()

const EMAIL = `mark-of-email-${'x'.repeat(20)}`
const PERSON = `mark-of-person-${'x'.repeat(20)}`
const ANY = { maxQuarantined: { kind: 'share', share: 1 } } as const
const KEY = 'a key of more than sixteen bytes'

const company = (id: number, country: string): string =>
  JSON.stringify({
    BasicDetails: {
      InternalId: id,
      CompanyName: `Firm ${id}`,
      CountryCode: country,
      Email: EMAIL,
      OrgNo: '7',
    },
    Financials: { ProfitAndLoss: { NetSales: { 2023: id } } },
  })

const loaded = async (take?: object) => {
  const bench = openBench(await temporaryFolder())
  const Parents = [{ InternalId: 8, IsCompany: false, Name: PERSON, BirthDate: '1970-01-01' }]
  await bench.write('1/companies.jsonl', [company(1, 'NO'), company(2, 'SE')])
  await bench.write('1/relations.jsonl', [JSON.stringify({ InternalId: 1, CountryCode: 'NO', Parents })])
  await bench.run(['1'], { ...ANY, ...take })
  return bench
}

const asker = (url: string) => (sql: string) =>
  withClient(url, async (client) => (await client.query({ text: sql, rowMode: 'array' })).rows)

/** All that a reader of the schema sees, as text. */
const allText = async (ask: ReturnType<typeof asker>): Promise<string> => {
  const tables = await ask("SELECT tablename FROM pg_tables WHERE schemaname = 'firmlake' ORDER BY 1")
  const strings = await Promise.all(
    tables.map(async ([table]) =>
      JSON.stringify(await ask(`SELECT t::text FROM firmlake."${String(table)}" AS t`)),
    ),
  )
  return strings.join('\n')
}

test('PostgreSQL receives what is declared for it, run after run, and notes what it was', async () => {
  const bench = await loaded({ take: { compute: { 'companies.shout': 'upper(company_name)' } } })
  const url = server().url(await server().newDatabase())
  const ask = asker(url)
  const take = {
    countries: ['NO'],
    leaveOut: ['persons', 'financials'],
    hash: ['companies.org_no'],
    compute: {
      'companies.even': 'internal_id % 2 = 0',
      'companies.words': "string_split(company_name, ' ')",
    },
  }
  const asked = { lake: bench.lake, sinks: [url], take, hashKey: KEY }
  await deliver(asked)
  const rows =
    'SELECT internal_id, shout, even, words, length(org_no), email FROM firmlake.companies ORDER BY 1'
  expect(await ask(rows)).toEqual([['1', 'FIRM 1', false, ['Firm', '1'], 64, null]])
  const text = await allText(ask)
  expect([EMAIL, PERSON, '1970-01-01', 'Firm 2'].filter((mark) => text.includes(mark))).toEqual([])
  expect(
    await ask("SELECT tablename FROM pg_tables WHERE tablename IN ('financials', 'line_items')"),
  ).toEqual([])
  await bench.write('2/companies.jsonl', [company(3, 'NO'), company(4, 'SE')])
  await bench.run(['2'], ANY)
  expect(await deliver(asked)).toMatchObject([{ runs: [expect.any(String)] }])
  expect(await ask('SELECT internal_id, even FROM firmlake.companies ORDER BY 1')).toEqual([
    ['1', false],
    ['3', false],
  ])
  const [[note] = []] = await ask('SELECT DISTINCT taken FROM firmlake.firmlake_loads')
  expect(note).toMatch(
    /^the lake: computed: companies\.shout = upper\(company_name\)\. this target: only countries NO; left out: financials, persons; hashed with key \w+: companies\.org_no; computed: /,
  )
})

test('a computed column of another type is refused, and the database stays as it is', async () => {
  const bench = await loaded()
  const url = server().url(await server().newDatabase())
  const ask = asker(url)
  await deliver({ lake: bench.lake, sinks: [url], take: { compute: { 'companies.x': 'internal_id' } } })
  await bench.write('2/companies.jsonl', [company(3, 'NO')])
  await bench.run(['2'], ANY)
  const take = { compute: { 'companies.x': 'company_name' } }
  await expect(deliver({ lake: bench.lake, sinks: [url], take })).rejects.toMatchObject({
    code: 'TARGET_REFUSED',
  })
  expect(await ask('SELECT internal_id, x FROM firmlake.companies ORDER BY 1')).toEqual([
    ['1', '1'],
    ['2', '2'],
  ])
})
