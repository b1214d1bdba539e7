import { describe, expect, test } from 'vitest'
import { RecordChecker } from '../../../src/check/record/check-record.ts'
import { Rejection } from '../../../src/check/scan/json-scan.ts'
import type { Content } from '../../../src/contract/objects.ts'
import type { RejectCode } from '../../../src/core/lines.ts'
import { newSeenSets } from '../../../src/rows/seen-sets.ts'
import { isValid } from '../../load/valid-record.ts'

/** The code of a rejected line, its id where it is accepted. */
const verdict = (line: string | Buffer, content: Content = 'companies', maxDepth = 256): string => {
  const bytes = Buffer.from(line)
  try {
    return new RecordChecker(content, newSeenSets(), { maxDepth }).check(bytes, 0, bytes.length).id
  } catch (error) {
    if (error instanceof Rejection) return error.code
    throw error
  }
}
const reasonOf = (line: string, content: Content = 'companies'): string => {
  const bytes = Buffer.from(line)
  try {
    new RecordChecker(content, newSeenSets()).check(bytes, 0, bytes.length)
  } catch (error) {
    if (error instanceof Rejection) return error.reason
  }
  return ''
}

const ID = '"BasicDetails":{"InternalId":1}'
const company = (member: string): string => `{${ID},${member}}`
const basic = (member: string): string => `{"BasicDetails":{"InternalId":1,${member}}}`
const netSales = (years: string): string => company(`"Financials":{"ProfitAndLoss":{"NetSales":${years}}}`)
const scaledSales = (scale: string, years: string): string =>
  company(
    `"Financials":{"ProfitAndLoss":{"NetSales":${years}}},"MetaData":{"FinancialFigureScale":"${scale}"}`,
  )
const parent = (member: string): string => `{"InternalId":1,"Parents":[{"InternalId":2,${member}}]}`

