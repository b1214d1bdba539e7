import { createHash } from 'node:crypto'
import { expect, test } from 'vitest'
import { compileProjection } from '../../../src/lake/projection/compile-projection.ts'
import { hashKeyOf, readHashKey } from '../../../src/lake/projection/hash-key.ts'
import { hiddenColumns, PERSONAL_COLUMNS } from '../../../src/lake/projection/hidden-columns.ts'
import { computedOf, keptTake, masksOf, type Projection } from '../../../src/lake/projection/projection.ts'
import { TABLES } from '../../../src/lake/tables/tables.ts'
import { HISTORY_COLUMNS } from '../../../src/lake/views/base-views.ts'
import { computedOfLake } from '../../../src/manifest/form/projections.ts'

const KEY = Buffer.from('9b2f61d0c7e84a35')

test.each<[Projection, string]>([
  [
    { leaveOut: ['compnies'] },
    'Cannot leave out "compnies": there is no such table or column, did you mean "companies"?',
  ],
  [
    { mask: { 'companies.emial': 'x' } },
    'Cannot mask "companies.emial": there is no such table or column, did you mean "companies.email"?',
  ],
  [
    { hash: ['nothing.like.it'] },
    'Cannot hash "nothing.like.it": there is no such table or column; columns are named like companies.email',
  ],
  [
    { leaveOut: ['companies'] },
    'Cannot leave out "companies": it says which companies there are; leave out its columns',
  ],
  [{ leaveOut: ['relations'] }, 'it says which relations there are'],
  [{ mask: { roles: 'x' } }, 'Cannot mask "roles": it is a table, expected table.column'],
  [{ leaveOut: ['line_items'] }, 'there is no such table or column'],
  [{ leaveOut: ['companies.internal_id'] }, 'rows of "companies" cannot be identified without it'],
  [{ leaveOut: ['financials.line_item'] }, 'rows of "financials" cannot be identified without it'],
  [{ leaveOut: ['relation_entities.direction'] }, 'cannot be identified without it'],
  [{ hash: ['companies.score'] }, 'Cannot hash "companies.score": it is no text but DOUBLE; leave it out'],
  [{ hash: ['relation_entities.addresses'] }, 'it is no text but STRUCT'],
  [
    { leaveOut: ['companies.email'], mask: { 'companies.email': 'x' } },
    'Cannot mask "companies.email": it is named twice',
  ],
  [{ leaveOut: ['persons'], hash: ['persons'] }, 'Cannot treat "persons": it is named twice'],
  [{ countries: ['Norway'] }, 'Cannot take countries "NORWAY": expected codes of two letters, such as NO'],
  [
    { where: 'statuscode = 1' },
    'Cannot use the condition on companies, "statuscode = 1": "companies" has no column "statuscode"',
  ],
  [{ where: 'contry_code = 1' }, 'has no column "contry_code", did you mean "country_code"?'],
  [
    { whereRelations: 'email = 1' },
    'Cannot use the condition on relations, "email = 1": "relations" has no column "email"',
  ],
  [{ where: 'company_name' }, 'it gives VARCHAR, expected a condition that is true or false'],
  [{ where: 'company_name = = 1' }, 'syntax error'],
  [{ where: 'internal_id IN (SELECT internal_id FROM relations)' }, 'it holds a query of its own'],
  [{ where: 'setseed(0.5) IS NULL' }, 'function "setseed" is not allowed'],
  [{ compute: { 'companies.x': "write_log('x')" } }, 'function "write_log" is not allowed'],
  [{ where: "EXISTS (FROM read_text('/etc/passwd'))" }, 'it holds a query of its own'],
  [{ where: 'true) FROM companies; DROP TABLE companies; SELECT (true' }, 'expected one expression'],
  [{ where: 'true FROM companies WHERE (true' }, 'syntax error'],
  [{ where: 'true), (true' }, 'expected one expression'],
  [{ where: 'true) FROM companies WHERE (true' }, 'syntax error'],
  [{ where: 'true) FROM companies LIMIT (1' }, 'syntax error'],
  [{ where: 'true) FROM companies GROUP BY (true' }, 'syntax error'],
  [{ where: 'count(*) > 1' }, 'aggregate'],
  [{ where: 'row_number() OVER () > 1' }, 'it looks at other rows'],
  [{ where: 'internal_id = $1' }, 'it holds a parameter'],
  [{ where: 'nosuchfunction(email)' }, 'nosuchfunction'],
  [{ compute: { x: '1' } }, 'Cannot compute "x": expected table.column'],
  [{ compute: { 'companies.Large': '1' } }, 'expected table.column in small letters'],
  [{ compute: { 'line_items.x': '1' } }, 'there is no table "line_items" of records'],
  [{ compute: { 'companies.email': '1' } }, '"companies" has such a column; take another name'],
  ...HISTORY_COLUMNS.map(({ name }): [Projection, string] => [
    { compute: { [`companies.${name}`]: '1' } },
    'take another name',
  ]),
  [{ compute: { 'companies.x': 'random()' } }, '"random()": it gives another value each time'],
  [{ compute: { 'companies.x': '#1' } }, 'it names no column'],
  [{ compute: { 'companies.x': 'unnest([1, 2])' } }, 'UNNEST not supported here'],
  [{ compute: { 'companies.x': 'count(*)' } }, 'aggregate'],
  [{ compute: { 'companies.x': '1) FROM companies; DROP TABLE companies; SELECT (1' } }, 'expected one'],
  [{ compute: { 'companies.x': 'lenght(email)' } }, 'lenght'],
  [
    { leaveOut: ['companies.email'], compute: { 'companies.x': 'length(Companies.EMAIL)' } },
    'Cannot use the computed column "companies.x", "length(Companies.EMAIL)": it reads "email", which is left out',
  ],
])('%j is refused with what is wrong', async (take, said) => {
  const error = await compileProjection(take, KEY).catch((one: unknown) => one)
  expect(error).toMatchObject({ code: 'PROJECTION_INVALID' })
  expect(String(error)).toContain(said)
})

