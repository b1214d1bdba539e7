import fc from 'fast-check'
import { expect, test } from 'vitest'
import { displayWidth, fitTable, textTable } from '../../../src/cli/output/text-table.ts'

const lines = (titles: string[], rows: string[][], width: number, right: number[] = []): string[] => {
  const columns = titles.map((title, at) => ({ title, right: right.includes(at) }))
  const fitted = fitTable(columns, rows, width)
  return textTable(fitted.columns, fitted.rows)
}

test('fitTable leaves a table alone that fits', () => {
  const rows = [['Alfa', '12']]
  expect(lines(['name', 'n'], rows, 8)).toEqual(['name  n', '────  ──', 'Alfa  12'])
  expect(fitTable([{ title: 'name' }, { title: 'n' }], rows, 8)).toMatchObject({ shortened: 0, excluded: 0 })
})

test('fitTable shortens the longest texts first and says how many', () => {
  const rows = [['Alfa', 'a text that is much too long', 'another one of them']]
  const fitted = fitTable([{ title: 'name' }, { title: 'a' }, { title: 'b' }], rows, 40)
  expect(fitted).toMatchObject({ shortened: 2, excluded: 0 })
  expect(fitted.rows).toEqual([['Alfa', 'a text that is …', 'another one of …']])
})

test('fitTable never cuts a number: a column that does not fit is left out with all behind it', () => {
  const rows = [['Alfa Aktiebolag', '12345678901234567890', 'x']]
  const fitted = fitTable([{ title: 'name' }, { title: 'n', right: true }, { title: 'z' }], rows, 30)
  expect(fitted).toMatchObject({ shortened: 0, excluded: 2, rows: [['Alfa Aktiebolag', '…']] })
  expect(
    fitTable([{ title: 'n', right: true }, { title: 'z' }], [['12345678901234567890', 'x']], 10),
  ).toMatchObject({ excluded: 1, rows: [['12345678901234567890', '…']] })
})

test('fitTable measures what is shown: two columns for a wide character, six for a control character', () => {
  expect(fitTable([{ title: 'a' }], [['日本語日本語日本語']], 13)).toMatchObject({
    shortened: 1,
    rows: [['日本語日本語…']],
  })
  expect(fitTable([{ title: 'a' }], [[`${'x'.repeat(9)}\u001b`]], 12).rows).toEqual([['xxxxxxxxx\\u…']])
})

test('fitTable: no line is wider than the terminal, unless one number alone is', () => {
  const text = fc.string({ unit: fc.constantFrom('a', 'é', '日', '🙂', ' ', '\n'), maxLength: 30 })
  const table = fc.array(fc.boolean(), { minLength: 1, maxLength: 9 }).chain((right) =>
    fc.record({
      columns: fc.tuple(...right.map((one) => fc.record({ title: text, right: fc.constant(one) }))),
      rows: fc.array(fc.tuple(...right.map((one) => (one ? fc.integer().map(String) : text))), {
        maxLength: 4,
      }),
    }),
  )
  fc.assert(
    fc.property(table, fc.integer({ min: 24, max: 120 }), ({ columns, rows }, width) => {
      const fitted = fitTable(columns, rows, width)
      for (const line of textTable(fitted.columns, fitted.rows))
        expect(displayWidth(line)).toBeLessThanOrEqual(width)
      for (const [at, row] of rows.entries())
        for (const [column, { right }] of columns.slice(0, columns.length - fitted.excluded).entries())
          if (right) expect(fitted.rows[at]?.[column]).toBe(row[column])
    }),
  )
})
