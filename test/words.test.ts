/** The words of this project: what is always wrong is found, in comments, messages, help, pages and names. */

import { readdir, readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { filesNamedIn, wrongWordsIn } from './support/words.ts'

const ROOT = join(import.meta.dirname, '..')

const filesOf = async (): Promise<string[]> => {
  const below = async (folder: string, ending: RegExp): Promise<string[]> => {
    const names = await readdir(join(ROOT, folder), { recursive: true })
    return names
      .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
      .filter((name) => ending.test(name))
      .sort()
  }
  const pages = (await below('docs', /\.md$/)).filter((name) => !name.startsWith('docs/reference/'))
  return [...(await below('src', /\.ts$/)), ...pages, 'README.md', 'CONTRIBUTING.md', 'bench/README.md']
}

test('comments, messages, help, pages and names use none of the words that are always wrong', async () => {
  const found: string[] = []
  for (const file of await filesOf())
    found.push(...wrongWordsIn(file, await readFile(join(ROOT, file), 'utf8')))
  expect(found).toEqual([])
})

/** Folders that hold code. */
const CODE_FOLDERS = ['src', 'test', 'bench', 'data', 'docs', 'examples', 'pipelines', '.ci', 'etc'] as const

test('comments name no file that is gone', async () => {
  const all = (await readdir(ROOT)).filter((name) => /\.(?:md|ts)$/.test(name))
  for (const folder of CODE_FOLDERS)
    for (const name of await readdir(join(ROOT, folder), { recursive: true }))
      all.push(`${folder}/${name.replaceAll('\\', '/')}`)
  const isThere = (name: string): boolean =>
    all.some((one) => `/${one}`.endsWith(`/${name.replace(/^(?:\.{1,2}\/)+/, '')}`))
  const gone: string[] = []
  for (const file of all.filter((name) => /\.(?:ts|mjs)$/.test(name)))
    for (const [name, line] of filesNamedIn(file, await readFile(join(ROOT, file), 'utf8')))
      if (!isThere(name)) gone.push(`${file}:${line}: ${name}`)
  expect(gone).toEqual([])
})

test('filesNamedIn finds names of files in comments, and none in texts', () => {
  const text =
    "// As in `run/plan-run.ts`.\nconst a = 'x/gone.ts' // see notes.md\n/** Not a.ts, DIR/of.ts, nor dist/index.d.ts. */\n"
  const found = filesNamedIn('src/a.ts', text)
  expect(found.toSorted(([, one], [, other]) => one - other)).toEqual([
    ['run/plan-run.ts', 1],
    ['notes.md', 2],
  ])
})

test.each([
  ['a comment', 'src/a.ts', '// Of the lines only the first.\n', 'src/a.ts:1: "Of" (comment)'],
  ['a docstring', 'src/a.ts', 'a()\n\n/**\n * What a run\n * did.\n */\n', 'src/a.ts:3: "What" (comment)'],
  ['a comment that begins with a pronoun', 'src/a.ts', '// It goes first.\n', 'src/a.ts:1: "It" (comment)'],
  ['a message', 'src/a.ts', `throw new Error('Cannot read: it goes on')\n`, '"goes on" (message)'],
  ['help', 'src/cli/commands/a.ts', `.summary('whoever asks')\n`, '"whoever" (help)'],
  ['a page', 'docs/query.md', '# A\n\nThe file vanishes.\n', 'docs/query.md:3: "vanish" (docs)'],
  [
    'a comment behind a regular expression with a quote',
    'src/a.ts',
    "const MARK = /[`']/\n\n/** What ends it. */\nconst a = ''\n",
    'src/a.ts:3: "What" (comment)',
  ],
  ['a name', 'src/a.ts', 'const wanted = 1\n', '"wanted" (identifier)'],
])('wrongWordsIn finds a wrong word in %s', (_where, file, text, finding) => {
  expect(wrongWordsIn(file, text)).toEqual([expect.stringContaining(finding)])
})

test.each([
  ['code of a page', 'docs/query.md', 'Say `what was stopped`.\n\n```sh\necho goes on\n```\n'],
  ['a word within another', 'src/a.ts', '// Often unwanted.\nconst isWanted = 1\n'],
  ['a comment in a text', 'src/a.ts', `const url = 'https://a.b/Of'\n`],
])('wrongWordsIn leaves %s alone', (_what, file, text) => {
  expect(wrongWordsIn(file, text)).toEqual([])
})
