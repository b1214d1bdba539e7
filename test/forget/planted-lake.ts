/** A lake with marks of each company and person wherever a record has room for one, and where such marks stand in its bytes. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { brotliDecompressSync } from 'node:zlib'
import { Engine } from '../../src/lake/duckdb/engine.ts'
import { literal } from '../../src/lake/duckdb/sql.ts'
import type { Bench } from '../run/batch-bench.ts'

/** No other text has it. */
export const markOf = (kind: string, id: number): string => `zq${kind}x${id}qz`

const COMPANY_MARKS = ['name', 'street', 'org', 'field', 'value', 'item', 'old', 'in', 'bad'] as const
const PERSON_MARKS = ['last', 'national', 'pstreet', 'pfield', 'pvalue', 'role', 'past', 'pbad'] as const

export const companyMarks = (id: number): string[] => COMPANY_MARKS.map((kind) => markOf(kind, id))
export const personMarks = (id: number): string[] => PERSON_MARKS.map((kind) => markOf(kind, id))

export const company = (id: number, day = 1) => ({
  BasicDetails: {
    InternalId: id,
    CompanyName: `AB ${markOf('name', id)} "é" & Co`,
    CountryCode: id % 2 === 0 ? 'SE' : 'NO',
    OrgNo: markOf('org', id),
    Address: { Street: `${markOf('street', id)} ${id}`, City: 'Ystad' },
    PreviousNames: [markOf('old', id)],
    [`Unknown${markOf('field', id)}`]: { deep: [markOf('value', id)] },
    Common: id,
  },
  MetaData: { ContentUpdatedAt: `2025-01-${String(day).padStart(2, '0')}T00:00:00` },
  Financials: { ProfitAndLoss: { NetSales: { 2023: id }, [markOf('item', id)]: { 2024: id + 0.5 } } },
})

const person = (id: number) => ({
  InternalId: id,
  Name: `Ann ${markOf('last', id)}`,
  FirstName: 'Ann',
  LastName: markOf('last', id),
  NationalIdentificationNumber: markOf('national', id),
  Addresses: [{ Street: markOf('pstreet', id) }],
  CountryCode: 'SE',
  IsCompany: false,
  [`Person${markOf('pfield', id)}`]: [markOf('pvalue', id)],
  KeyPersonRoles: [{ Id: 1, Text: markOf('role', id), InDate: '2020-01-01T00:00:00' }],
  Ownerships: [{ OwnershipStake: 12.5, Note: markOf('pvalue', id) }],
  History: [{ InternalId: id, Name: markOf('past', id) }],
})

const asEntity = (id: number) => ({
  InternalId: id,
  Name: markOf('in', id),
  OrgNo: markOf('org', id),
  IsCompany: true,
  UltimateOwnerships: [{ OwnershipStake: 50, ShareClass: 'A' }],
})

/** Persons 901 to 904 and the companies beside it are related to each company. */
export const relations = (id: number, companies: number) => ({
  InternalId: id,
  Name: `AB ${markOf('name', id)}`,
  OrgNo: markOf('org', id),
  Parents: [901, 902, 903, 904].map(person),
  Children: [asEntity((id % companies) + 1), asEntity(((id + 1) % companies) + 1)],
})

/** A line as services send it: characters beyond ASCII, and some within, as escapes. */
export const escaped = (record: object): string =>
  JSON.stringify(record).replace(
    /[^ -~]|z(?=qname)/g,
    (one) => `\\u${one.charCodeAt(0).toString(16).padStart(4, '0')}`,
  )

/** Lines that nobody can load: what they are about is found by its id, or by a name. */
export const badLines = (id: number, person: number): string[] => [
  `{"BasicDetails":{"InternalId":${id},"CompanyName":"${markOf('bad', id)}"}`,
  `{"BasicDetails":{"InternalId":${id},"CompanyName":"${markOf('bad', id)}","LegalForm":"text"}}`,
  `{"Name":"Ann ${markOf('last', person)}","Note":"${markOf('pbad', person)}"`,
]

/** A relations record that is refused, about a company that stays and a person. */
export const badRelations = (id: number, person: number): string =>
  JSON.stringify({
    InternalId: id,
    LegalForm: 'text',
    Parents: [
      { InternalId: person, Name: markOf('pbad', person) },
      { InternalId: 1000 + person, Name: 'Stays' },
    ],
  })

export const COMPANIES = 6
/** Most lines of a file may be bad. */
export const MANY_BAD = { maxQuarantined: { kind: 'share', share: 0.9 } } as const

export const numbers = (count: number): number[] => Array.from({ length: count }, (_, at) => at + 1)

/** Two runs: in the second one companies 1 to 3 come again, and lines that nobody can load. */
export const plantLake = async (bench: Bench): Promise<void> => {
  const write = (name: string, ids: readonly number[], lineOf: (id: number) => string, more: string[] = []) =>
    bench.write(name, [...ids.map(lineOf), ...more])
  const relationsOf = (id: number): string => escaped(relations(id, COMPANIES))
  await write('companies-a', numbers(COMPANIES), (id) => escaped(company(id)))
  await write('relations-a', numbers(COMPANIES), relationsOf)
  const bad = [...badLines(2, 902), ...badLines(3, 903)]
  await write('companies-b', numbers(3), (id) => escaped(company(id, 2)), bad)
  await write('relations-b', numbers(3), relationsOf, [badRelations(4, 902), badRelations(4, 903)])
  await bench.run(['companies-a', 'relations-a'])
  await bench.run(['companies-b', 'relations-b'], MANY_BAD)
}

/** Everything that stands in a file: its bytes, and what they are when unpacked. */
const stringsOf = async (path: string): Promise<string[]> => {
  const bytes = await readFile(path)
  const strings = [bytes.toString('utf8'), bytes.toString('utf16le')]
  if (path.endsWith('.br')) strings.push(brotliDecompressSync(bytes).toString('utf8'))
  return strings
}

/** All rows of Parquet files, and what their footers say. */
const rowsOf = async (paths: readonly string[]): Promise<string[]> => {
  if (paths.length === 0) return []
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    const from = [
      ...paths.map((path) => `read_parquet(${literal(path)})`),
      `parquet_metadata([${paths.map(literal).join()}])`,
    ]
    const rows = await session.rows(
      from.map((one) => `SELECT to_json(t)::VARCHAR AS text FROM ${one} AS t`).join('\nUNION ALL '),
    )
    return rows.map(({ text }) => String(text))
  } finally {
    engine.close()
  }
}

/** Which marks stand anywhere below a folder. */
export const marksBelow = async (folder: string, marks: readonly string[]): Promise<ReadonlySet<string>> => {
  const paths = (await readdir(folder, { recursive: true, withFileTypes: true }))
    .filter((entry) => entry.isFile())
    .map((entry) => join(entry.parentPath, entry.name))
  const strings = await rowsOf(paths.filter((path) => path.endsWith('.parquet')))
  for (const path of paths) strings.push(...(await stringsOf(path)))
  return new Set(marks.filter((mark) => strings.some((text) => text.includes(mark))))
}