describe('check refuses a company line', () => {
  const cases: Partial<Record<RejectCode, readonly string[]>> = {
    NOT_JSON: [
      'hello',
      '{',
      `{${ID}`,
      `{${ID},}`,
      company('"Score":1,'),
      basic('"PreviousNames":["a",]'),
      `// comment\n{${ID}}`,
      `{${ID}/* comment */}`,
      "{'BasicDetails':{'InternalId':1}}",
      '{BasicDetails:{"InternalId":1}}',
      `{${ID}}{${ID}}`,
      `{${ID}} x`,
      `{${ID}}]`,
      `{${ID} "Score":1}`,
      company('"Score" 1'),
      company('"Score":'),
      company('"Score":01'),
      company('"Score":-'),
      company('"Score":+1'),
      company('"Score":1.'),
      company('"Score":.5'),
      company('"Score":1e'),
      company('"Score":0x10'),
      company('"Score":tru'),
      company('"Score":nul'),
      company('"Foo":undefined'),
      basic('"CompanyName":"tab\there"'),
      basic('"CompanyName":"bell\u0007"'),
      basic('"CompanyName":"nul\u0000"'),
      basic('"CompanyName":"\\x41"'),
      basic('"CompanyName":"\\u12G4"'),
      basic('"CompanyName":"\\u12"'),
      basic('"CompanyName":"open'),
      basic('"CompanyName":"\\"'),
      netSales('{"2020":1,}'),
      netSales('{"2020":01}'),
      netSales('{"2020":1 "2021":2}'),
      netSales('{2020:1}'),
      `\ufeff{${ID}}`,
    ],
    NOT_UTF8: [
      basic('"CompanyName":"\\ud800"'),
      basic('"CompanyName":"\\udc00"'),
      basic('"CompanyName":"\\ud800\\u0041"'),
      basic('"CompanyName":"\\udbff\\ud800"'),
      company('"Foo\\ud800":1'),
      company('"Foo":["\\udfff"]'),
      netSales('{"\\ud800":1}'),
    ],
    WRONG_SHAPE: [
      '[]',
      '1',
      'null',
      '"text"',
      'true',
      '{"BasicDetails":[]}',
      '{"BasicDetails":"x"}',
      '{"BasicDetails":{"InternalId":[]}}',
      '{"BasicDetails":{"InternalId":{}}}',
      basic('"CompanyName":1'),
      basic('"CompanyName":["a"]'),
      basic('"LegalForm":{}'),
      basic('"Address":"x"'),
      basic('"Address":{"City":false}'),
      basic('"PreviousNames":"x"'),
      basic('"PreviousNames":[1]'),
      basic('"PreviousNames":{}'),
      basic('"HasReportedMissingUBO":1'),
      basic('"HasReportedMissingUBO":"true"'),
      basic('"IndustryCode":{"IndustryCodes":{}}'),
      basic('"IndustryCode":{"IndustryCodes":["x"]}'),
      basic('"IndustryCode":{"IndustryCodes":[null]}'),
      company('"MetaData":{"GeneratedAt":1}'),
      company('"MetaData":{"FinancialFigureScale":1}'),
      company('"EnhancedDetails":{"Employees":[]}'),
      company('"Score":[1]'),
      company('"Financials":[]'),
      company('"Financials":{"BalanceSheet":1}'),
      company('"Financials":{"BalanceSheet":{"TotalAssets":1}}'),
      company('"Financials":{"Foo":{"Bar":[]}}'),
      netSales('{"2020":{}}'),
    ],
    DUPLICATE_KEY: [
      `{${ID},${ID}}`,
      '{"BasicDetails":{"InternalId":1,"InternalId":2}}',
      '{"BasicDetails":{"InternalId":1,"\\u0049nternalId":2}}',
      `{${ID},"Basic\\u0044etails":null}`,
      company('"Foo":1,"Foo":1'),
      company('"Foo":null,"F\\u006fo":1'),
      company('"__proto__":1,"__proto__":2'),
      company('"Foo":{"a":1,"a":2}'),
      company('"Foo":[{"a":{"b":1,"\\u0062":2}}]'),
      basic('"Address":{"City":"a","City":"b"}'),
      basic('"IndustryCode":{"IndustryCodes":[{"Code":"a","Code":"b"}]}'),
      company('"Financials":{"CashFlow":{},"CashFlow":{}}'),
      company('"Financials":{"Foo":{},"\\u0046oo":null}'),
      company('"Financials":{"CashFlow":{"NetChangeInCash":{},"NetChangeInCash":{}}}'),
      company('"Financials":{"CashFlow":{"Foo":{},"F\\u006fo":{}}}'),
      netSales('{"2020":1,"2020":1}'),
      netSales('{"2020":1,"2019":2,"\\u0032020":3}'),
      company('"EnhancedDetails":{"Employees":{"2020":1,"2020":1}}'),
    ],
    ID_MISSING: [
      '{}',
      '{"BasicDetails":null}',
      '{"BasicDetails":{}}',
      '{"BasicDetails":{"InternalId":null}}',
      '{"BasicDetails":{"internalid":1}}',
      '{"InternalId":1}',
      '{"MinifiedInfo":{"InternalId":1}}',
    ],
    ID_NOT_WHOLE: [
      '{"BasicDetails":{"InternalId":1.5}}',
      '{"BasicDetails":{"InternalId":"abc"}}',
      '{"BasicDetails":{"InternalId":""}}',
      '{"BasicDetails":{"InternalId":"1.0"}}',
      '{"BasicDetails":{"InternalId":"1E1"}}',
      '{"BasicDetails":{"InternalId":" 1"}}',
      '{"BasicDetails":{"InternalId":true}}',
      '{"BasicDetails":{"InternalId":9223372036854775808}}',
      '{"BasicDetails":{"InternalId":-9223372036854775809}}',
      '{"BasicDetails":{"InternalId":"9223372036854775808"}}',
      '{"BasicDetails":{"InternalId":1e300}}',
      '{"BasicDetails":{"InternalId":9007199254740993.0}}',
      `{"BasicDetails":{"InternalId":${'1'.repeat(300)}}}`,
    ],
    NOT_A_NUMBER: [
      basic('"LegalForm":true'),
      basic('"LegalForm":"one"'),
      company('"Score":false'),
      company('"Score":""'),
      company('"Score":"1,5"'),
      company('"Score":"0x1"'),
      company('"LinkedIn":{"Followers":"many"}'),
      netSales('{"2020":true}'),
      netSales('{"2020":"1 000"}'),
      company('"EnhancedDetails":{"Employees":{"2020":false}}'),
    ],
    NOT_WHOLE: [
      basic('"LegalForm":1.5'),
      basic('"LegalForm":"1E1"'),
      basic('"LegalForm":9223372036854775808'),
      company('"MetaData":{"FiscalYearLength":1e-1}'),
    ],
    NOT_FINITE: [
      company('"Score":NaN'),
      company('"Score":Infinity'),
      company('"Score":-Infinity'),
      company('"Score":1e400'),
      company('"Score":"-1e400"'),
      company(`"Score":${'9'.repeat(310)}`),
      basic('"CompanyName":NaN'),
      netSales('{"2020":NaN}'),
      netSales('{"2020":-1e999}'),
      netSales(`{"2020":${'9'.repeat(320)}}`),
      company('"EnhancedDetails":{"Employees":{"2020":1e309}}'),
      scaledSales('Thousands', '{"2020":1.7976931348623159e305}'),
      scaledSales('Millions', '{"2020":"-2e302"}'),
      scaledSales('Billions', '{"2019":1,"2020":1e300}'),
      scaledSales('Billions', `{"2020":${'9'.repeat(300)}}`),
      scaledSales('Billions', `{"2020":-1${'0'.repeat(300)}.5}`),
      `{"MetaData":{"FinancialFigureScale":"Billions"},${ID},"UnconsolidatedFinancials":{"Cash\\u0046low":{"NetChangeInCash":{"2020":1e306}}}}`,
      company('"Foo":NaN'),
      company('"Foo":[1,{"a":1e400}]'),
    ],
    YEAR_INVALID: [
      ...[
        '20x9',
        ' 2019',
        '02019',
        '19999',
        '',
        '0',
        '0999',
        '-2019',
        '2019.0',
        'FY2019',
        '２０１９',
        '__proto__',
      ].map((year) => netSales(`{"${year}":1}`)),
      netSales('{"2019":1,"2020 ":2}'),
      company('"EnhancedDetails":{"EmployeesUnconsolidated":{"201":1}}'),
    ],
    SCALE_UNKNOWN: ['Trillions', 'thousands', '', 'Thousands ', '__proto__', 'constructor'].map((scale) =>
      company(`"MetaData":{"FinancialFigureScale":"${scale}"}`),
    ),
  }
  test.each(Object.entries(cases))('as %s', (code, lines) => {
    expect(lines.map((line) => [line, verdict(line)])).toEqual(lines.map((line) => [line, code]))
    expect(lines.filter((line) => isValid(Buffer.from(line), 'companies'))).toEqual([])
  })
})

