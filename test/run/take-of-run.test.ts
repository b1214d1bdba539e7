import { createHmac } from 'node:crypto'
import { expect, test } from 'vitest'
import { recordLines } from '../../src/jobs/records.ts'
import type { Projection } from '../../src/lake/projection/projection.ts'
import { readRoot } from '../../src/manifest/snapshots/snapshots.ts'
import { resumeRuns } from '../jobs/resume/resume-runs.ts'
import { stringsBelow } from '../support/all-bytes.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { type Bench, openBench } from './batch-bench.ts'

const ANY = { maxQuarantined: { kind: 'share', share: 1 } } as const
const KEY = Buffer.from('a key of more than sixteen bytes')
const hashed = (text: string): string => createHmac('sha256', KEY).update(text).digest('hex')

/** A text that is found wherever it stands. `escaped` as JSON allows it: no search of the raw bytes finds it. */
const mark = (name: string): string => `mark-of-${name}-${'x'.repeat(20)}`
const escaped = (text: string): string =>
  `"${[...text].map((one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`).join('')}"`

/** Of an owner who is a person, and of one that is a company. */
const PERSON = {
  Name: mark('name'),
  FirstName: mark('first-name'),
  LastName: mark('last-name'),
  OrgNo: mark('person-org-no'),
  BirthDate: mark('birth-date'),
  NationalIdentificationNumber: mark('national-id'),
  Gender: mark('gender'),
  Citizenships: [mark('citizenship')],
  CountryOfResidences: [mark('residence')],
  Addresses: [
    { Street: mark('street'), ZipCode: mark('zip'), City: mark('city'), CountryCode: mark('country') },
  ],
  CountryCode: mark('person-country'),
}
const OF_PERSON = [
  ...[
    'name',
    'first-name',
    'last-name',
    'person-org-no',
    'birth-date',
    'national-id',
    'gender',
    'citizenship',
  ],
  ...['residence', 'street', 'zip', 'city', 'country', 'person-country', 'ubo-text'],
].map(mark)
const OF_CONTACTS = ['email', 'phone', 'signatory'].map(mark)
const OF_OTHERS = ['unknown-field', 'unknown-key', 'bad-line', 'bad-category', 'unknown-company-field'].map(
  mark,
)
const KEPT = ['company-name', 'owner-name', 'owner-street', 'role-title', 'line-item'].map(mark)
const ALL = [...OF_PERSON, ...OF_CONTACTS, ...OF_OTHERS, ...KEPT]

const company = (id: number, country: string, more: object = {}) => ({
  BasicDetails: {
    InternalId: id,
    CompanyName: mark('company-name'),
    CountryCode: country,
    OperationalStatus: id,
    Email: mark('email'),
    Phone: mark('phone'),
    Signatory: mark('signatory'),
    Twin: mark('unknown-company-field'),
  },
  Financials: { ProfitAndLoss: { NetSales: { 2023: id }, [mark('line-item')]: { 2023: id } } },
  ...more,
})
const relations = (id: number, country: string) => ({
  InternalId: id,
  CountryCode: country,
  Parents: [
    {
      ...{
        InternalId: 70 + id,
        IsCompany: false,
        ...PERSON,
        Nickname: mark('unknown-field'),
        [mark('unknown-key')]: 1,
      },
      KeyPersonRoles: [{ Id: 1, Text: mark('role-title') }],
      BeneficialOwnerships: [{ OwnershipStake: 50, Text: mark('ubo-text') }],
      History: [
        { InternalId: 70 + id, IsCompany: false, Name: mark('name'), UpdatedAt: '2020-01-01T00:00:00' },
      ],
    },
    {
      ...{ InternalId: 80 + id, IsCompany: true, Name: mark('owner-name') },
      Addresses: [{ Street: mark('owner-street') }],
    },
  ],
})

/** Lines with a mark in each field, as they are and with escapes, and lines that cannot be loaded. */
const marked = async (): Promise<Bench> => {
  const bench = openBench(await temporaryFolder())
  const inEscapes = (line: object): string =>
    JSON.stringify(line).replace(/"(mark-of-[^"]*)"(?!:)/g, (_, text: string) => escaped(text))
  await bench.write('in/companies.jsonl', [
    JSON.stringify(company(1, 'NO')),
    inEscapes(company(2, 'SE')),
    `{"BasicDetails":{"InternalId":3,"Email":"${mark('bad-line')}","CompanyType":"no number"}}`,
    `{"BasicDetails":{"InternalId":4},"Financials":{"${mark('bad-category')}":{"Item":{"no year":1}}}}`,
  ])
  await bench.write('in/relations.jsonl', [
    JSON.stringify(relations(1, 'NO')),
    inEscapes(relations(2, 'SE')),
    `{"InternalId":3,"Parents":[{"InternalId":7,"Name":"${mark('bad-line')}","IsCompany":"maybe"}]}`,
  ])
  return bench
}

