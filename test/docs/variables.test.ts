import { readdirSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT, readPage } from '../support/page.ts'

/** The variables that code reads, by their whole names. */
const variablesIn = (paths: readonly string[]): string[] => [
  ...new Set(
    paths.flatMap((path) => [...readPage(path).matchAll(/\bFIRMLAKE_[A-Z_]*[A-Z]/g)].map(([name]) => name)),
  ),
]

test('docs/nightly.md lists every variable of nightly', () => {
  const page = readPage('docs/nightly.md')
  const names = variablesIn(['src/nightly/night-settings.ts'])
  expect(names.length).toBeGreaterThan(8)
  // Those of the catalog stand with the catalog; the last is for those who look for a fault.
  const here = names.filter((name) => !/^FIRMLAKE_(CATALOG|DEBUG)/.test(name))
  expect(here.filter((name) => !page.includes(`\`${name}\``))).toEqual([])
})

test('the pages of configuration, nightly, observability, operations and serving name every variable that src/ reads', () => {
  const files = readdirSync(join(PROJECT, 'src'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.ts'))
    .map((name) => `src/${name.replaceAll('\\', '/')}`)
  const pages = ['configuration', 'nightly', 'observability', 'operations', 'serving']
    .map((name) => readPage(`docs/${name}.md`))
    .join('')
  const names = variablesIn(files)
  expect(names.length).toBeGreaterThan(10)
  expect(names.filter((name) => !pages.includes(`\`${name}\``))).toEqual([])
})
