/** Every page can be read in one sitting, opens with what its reader can do afterwards, and draws what is declared. */

import { expect, test } from 'vitest'
import { TABLES } from '../../src/lake/tables/tables.ts'
import { pages, readPage } from '../support/page.ts'

const MAX_WORDS = 2_500

const wordCount = (text: string): number => text.split(/\s+/).filter((word) => word !== '').length

/** The pages that people write. */
const READ = pages().filter((page) => !page.startsWith('docs/reference/'))

test.each(READ)(`%s has at most ${MAX_WORDS} words`, (page) => {
  expect(wordCount(readPage(page))).toBeLessThanOrEqual(MAX_WORDS)
})

/** The text between the title and the first heading, block or list. */
const openingOf = (text: string): string => text.split(/\n\n/)[1] ?? ''

test.each(READ.filter((page) => page.startsWith('docs/')))(
  'the first sentence of %s says what its reader can do afterwards',
  (page) => {
    expect(openingOf(readPage(page))).toMatch(/^After this page you can [^.]+(\.\w[^.]*)*\.(\s|$)/)
  },
)

test('docs/glossary.md has half a page', () => {
  expect(wordCount(readPage('docs/glossary.md'))).toBeLessThanOrEqual(400)
})

test('the diagram of docs/tables.md has the tables with their keys', () => {
  const [, diagram = ''] = /```mermaid\n([\s\S]*?)```/.exec(readPage('docs/tables.md')) ?? []
  const drawn = [...diagram.matchAll(/^ {2}(\w+) \{\n([\s\S]*?)^ {2}\}/gm)].map(
    ([, name = '', body = '']) => [
      name,
      [...body.matchAll(/^ +\w+ (\w+) PK$/gm)].map(([, column = '']) => column),
    ],
  )
  expect(Object.fromEntries(drawn)).toEqual(Object.fromEntries(TABLES.map(({ name, key }) => [name, key])))
})

test('the diagram of docs/tables.md names columns and types that are declared', () => {
  const [, diagram = ''] = /```mermaid\n([\s\S]*?)```/.exec(readPage('docs/tables.md')) ?? []
  for (const { name, columns } of TABLES) {
    const [, body = ''] = new RegExp(`^ {2}${name} \\{\\n([\\s\\S]*?)^ {2}\\}`, 'm').exec(diagram) ?? []
    const declared = columns.map((column) => `${column.type} ${column.name}`)
    const drawn = [...body.matchAll(/^ +(\w+ \w+)/gm)].map(([, column = '']) => column)
    expect(drawn.length).toBeGreaterThan(0)
    expect(
      drawn.filter((column) => !declared.includes(column)),
      name,
    ).toEqual([])
  }
})
