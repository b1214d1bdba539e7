import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { slicesOf, sliceView } from '../../src/lake/slices/slices.ts'
import {
  appendCompany,
  type CompanyPieces,
  prepareRestore,
  restoreCompanies,
} from '../../src/restore/restore.ts'
import { ByteWriter } from '../../src/support/buffers.ts'
import { type LoadedLake, Workbench } from './loaded-lake.ts'
import { canonical } from './same-record.ts'

let bench: Workbench
let engine: Engine
beforeAll(async () => {
  bench = await Workbench.open()
  engine = await Engine.open({ memoryBytes: 256 * 1024 * 1024 })
})
afterAll(async () => {
  engine.close()
  await bench.close()
})

const inSession = async <T>(
  { lake, snapshot }: LoadedLake,
  use: (request: { session: Session } & Pick<LoadedLake, 'lake' | 'snapshot'>) => Promise<T>,
): Promise<T> => {
  const session = await engine.connect()
  try {
    await session.run('DROP SCHEMA IF EXISTS firmlake CASCADE')
    await prepareRestore({ session, lake, snapshot }, 'companies')
    return await use({ session, lake, snapshot })
  } finally {
    session.close()
  }
}

/** The pieces as texts, which stay when the next company is read. */
interface PieceStrings {
  readonly id: bigint
  readonly currency: string | undefined
  readonly meta: string | undefined
  readonly financials: string | undefined
  readonly unconsolidated: string | undefined
  readonly rest: string
  readonly score: string | undefined
}
const stringsOf = ({ id, rest, ...pieces }: CompanyPieces): PieceStrings => {
  const text = (bytes: Uint8Array | undefined): string | undefined => bytes && Buffer.from(bytes).toString()
  return {
    id,
    currency: text(pieces.currency),
    meta: text(pieces.meta),
    financials: text(pieces.financials),
    unconsolidated: text(pieces.unconsolidated),
    rest: Buffer.from(rest).toString(),
    score: text(pieces.score),
  }
}
const companyText = ({ id, rest, ...strings }: PieceStrings): string => {
  const bytes = (text: string | undefined): Uint8Array | undefined =>
    text === undefined ? undefined : Buffer.from(text)
  const writer = new ByteWriter()
  appendCompany(writer, {
    id,
    currency: bytes(strings.currency),
    meta: bytes(strings.meta),
    financials: bytes(strings.financials),
    unconsolidated: bytes(strings.unconsolidated),
    rest: Buffer.from(rest),
    score: bytes(strings.score),
  })
  return writer.text()
}

const piecesOf = async (...lines: readonly (string | object)[]): Promise<PieceStrings[]> =>
  inSession(await bench.load({ content: 'companies', lines }), async (request) => {
    const all: PieceStrings[] = []
    for await (const companies of restoreCompanies(request))
      for (const company of companies) all.push(stringsOf(company))
    return all
  })
const onePiece = async (line: string | object): Promise<PieceStrings> => {
  const [pieces] = await piecesOf(line)
  if (pieces === undefined) throw new TypeError('No company came back')
  return pieces
}
/** Figures of one line item by year, as they stand in the text. */
const figuresLine = (id: string, years: string, category = 'BalanceSheet', item = 'TotalAssets'): string =>
  `{"BasicDetails":{"InternalId":${id}},"Financials":{${JSON.stringify(category)}:{${JSON.stringify(item)}:{${years}}}}}`

