import { expect, test } from 'vitest'
import { definitionsText } from '../../docs/definitions-text.ts'
import { definitionNames, definitionsFor, namesIn, parseDefinition } from '../../src/analysis/definitions.ts'
import { documentationOf } from '../../src/analysis/documentation.ts'
import { LINE_ITEMS } from '../../src/contract/line-items.ts'
import { Engine, type Session } from '../../src/lake/duckdb/engine.ts'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { keptStatements } from '../../src/lake/views/lake-sql.ts'
import { factStatements } from '../../src/lake/views/source-macros.ts'

const EMPTY = {
  lake: '/none',
  listed: { partitions: [], files: [], versions: [] },
  facts: async function* () {},
  computed: [],
}

const withViews = async (use: (session: Session) => Promise<void>): Promise<void> => {
  const engine = await Engine.open({ memoryBytes: 256 * 1024 ** 2 })
  try {
    const session = await engine.connect()
    for await (const sql of keptStatements(EMPTY)) await session.run(sql)
    // Snapshots stand in the folder of a lake, and here is none.
    for await (const sql of factStatements('snapshots', EMPTY.facts())) await session.run(sql)
    await use(session)
  } finally {
    engine.close()
  }
}

/** What a macro is called with for the names of its columns. */
const call = (signature: string): string =>
  signature
    .replace(/\b(item|target|searched)\b/g, "'x'")
    .replace(/\binstant\b/g, "'2026-01-01'")
    .replace(/\b(id|n|depth|from_year|to_year)\b/g, '1')
    .replace(/\bids\b/g, '[1]')

test('the head of each definition names its columns and parameters, in their order', async () => {
  await withViews(async (session) => {
    for (const definition of definitionsFor()) {
      const { name, kind, signature } = definition
      const { columns, parameters } = documentationOf(definition)
      expect(
        `${name}${parameters.length === 0 ? '' : `(${parameters.map(([one]) => one).join(', ')})`}`,
      ).toBe(signature)
      if (kind === 'macro' || name === 'financials_wide') continue
      const described = await session.describe(`FROM ${call(signature)}`)
      const [table] = TABLES.filter((one) => name.startsWith(`${one.name}_as_`))
      const listed = columns.flatMap(([column]) =>
        column === '…' ? (table?.columns.map((one) => one.name) ?? []) : [column],
      )
      expect([name, ...listed]).toEqual([name, ...described.map((column) => column.name)])
    }
  })
})

test('every example of a head is a statement that runs', async () => {
  await withViews(async (session) => {
    for (const definition of definitionsFor()) {
      const { example } = documentationOf(definition)
      expect(await session.rows(example)).toBeDefined()
    }
  })
})

test('financials_wide has a column for each line item of the contract, line_item_names its row', async () => {
  await withViews(async (session) => {
    const columns = await session.describe('FROM financials_wide')
    expect(columns.slice(8).map(({ name }) => name)).toEqual(LINE_ITEMS.map(({ lineItem }) => lineItem))
    const rows = await session.rows(
      'SELECT category, line_item, unit, kind FROM line_item_names ORDER BY 1, 2',
    )
    const expected = LINE_ITEMS.map(({ category, lineItem, unit, kind }) => ({
      category,
      line_item: lineItem,
      unit,
      kind,
    }))
    const key = (row: object): string => JSON.stringify(row)
    expect(rows.map(key).sort()).toEqual(expected.map(key).sort())
  })
})

test('definitionsFor gives what is named behind all that it uses, and nothing else', () => {
  const names = definitionsFor(['peers', 'no such view']).map(({ name }) => name)
  expect(names.at(-1)).toBe('peers')
  expect(names.toSorted()).toEqual([
    'company_industries',
    'company_names',
    'figures',
    'peers',
    'rates',
    'rates_by_year',
  ])
  expect(names.indexOf('rates')).toBeLessThan(names.indexOf('rates_by_year'))
  expect(definitionsFor()).toHaveLength(definitionNames().size)
})

test('namesIn finds names in any letter case, and no part of one', () => {
  expect([...namesIn('FROM Peers(1, 2) JOIN my_rates')]).toEqual(['peers'])
})

test.each([
  ['another name', '-- About.\nCREATE OR REPLACE VIEW b AS SELECT 1;'],
  ['no head', 'CREATE OR REPLACE VIEW a AS SELECT 1;'],
  ['no definition', '-- About.\nSELECT 1;'],
  ['a macro without parentheses', '-- About.\nCREATE OR REPLACE MACRO a AS 1;'],
])('parseDefinition refuses %s', (_what, text) => {
  expect(() => parseDefinition('a', text)).toThrow('Cannot use "a.sql"')
})

test('every definition stands on the page, and every rule in quality_findings with what it finds in sound data', () => {
  const all = definitionsFor()
  const page = definitionsText()
  for (const { signature } of all) expect(page).toContain(`### ${signature}\n`)
  const rules = all.filter(({ name }) => name.startsWith('quality_') && name !== 'quality_findings')
  const findings = all.find(({ name }) => name === 'quality_findings')
  expect(findings?.uses.toSorted()).toEqual(rules.map(({ name }) => name).sort())
  for (const rule of rules) expect([rule.name, documentationOf(rule).found]).not.toContain(undefined)
})
