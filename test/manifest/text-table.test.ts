import { expect, test } from 'vitest'
import { TextTable } from '../../src/manifest/text-table.ts'

test('TextTable knows each text that was added, what was said of it, and whether it was marked', () => {
  const table = new TextTable()
  const texts = Array.from({ length: 5000 }, (_, at) => `companies/load=${at % 7}/${at}.parquet`)
  expect(texts.map((text) => table.add(text, text))).toEqual(texts.map(() => 'new'))
  expect(table.size).toBe(5000)
  expect(texts.every((text) => table.has(text) && table.add(text, text) === 'same')).toBe(true)
  expect(table.add(texts[17] ?? '', 'other')).toBe('other')
  expect(texts.some((text) => table.has(`${text} `))).toBe(false)
  const marked = texts.slice(0, 1000)
  expect(marked.every((text) => table.mark(text)) && marked.every((text) => !table.mark(text))).toBe(true)
  // Growing keeps the marks.
  for (let at = 0; at < 5000; at += 1) table.add(`more ${at}`)
  expect(texts.filter((text) => !table.mark(text))).toEqual(marked)
})