const without = (...gone: readonly (readonly string[])[]): readonly string[] =>
  ALL.filter((text) => !gone.flat().includes(text))

test('without a declaration all is below the lake, so the search finds what is there', async () => {
  const bench = await marked()
  await bench.run(['in'], ANY)
  expect(await stringsBelow(bench.lake, ALL)).toEqual(ALL)
  expect(await readRoot(bench.lake)).not.toHaveProperty('taken')
})

test.each<[string, Projection, readonly string[]]>([
  ['persons are left out', { leaveOut: ['persons'] }, without(OF_PERSON, OF_CONTACTS, OF_OTHERS)],
  ['persons are masked', { mask: { persons: 'masked' } }, without(OF_PERSON, OF_CONTACTS, OF_OTHERS)],
  ['persons are hashed', { hash: ['persons'] }, without(OF_PERSON, OF_CONTACTS, OF_OTHERS)],
  [
    'a column is left out',
    { leaveOut: ['companies.email'] },
    without([mark('email')], OF_OTHERS.slice(2), ['x']),
  ],
  [
    'tables are left out',
    { leaveOut: ['financials', 'roles', 'relation_entities', 'ownerships'] },
    without(OF_PERSON, OF_OTHERS, KEPT.slice(1)),
  ],
  [
    'bad lines are kept',
    { leaveOut: ['persons'], keepBadLines: true },
    without(OF_PERSON, OF_CONTACTS, [
      ...[mark('unknown-field'), mark('unknown-key'), mark('unknown-company-field')],
    ]),
  ],
])('no byte below the lake where %s, and every byte of the rest', async (_, take, rest) => {
  const bench = await marked()
  const { summary } = await bench.run(['in'], { ...ANY, take, hashKey: KEY })
  expect(summary.partitions.map(({ counts }) => counts)).toMatchObject([
    { lines: 4, records: 2, quarantined: 2 },
    { lines: 3, records: 2, quarantined: 1 },
  ])
  expect(await stringsBelow(bench.lake, ALL)).toEqual(rest)
  expect(await bench.verify()).toMatchObject({ problems: [], notes: [] })
  expect((await bench.query('SELECT code, line FROM quarantine ORDER BY ALL')).length).toBe(3)
})

test('a filter leaves whole records out, and says how many', async () => {
  const bench = await marked()
  const odd = mark('filtered-item')
  const figures = {
    ProfitAndLoss: { [odd]: { 2023: 1 } },
    [mark('filtered-category')]: { Item: { 2023: 1 } },
  }
  await bench.write('in/companies-more.jsonl', [JSON.stringify(company(3, 'QQ', { Financials: figures }))])
  const take: Projection = {
    countries: ['no'],
    where: "operational_status < 5 AND country_code IN ('NO', 'SE')",
  }
  const { summary } = await bench.run(['in'], { ...ANY, take })
  expect(summary.partitions.map(({ counts }) => counts)).toMatchObject([
    { lines: 1, records: 0, quarantined: 0, filtered: 1 },
    { lines: 4, records: 1, quarantined: 2, filtered: 1 },
    { lines: 3, records: 1, quarantined: 1, filtered: 1 },
  ])
  for (const [table, id] of [
    ['companies', 'internal_id'],
    ['financials', 'internal_id'],
    ['roles', 'company_id'],
  ])
    expect(await bench.query(`SELECT DISTINCT ${id} FROM ${table}`)).toEqual([[1]])
  expect((await readRoot(bench.lake)).taken).toEqual([
    { run: summary.run, snapshot: 1, take: { countries: ['NO'], where: take.where } },
  ])
  expect(await stringsBelow(bench.lake, [odd, mark('filtered-category'), ...OF_OTHERS.slice(2, 4)])).toEqual(
    [],
  )
})

test('hashes are those of HMAC-SHA-256, of companies that own nothing is hashed', async () => {
  const bench = await marked()
  await bench.run(['in'], { ...ANY, take: { hash: ['persons'] }, hashKey: KEY })
  const [person, owner] = await bench.query(
    `SELECT name, national_identification_number, citizenships, addresses FROM relation_entities
     WHERE company_id = 1 AND NOT is_history ORDER BY entity_no`,
  )
  expect(person).toEqual([
    hashed(mark('name')),
    hashed(mark('national-id')),
    [hashed(mark('citizenship'))],
    null,
  ])
  expect(owner?.slice(0, 2)).toEqual([mark('owner-name'), null])
})