test('a condition may end with a comment, and call functions of DuckDB', async () => {
  const where =
    "regexp_matches(company_name, '^A') AND list_contains(additional_urls, 'x') -- of the first letter"
  const take = await compileProjection({ where })
  expect(take?.condition('companies')).toContain(where)
  expect(take?.condition('relations')).toBeUndefined()
})

test('a key is needed, long enough, and read of the environment', async () => {
  await expect(compileProjection({ hash: ['persons'] })).rejects.toMatchObject({ code: 'HASH_KEY_WRONG' })
  expect(() => readHashKey('short')).toThrow('Cannot hash with a key of 5 bytes: expected at least 16')
  expect(await hashKeyOf({ FIRMLAKE_HASH_KEY: ` ${KEY}\n` })).toEqual(KEY)
  await expect(hashKeyOf({ FIRMLAKE_HASH_KEY_FILE: '/no/such/file' })).rejects.toThrow(
    'Cannot read the hash key in "/no/such/file"',
  )
  expect(await hashKeyOf({})).toBeUndefined()
})

test.each([
  'x'.repeat(64),
  'passwordpassword'.repeat(3),
  '1234567890123456',
  'abcdefghijklmnopqrstuvwxyz',
  Buffer.alloc(32),
])('a key that is easily guessed is refused: %j', (key) => {
  const refused = expect.objectContaining({ code: 'HASH_KEY_WRONG' })
  expect(() => readHashKey(key)).toThrow(refused)
})

test('random keys are taken, as bytes, in hex and in base 64', () => {
  for (let at = 0; at < 200; at += 1) {
    const bytes = createHash('sha256').update(String(at)).digest()
    for (const key of [bytes, bytes.subarray(0, 16), bytes.toString('hex'), bytes.toString('base64')])
      expect(readHashKey(key).length).toBe(key.length)
  }
})

test('a mask is a name and a text, which may hold any character', () => {
  expect(masksOf(['companies.email=a=b'])).toEqual({ 'companies.email': 'a=b' })
  expect(() => masksOf(['companies.email'])).toThrow('Cannot mask "companies.email": expected name=text')
})

test('a computed column is a name and SQL, which may hold any character', () => {
  expect(computedOf(['companies.x = email = 1'])).toEqual({ 'companies.x': ' email = 1' })
  expect(() => computedOf(['companies.x='])).toThrow(
    'Cannot compute "companies.x=": expected table.column=SQL',
  )
})

test('the SQL of a lake that comes from others is checked before it stands in a statement', async () => {
  const take = { compute: { 'companies.x': "1) FROM companies); COPY (SELECT 1) TO '/tmp/out'; SELECT ((1" } }
  const root = { taken: [{ run: 'r', snapshot: 1, take }] }
  await expect(computedOfLake(root)).rejects.toMatchObject({ code: 'PROJECTION_INVALID' })
})

test('equal declarations have one form', () => {
  const take = { countries: ['se', 'NO', 'SE'], leaveOut: ['b', 'a'], where: ' x ', hash: [], mask: {} }
  expect(keptTake(take)).toEqual({ countries: ['NO', 'SE'], where: 'x', leaveOut: ['a', 'b'] })
  expect(keptTake({ countries: [], where: ' ', keepBadLines: false })).toEqual({})
})

test('persons stand for what the contract marks as personal', () => {
  expect(PERSONAL_COLUMNS.map(({ table, column }) => `${table}.${column}`)).toEqual([
    ...['companies.email', 'companies.phone', 'companies.signatory'],
    ...['name', 'first_name', 'last_name', 'org_no', 'birth_date', 'national_identification_number'].map(
      (column) => `relation_entities.${column}`,
    ),
    ...['gender', 'citizenships', 'country_of_residences', 'addresses', 'country_code'].map(
      (column) => `relation_entities.${column}`,
    ),
    'ownerships.text',
  ])
})

test('what would tell a hidden value again is hidden too', () => {
  const { columns, tables } = hiddenColumns({
    leaveOut: ['companies.legal_form', 'financials', 'roles.updated_at'],
  })
  const namesOf = (table: string) => [...(columns.get(table)?.keys() ?? [])].sort()
  expect([...tables]).toEqual(['financials'])
  expect(namesOf('companies')).toEqual(['as_reported', 'extra', 'legal_form', 'legal_form_name'])
  expect(namesOf('roles')).toEqual(['as_reported', 'updated_at'])
  expect(namesOf('relations')).toEqual(['extra'])
  expect(namesOf('relation_entities')).toEqual([])
})

test('a column named itself comes before those of persons', () => {
  const { columns } = hiddenColumns({ leaveOut: ['persons'], hash: ['relation_entities.birth_date'] })
  const entities = columns.get('relation_entities')
  expect(entities?.get('birth_date')).toEqual({ instead: { kind: 'hash' }, onlyPersons: false })
  expect(entities?.get('name')).toEqual({ instead: { kind: 'null' }, onlyPersons: true })
  expect(TABLES.every(({ name }) => name !== 'persons')).toBe(true)
})