describe('check refuses a relations line', () => {
  const cases: Partial<Record<RejectCode, readonly string[]>> = {
    WRONG_SHAPE: [
      parent('"Citizenships":"Sweden"'),
      parent('"Citizenships":[1]'),
      parent('"Addresses":"secret"'),
      parent('"Addresses":["secret"]'),
      parent('"Addresses":[["Protected Identity"]]'),
      parent('"Addresses":["Protected Identity","secret"]'),
      parent('"BirthDate":1970'),
      parent('"IsCompany":"yes"'),
      parent('"History":{}'),
      parent('"History":["Protected Identity"]'),
      parent('"Ownerships":[null]'),
      '{"InternalId":1,"Parents":[null]}',
      '{"InternalId":1,"Parents":"Protected Identity"}',
      '{"InternalId":1,"UBODetails":[]}',
    ],
    DUPLICATE_KEY: [
      '{"InternalId":1,"InternalId":1}',
      parent('"InternalId":2'),
      parent('"History":[{"InternalId":3,"History":[],"History":[]}]'),
      parent('"KeyPersonRoles":[{"Id":1,"Id":1}]'),
      parent('"Foo":1,"Foo":2'),
    ],
    ID_MISSING: ['{}', '{"Parents":[{"InternalId":1}]}', '{"BasicDetails":{"InternalId":1}}'],
    ID_NOT_WHOLE: [
      '{"InternalId":1.5}',
      parent('"History":[{"InternalId":true}]'),
      '{"InternalId":1,"Children":[{"InternalId":"x"}]}',
    ],
    NOT_A_NUMBER: [parent('"Ownerships":[{"OwnershipStake":true}]'), parent('"KeyPersonRoles":[{"Id":"x"}]')],
    NOT_WHOLE: [parent('"KeyPersonRoles":[{"Id":1.5}]')],
    NOT_FINITE: [
      parent('"UltimateOwnerships":[{"MinVotes":1e400}]'),
      '{"InternalId":1,"TotalNumberOfShares":NaN}',
    ],
  }
  test.each(Object.entries(cases))('as %s', (code, lines) => {
    expect(lines.map((line) => [line, verdict(line, 'relations')])).toEqual(lines.map((line) => [line, code]))
    expect(lines.filter((line) => isValid(Buffer.from(line), 'relations'))).toEqual([])
  })
})