describe('restoreCompanies gives', () => {
  test('each part of a record in its piece', async () => {
    expect(
      await onePiece({
        BasicDetails: { InternalId: 7, CompanyName: 'Fjord AS' },
        EnhancedDetails: { Employees: { 2023: 5, 2022: 4.5 } },
        Financials: { ProfitAndLoss: { NetSales: { 2023: 12, 2022: 11.5 }, EBIT: { 2023: -3 } } },
        UnconsolidatedFinancials: { BalanceSheet: { TotalAssets: { 2023: 0 } } },
        MetaData: { CurrentCurrencyCode: 'NOK', FinancialFigureScale: 'Thousands' },
        LinkedIn: { Name: 'Fjord' },
        Score: 1.5,
      }),
    ).toEqual({
      id: 7n,
      currency: '"NOK"',
      meta: '{"FinancialFigureScale":"Thousands"}',
      financials: '{"ProfitAndLoss":{"EBIT":{"2023":-3},"NetSales":{"2022":11.5,"2023":12}}}',
      unconsolidated: '{"BalanceSheet":{"TotalAssets":{"2023":0}}}',
      rest: '{"BasicDetails":{"InternalId":7,"CompanyName":"Fjord AS"},"EnhancedDetails":{"Employees":{"2022":4.5,"2023":5}},"LinkedIn":{"Name":"Fjord"}}',
      score: '1.5',
    })
  })

  test('unknown members of MetaData in meta, all others in rest', async () => {
    const { meta, rest } = await onePiece({
      BasicDetails: { InternalId: 1, Mascot: 'elk', Address: { City: 'Oslo', Floor: 3 } },
      MetaData: { CurrentCurrencyCode: 'EUR', FinancialFigureScale: 'None', Quality: { Grade: 'A' } },
      Awards: ['x'],
    })
    expect(JSON.parse(meta ?? '')).toEqual({ FinancialFigureScale: 'None', Quality: { Grade: 'A' } })
    expect(JSON.parse(rest)).toEqual({
      BasicDetails: { InternalId: 1, Mascot: 'elk', Address: { City: 'Oslo', Floor: 3 } },
      Awards: ['x'],
    })
  })

  test('date-times as they came', async () => {
    const { meta } = await onePiece({
      BasicDetails: { InternalId: 1 },
      MetaData: { GeneratedAt: '2024-01-02T03:04:05.1234567+05:30', ContentUpdatedAt: '2024-05-06T07:08:09' },
    })
    expect(JSON.parse(meta ?? '')).toEqual({
      GeneratedAt: '2024-01-02T03:04:05.1234567+05:30',
      ContentUpdatedAt: '2024-05-06T07:08:09',
    })
  })

  test.each([
    ['without MetaData', {}, undefined],
    ['with an unknown member in MetaData alone', { MetaData: { Quality: 1 } }, '{"Quality":1}'],
    ['with an unknown member outside MetaData alone', { Awards: 1 }, undefined],
  ])('no currency %s', async (_, parts, meta) => {
    const pieces = await onePiece({ BasicDetails: { InternalId: 1 }, ...parts })
    expect([pieces.currency, pieces.meta]).toEqual([undefined, meta])
    expect(JSON.parse(companyText(pieces))).toEqual({ BasicDetails: { InternalId: 1 }, ...parts })
  })

  test('no meta where the currency is all there is', async () => {
    const line = { BasicDetails: { InternalId: 1 }, MetaData: { CurrentCurrencyCode: 'SEK' } }
    const pieces = await onePiece(line)
    expect([pieces.currency, pieces.meta]).toEqual(['"SEK"', undefined])
    expect(JSON.parse(companyText(pieces))).toEqual(line)
  })

  test.each([
    ['__proto__', 'TotalAssets'],
    ['BalanceSheet', '\ufeffTotalAssets'],
    ['\ufeffa "quoted" \\ name', '株式 🚀'],
  ])('figures of category "%s" and line item "%s"', async (category, item) => {
    const line = figuresLine('1', '"2023":1', category, item)
    const pieces = await onePiece(line)
    expect(pieces.financials).toBe(`{${JSON.stringify(category)}:{${JSON.stringify(item)}:{"2023":1}}}`)
    expect(canonical(companyText(pieces), 'companies')).toBe(canonical(line, 'companies'))
  })

  test('figures as JavaScript writes them', async () => {
    const figures = [
      ['-0.0', '-0'],
      ['1e21', '1e+21'],
      ['1e-7', '1e-7'],
      ['-5e-324', '-5e-324'],
      ['1.7976931348623157e+290', '1.7976931348623157e+290'],
      ['9007199254740993', '9007199254740992'],
      ['99999999999.5', '99999999999.5'],
      ['-12345678.0625', '-12345678.0625'],
      ['0.00005', '0.00005'],
      ['0.30000000000000004', '0.30000000000000004'],
      ['100.10', '100.1'],
      ['-7', '-7'],
    ]
    const pieces = await piecesOf(...figures.map(([figure], at) => figuresLine(`${at}`, `"2023":${figure}`)))
    expect(pieces.map(({ financials }) => financials)).toEqual(
      figures.map(([, text]) => `{"BalanceSheet":{"TotalAssets":{"2023":${text}}}}`),
    )
  })

  test('figures as reported where the scale cannot be taken off again', async () => {
    const years = Array.from({ length: 300 }, (_, at) => `"${1700 + at}":${(at + 1) / 7}`).join(',')
    const line = figuresLine('1', years).replace(/}$/, ',"MetaData":{"FinancialFigureScale":"Millions"}}')
    const pieces = await onePiece(line)
    expect(pieces.financials).toBe(`{"BalanceSheet":{"TotalAssets":{${years}}}}`)
  })

  test('ids of 64 bits, ascending, each with its own figures', async () => {
    const ids = ['9223372036854775807', '9007199254740993', '9007199254740992', '-5', '12']
    const pieces = await piecesOf(
      ...ids.map((id, at) => figuresLine(id, `"2023":${at}`)),
      '{"BasicDetails":{"InternalId":13}}',
    )
    expect(pieces.map(({ id, financials }) => [id, financials?.match(/\d+}/)?.[0]])).toEqual([
      [-5n, '3}'],
      [12n, '4}'],
      [13n, undefined],
      [9007199254740992n, '2}'],
      [9007199254740993n, '1}'],
      [9223372036854775807n, '0}'],
    ])
    expect(pieces.at(-1)?.rest).toBe('{"BasicDetails":{"InternalId":9223372036854775807}}')
  })

  test('figures of more line items than a list is searched for', async () => {
    const lines = [1, 2, 3].map((InternalId) => {
      const named = Array.from({ length: 400 }, (_, at) => [
        `${InternalId} ${String(at).padStart(3, '0')}`,
        at,
      ])
      const items = Object.fromEntries(named.map(([name, at]) => [name, { 2021: at, 2023: InternalId }]))
      return {
        BasicDetails: { InternalId },
        Financials: { Own: items },
        UnconsolidatedFinancials: { Own: items },
      }
    })
    const pieces = await piecesOf(...lines)
    expect(pieces.map(({ financials, unconsolidated }) => [financials, unconsolidated])).toEqual(
      lines.map(({ Financials: figures }) => [JSON.stringify(figures), JSON.stringify(figures)]),
    )
  })

  test('texts with every character that JSON escapes, and none that it does not', async () => {
    const name = '"\\/\b\f\n\r\t\u0000\u001f\u007f\u2028\u2029é株🚀'
    const { rest } = await onePiece({
      BasicDetails: { InternalId: 1, CompanyName: name, PreviousNames: ['', name] },
    })
    const text = JSON.stringify(name).replace('\\u001f', '\\u001F')
    expect(rest).toBe(`{"BasicDetails":{"InternalId":1,"CompanyName":${text},"PreviousNames":["",${text}]}}`)
  })

  test('figures of more bytes than are written at once', async () => {
    const items = Object.fromEntries(
      Array.from({ length: 400 }, (_, at) => [`${'å'.repeat(150)}${at}`, { 2023: at }]),
    )
    const line = { BasicDetails: { InternalId: 1 }, Financials: { Own: items } }
    expect(JSON.parse(companyText(await onePiece(line)))).toEqual(line)
  })
})

test('slicesOf parts records by ascending ids, none left out, none twice', async () => {
  const ids = [
    '-9223372036854775808',
    '-1',
    '5',
    '6',
    '9007199254740993',
    '9007199254740994',
    '9007199254740995',
  ]
  const lake = await bench.load({ content: 'companies', lines: ids.map((id) => figuresLine(id, '"2023":1')) })
  const slices = await inSession(lake, async (request) => {
    const found: string[][] = []
    for await (const _ of slicesOf(request, 'companies', { companies: 3 })) {
      const rows = await request.session.rows(
        `SELECT internal_id::VARCHAR AS id FROM ${sliceView('companies')} JOIN ${sliceView('financials')} USING (internal_id) ORDER BY internal_id`,
      )
      found.push(rows.map(({ id }) => String(id)))
    }
    return found
  })
  expect(slices.length).toBe(3)
  expect(slices.flat()).toEqual(ids)
})