test('a later load takes what the lake takes; another declaration is refused, or recorded', async () => {
  const bench = await marked()
  const take: Projection = { leaveOut: ['persons'] }
  await bench.run(['in/companies.jsonl'], { ...ANY, take })
  await bench.run(['in/relations.jsonl'], ANY)
  expect(await stringsBelow(bench.lake, OF_PERSON)).toEqual([])
  const other = { ...ANY, take: { leaveOut: ['companies.email'] }, again: true }
  await expect(bench.run(['in'], other)).rejects.toMatchObject({ code: 'PROJECTION_CHANGED' })
  const { summary } = await bench.run(['in'], { ...other, changeTaken: true })
  expect((await readRoot(bench.lake)).taken?.map((one) => [one.snapshot, one.take])).toEqual([
    [1, { leaveOut: ['persons'] }],
    [3, { leaveOut: ['companies.email'] }],
  ])
  expect(summary.snapshot?.snapshot).toBe(3)
  await bench.run(['in'], { ...ANY, changeTaken: true, again: true })
  expect((await readRoot(bench.lake)).taken?.at(-1)?.take).toEqual({})
})

test('another key is refused, and none', async () => {
  const bench = await marked()
  const take: Projection = { hash: ['persons'] }
  await bench.run(['in/companies.jsonl'], { ...ANY, take, hashKey: KEY })
  const other = Buffer.from('another key of more than sixteen bytes')
  for (const hashKey of [other, undefined])
    await expect(bench.run(['in/relations.jsonl'], { ...ANY, hashKey })).rejects.toMatchObject({
      code: 'HASH_KEY_WRONG',
    })
  await expect(bench.run(['in/relations.jsonl'], { ...ANY, take, hashKey: other })).rejects.toMatchObject({
    code: 'PROJECTION_CHANGED',
  })
  await bench.run(['in/relations.jsonl'], { ...ANY, hashKey: KEY })
  const strings = [KEY.toString(), KEY.toString('hex'), KEY.toString('base64')]
  expect(await stringsBelow(bench.lake, strings)).toEqual([])
})

test('a run that is resumed takes what it was begun with, and needs the key again', async () => {
  const bench = await marked()
  const begun = bench.run(['in'], {
    maxQuarantined: { kind: 'count', lines: 0 },
    take: { hash: ['persons'] },
    hashKey: KEY,
  })
  await expect(begun).rejects.toMatchObject({ code: 'QUARANTINE_LIMIT' })
  expect(await stringsBelow(bench.lake, [...OF_PERSON, KEY.toString()])).toEqual([])
  const [without] = await resumeRuns({ lake: bench.lake, ...ANY })
  expect(without).toMatchObject({ kind: 'failed', error: { code: 'HASH_KEY_WRONG' } })
  const [resumed] = await resumeRuns({ lake: bench.lake, ...ANY, hashKey: KEY })
  expect(resumed).toMatchObject({ kind: 'loaded' })
  expect(await stringsBelow(bench.lake, OF_PERSON)).toEqual([])
  expect((await readRoot(bench.lake)).taken).toMatchObject([{ snapshot: 1, take: { hash: ['persons'] } }])
})

test('of two first loads that declare different things the second one to commit is refused', async () => {
  const bench = await marked()
  const late = bench.run(['in/companies.jsonl'], {
    ...ANY,
    take: { leaveOut: ['companies.email'] },
    onEvent: (event) => {
      if (event.kind === 'committing') throw new Error('stopped before its commit')
    },
  })
  await expect(late).rejects.toThrow('stopped before its commit')
  await bench.run(['in/relations.jsonl'], { ...ANY, take: { leaveOut: ['persons'] } })
  const [resumed] = await resumeRuns({ lake: bench.lake, ...ANY })
  expect(resumed).toMatchObject({ kind: 'failed', error: { code: 'PROJECTION_CHANGED' } })
})

test('records that a function refuses are left out, and only a program goes on', async () => {
  const bench = await marked()
  const { summary } = await bench.run(['in'], {
    ...ANY,
    keeps: (record, content) => content === 'relations' || JSON.stringify(record).includes('"NO"'),
  })
  expect(summary.partitions.map(({ counts }) => [counts.records, counts.filtered])).toEqual([
    [1, 1],
    [2, undefined],
  ])
  await bench.write('more.jsonl', [JSON.stringify(company(9, 'NO'))])
  await expect(bench.run(['more.jsonl'], ANY)).rejects.toMatchObject({ code: 'PROJECTION_CHANGED' })
})

test('records are given back without what was not taken', async () => {
  const bench = await marked()
  await bench.run(['in'], { ...ANY, take: { leaveOut: ['persons', 'financials'] } })
  let text = ''
  for await (const lines of recordLines({ lake: bench.lake })) text += lines.toString()
  const [first, , third] = text
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
  expect(first.BasicDetails).toMatchObject({ InternalId: 1, CompanyName: mark('company-name') })
  expect(first.BasicDetails).not.toHaveProperty('Email')
  expect(first).not.toHaveProperty('Financials')
  expect(third.Parents).toMatchObject([
    { InternalId: 71, IsCompany: false, KeyPersonRoles: [{ Id: 1, Text: mark('role-title') }] },
    { InternalId: 81, Name: mark('owner-name') },
  ])
})
