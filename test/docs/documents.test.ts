import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DOCUMENTS } from '../../docs/generate.ts'

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