describe('check accepts', () => {
  test.each([
    [
      'nulls everywhere',
      '{"BasicDetails":{"InternalId":1,"LegalForm":null,"Address":null,"PreviousNames":null},"Financials":null,"Score":null,"Foo":null}',
    ],
    [
      'null categories, items and years',
      company('"Financials":{"BalanceSheet":null,"CashFlow":{"NetChangeInCash":null,"Foo":{"2020":null}}}'),
    ],
    [
      'empty objects and lists',
      '{"BasicDetails":{"InternalId":1,"Address":{},"PreviousNames":[],"IndustryCode":{"IndustryCodes":[{}]}},"Financials":{},"UnconsolidatedFinancials":{"BalanceSheet":{}},"MetaData":{},"Foo":{},"Bar":[]}',
    ],
    [
      'white space between all tokens',
      ' \t{ "BasicDetails" :\r{ "InternalId" : 1 , "PreviousNames" : [ "a" , null ] } , "Financials" : { "CashFlow" : { "NetChangeInCash" : { "2020" : 1 , "2021" : 2 } } } } \r',
    ],
    [
      'keys in reversed order',
      '{"Score":1,"Financials":{"CashFlow":{"NetChangeInCash":{"2021":1,"2020":2}}},"BasicDetails":{"OrgNo":"1","InternalId":1}}',
    ],
    [
      'keys written with escapes',
      '{"\\u0042asicDetails":{"Internal\\u0049d":1},"Financials":{"Cash\\u0046low":{"NetChangeInCash":{"\\u0032020":1}}}}',
    ],
    [
      '__proto__ as a key anywhere',
      '{"BasicDetails":{"InternalId":1,"__proto__":{}},"__proto__":1,"Financials":{"__proto__":{"__proto__":{"2020":1}}},"Foo":{"__proto__":[{"__proto__":1}]}}',
    ],
    ['empty keys outside the contract', company('"":{"":[{"":1}]},"Financials":{"":{"":{"2020":1}}}')],
    [
      'numbers of every form',
      company(
        '"Score":-0,"Foo":[1E+2,-0.5e-10,0,12345678901234567890123],"Financials":{"A":{"B":{"2020":1E+2,"2021":-0,"2022":0.0,"2023":1e-400}}}',
      ),
    ],
    [
      'numbers in quotes',
      '{"BasicDetails":{"InternalId":"1","LegalForm":"20"},"Score":"-1.5E2","Financials":{"A":{"B":{"2020":"0.5"}}}}',
    ],
    ['numbers of 295 digits', netSales(`{"2020":${'1'.repeat(295)},"2021":0.${'3'.repeat(400)}}`)],
    [
      'figures near the largest number without a scale',
      netSales('{"2020":1e299,"2021":"-1.7976931348623157e308"}'),
    ],
    [
      'figures that a scale leaves finite',
      scaledSales('Billions', '{"2020":1.797693134862315e299,"2021":-1E298}'),
    ],
    [
      'figures near the largest number that no scale is applied to',
      company(
        '"Financials":{"KeyFinancialRatio":{"PE":{"2020":1e308},"Foo":{"2020":1e308}},"Foo":{"NetSales":{"2020":1e308}}},"MetaData":{"FinancialFigureScale":"Billions"},"EnhancedDetails":{"Employees":{"2020":1e308}}',
      ),
    ],
    ['whole numbers with a fraction of 0', basic('"LegalForm":20.0,"CompanyType":7E0')],
    [
      'surrogate pairs and all escapes',
      basic('"CompanyName":"\\ud83d\\ude80\\"\\\\\\/\\b\\f\\n\\r\\t\\u0000\\u2028 🚀"'),
    ],
    [
      'another letter case as another name',
      '{"BasicDetails":{"InternalId":1,"internalId":"x"},"basicdetails":5}',
    ],
    ['a default scale and each known one', company('"MetaData":{"FinancialFigureScale":"No scale"}')],
  ])('%s', (_name, line) => {
    expect(verdict(line)).toBe('1')
    expect(isValid(Buffer.from(line), 'companies')).toBe(true)
  })

  test('masked lists of every form', () => {
    const mask = '"Protected Identity"'
    const line = parent(
      `"Citizenships":${mask},"CountryOfResidences":[${mask}],"Addresses":[${mask},{"City":"x"}],"Name":${mask}`,
    )
    expect(verdict(line, 'relations')).toBe('1')
  })
})

