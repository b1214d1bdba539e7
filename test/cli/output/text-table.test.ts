import { describe, expect, test } from 'vitest'
import { cutToWidth, displayWidth, printable, textTable } from '../../../src/cli/output/text-table.ts'

describe('textTable', () => {
  test('aligns text to the left and numbers to the right, without space at line ends', () => {
    const lines = textTable(
      [{ title: 'name' }, { title: 'rows', right: true }],
      [
        ['companies', '900'],
        ['roles', '2,439'],
      ],
    )
    expect(lines).toEqual(['name        rows', '─────────  ─────', 'companies    900', 'roles      2,439'])
  })

  test('counts two columns for a wide character', () => {
    expect(
      textTable(
        [{ title: 'n' }, { title: 'x' }],
        [
          ['日本', '1'],
          ['ab', '2'],
        ],
      ).slice(2),
    ).toEqual(['日本  1', 'ab    2'])
  })

  test('shows control characters and turned text instead of obeying them', () => {
    const [, , row] = textTable([{ title: 'x' }], [['a\n\u001b[2J\u202eb']])
    expect(row).toBe('a\\n\\u001b[2J\\u202eb')
  })
})

test.each([
  ['abc', 3],
  ['é', 1],
  ['e\u0301', 1],
  ['日本', 4],
  ['한국', 4],
  ['ｆ', 2],
  ['🙂', 2],
  ['👨‍👩‍👧', 2],
])('displayWidth of %s is %i', (text, width) => {
  expect(displayWidth(text)).toBe(width)
})

test('cutToWidth never passes the width', () => {
  expect(cutToWidth('abcdef', 6)).toBe('abcdef')
  expect(cutToWidth('abcdefg', 6)).toBe('abcde…')
  expect(cutToWidth('日本語', 4)).toBe('日…')
})

test('printable leaves ordinary text of any script alone', () => {
  expect(printable('Øresund 日本 – ok')).toBe('Øresund 日本 – ok')
})
