import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DOCUMENTS } from '../../docs/generate.ts'
import { llmsText } from '../../docs/llms-text.ts'

const DOCS = join(import.meta.dirname, '../../docs')

test.each(Object.keys(DOCUMENTS))('docs/reference/%s is what the declarations say', (name) => {
  expect(readFileSync(join(DOCS, 'reference', name), 'utf8')).toBe(DOCUMENTS[name])
})

test('docs/reference/ holds nothing else', () => {
  expect(readdirSync(join(DOCS, 'reference')).sort()).toEqual(
    // Written by hand; `format.test.ts` compares it with the forms.
    [...Object.keys(DOCUMENTS), 'format.md'].sort(),
  )
})

test('docs/llms.txt is an index of every page below docs/, by docs/README.md', () => {
  const text = readFileSync(join(DOCS, 'llms.txt'), 'utf8')
  expect(text).toBe(llmsText())
  expect(text).toMatch(/^# firmlake\n\n> .+\.\n\n/)
  expect([...text.matchAll(/^## (.*)$/gm)].map(([, title]) => title)).toEqual([
    ...['Load', 'Read', 'Serve and program', 'Operate', 'Optional'],
  ])
  const linked = [...text.matchAll(/^- \[[^\]]+\]\(([^)]+)\)/gm)].map(([, path]) => path)
  const files = readdirSync(DOCS, { recursive: true, encoding: 'utf8' })
  const pages = files.filter((name) => /\.md$/.test(name) && !/^(README|glossary)\.md$/.test(name))
  expect(linked).toEqual(expect.arrayContaining(pages))
})

test('docs/dependencies.md names every package and its exact version', () => {
  const text = readFileSync(join(DOCS, 'dependencies.md'), 'utf8')
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(DOCS, '../package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>
  for (const [name, version] of Object.entries({ ...dependencies, ...devDependencies })) {
    expect(version, name).toMatch(/^\d/)
    expect(text, name).toContain(`| ${name} | ${version} |`)
  }
})
