import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { DOCUMENTS, INTERFACES } from '../../docs/generate.ts'
import { llmsText } from '../../docs/llms-text.ts'
import { newProgram } from '../../src/cli/new-program.ts'
import { ERROR_CODES } from '../../src/core/errors.ts'

const DOCS = join(import.meta.dirname, '../../docs')

test('src/options/interfaces.ts is what the tables of options and of the lake say', () => {
  expect(readFileSync(join(DOCS, '../src/options/interfaces.ts'), 'utf8')).toBe(INTERFACES)
})

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

test('DEPENDENCIES.md names every package and its exact version', () => {
  const text = readFileSync(join(DOCS, '../DEPENDENCIES.md'), 'utf8')
  const { dependencies, devDependencies } = JSON.parse(
    readFileSync(join(DOCS, '../package.json'), 'utf8'),
  ) as Record<'dependencies' | 'devDependencies', Record<string, string>>
  for (const [name, pinned] of Object.entries({ ...dependencies, ...devDependencies })) {
    // A folder of the project has its own package.json.
    const [, folder] = /^file:(.*)$/.exec(pinned) ?? []
    const version: string =
      folder === undefined
        ? pinned
        : JSON.parse(readFileSync(join(DOCS, '..', folder, 'package.json'), 'utf8')).version
    expect(version, name).toMatch(/^\d/)
    expect(text, name).toContain(`| ${name} | ${version} |`)
  }
})

test('docs/troubleshooting.md names codes, options and commands that there are', async () => {
  const text = readFileSync(join(DOCS, 'troubleshooting.md'), 'utf8')
  const codes = [...text.matchAll(/`([A-Z]+_[A-Z_]+|USAGE)`/g)].map(([, code = '']) => code)
  const known = new Set<string>(Object.keys(ERROR_CODES))
  expect(codes.length).toBeGreaterThan(15)
  expect(codes.filter((code) => !known.has(code) && !code.startsWith('FIRMLAKE_'))).toEqual([])
  const program = await newProgram()
  const commands = new Set(program.commands.map((one) => one.name()))
  const options = new Set(
    program.commands
      .flatMap((one) => [one, ...one.commands])
      .flatMap((one) => one.options.map(({ long }) => long)),
  )
  const [calls, flags] = [[...text.matchAll(/`firmlake ([a-z]+)/g)], [...text.matchAll(/`(--[a-z-]+)/g)]]
  expect(calls.map(([, name = '']) => name).filter((name) => !commands.has(name))).toEqual([])
  expect(
    flags.map(([, name = '']) => name).filter((name) => !options.has(name) && name !== '--config'),
  ).toEqual([])
})