test.each([
  ['9223372036854775807', '9223372036854775807'],
  ['-9223372036854775808', '-9223372036854775808'],
  ['"9007199254740993"', '9007199254740993'],
  ['0', '0'],
  ['-0', '0'],
  ['1E+2', '100'],
  ['12.0', '12'],
])('check reads the InternalId %s as %s', (written, id) => {
  expect(verdict(`{"BasicDetails":{"InternalId":${written}}}`)).toBe(id)
  expect(verdict(`{"Parents":[],"InternalId":${written}}`, 'relations')).toBe(id)
})

describe('check counts JSON levels up to maxDepth', () => {
  const nested = (levels: number): string => '['.repeat(levels) + ']'.repeat(levels)
  const history = (levels: number): string =>
    '{"InternalId":2,"History":['.repeat(levels) + ']}'.repeat(levels)
  test.each([
    ['lists outside the contract', 'companies', company(`"Foo":${nested(5)}`), 6],
    ['objects outside the contract', 'companies', company('"Foo":{"a":{"b":{}}}'), 4],
    ['a series', 'companies', netSales('{"2020":1}'), 4],
    ['a series that is read carefully', 'companies', netSales('{"2021":1,"2020":1}'), 4],
    ['an empty category', 'companies', company('"Financials":{"CashFlow":{}}'), 3],
    ['employees', 'companies', company('"EnhancedDetails":{"Employees":{"2020":1}}'), 3],
    ['strings', 'companies', basic('"PreviousNames":[]'), 3],
    ['a history', 'relations', `{"InternalId":1,"Parents":[${history(40)}]}`, 82],
    ['a role in it', 'relations', parent('"History":[{"KeyPersonRoles":[{"Foo":[]}]}]'), 8],
  ] as const)('in %s', (_name, content, line, levels) => {
    expect(verdict(line, content, levels)).toBe('1')
    expect(verdict(line, content, levels - 1)).toBe('TOO_DEEP')
    expect(isValid(Buffer.from(line), content, levels)).toBe(true)
    expect(isValid(Buffer.from(line), content, levels - 1)).toBe(false)
  })

  test('and refuses a bomb without using the stack up', () => {
    expect(verdict(company(`"Foo":${'['.repeat(1_000_000)}`))).toBe('TOO_DEEP')
    expect(verdict(`{"InternalId":1,"Parents":[${history(100_000)}]}`, 'relations')).toBe('TOO_DEEP')
  })
})

describe('check says where', () => {
  test.each([
    [company('"Score":'), 'Unexpected character at byte 42 of the line'],
    [basic('"PreviousNames":["a",7]'), 'BasicDetails.PreviousNames[1] is a number, expected text'],
    [netSales('{"20x9":1}'), 'Financials.ProfitAndLoss.NetSales has a fiscal year that is no year'],
    ['{}', 'Record has no BasicDetails.InternalId'],
    [
      basic('"Address":{"City":"a","City":"b"}'),
      'Object with "BasicDetails.Address.City" has the same key twice',
    ],
    [
      company('"EnhancedDetails":{"Employees":{"2020":true}}'),
      'EnhancedDetails.Employees.2020 is a boolean, not a number',
    ],
  ])('%s', (line, reason) => {
    expect(reasonOf(line)).toBe(reason)
  })

  test('and never quotes what stands there', () => {
    const lines = ['"Secret"', '["Secret"]', 'Secret'].flatMap((value) => [
      basic(`"LegalForm":${value}`),
      basic(`"HasReportedMissingUBO":${value}`),
      company(`"MetaData":{"FinancialFigureScale":${value}}`),
      netSales(`{"Secret":${value}}`),
    ])
    for (const line of lines) {
      expect(reasonOf(line)).not.toBe('')
      expect(reasonOf(line)).not.toContain('Secret')
    }
  })
})

test('check counts drift of accepted lines, once a record', () => {
  const checker = new RecordChecker('relations', newSeenSets())
  const check = (line: string): void => {
    const bytes = Buffer.from(line)
    checker.check(bytes, 0, bytes.length)
  }
  check(parent('"Foo":1,"History":[{"Foo":1},{"Foo":2}]'))
  check(parent('"Foo":1'))
  expect(() => check(parent('"Bad":1,"Name":7'))).toThrow()
  check('{"InternalId":1,"LegalForm":777,"OperationalStatus":0,"Nothing":null}')
  expect(checker.takeDrift()).toEqual([
    { kind: 'field', name: 'Parents[].Foo', records: 2 },
    { kind: 'code', name: 'LegalForm=777', records: 1 },
    { kind: 'field', name: 'Parents[].History[].Foo', records: 1 },
  ])
  expect(checker.takeDrift()).toEqual([])
})
