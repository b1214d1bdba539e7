import { existsSync, readdirSync, statSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { expect, test } from 'vitest'
import { PROJECT, pages, readPage } from '../support/page.ts'

/** As GitHub makes the anchor of a heading. */
const anchorOf = (heading: string): string =>
  heading
    .toLowerCase()
    .replaceAll(/[^\p{L}\p{N} _-]/gu, '')
    .replaceAll(' ', '-')

const withoutCode = (text: string): string => text.replaceAll(/```[\s\S]*?```/g, '')
const anchorsOf = (page: string): string[] =>
  [...withoutCode(readPage(page)).matchAll(/^#+ (.*)$/gm)].map(([, heading = '']) => anchorOf(heading))

const brokenLink = (page: string, link: string): string | undefined => {
  const [path = '', anchor] = link.split('#')
  const target = path === '' ? page : join(dirname(page), path)
  if (!existsSync(join(PROJECT, target))) return `${page}: ${link} leads to no file`
  if (anchor !== undefined && !anchorsOf(target).includes(anchor))
    return `${page}: ${link} leads to no heading`
  return undefined
}

test.each(pages())('every relative link of %s leads to a file and a heading', (page) => {
  const links = [...withoutCode(readPage(page)).matchAll(/\]\(([^)\s]+)\)/g)].map(([, link = '']) => link)
  const relative = links.filter((link) => !/^[a-z]+:/.test(link))
  expect(relative.flatMap((link) => brokenLink(page, link) ?? [])).toEqual([])
})

const codeIn = (folder: string): string[] =>
  readdirSync(join(PROJECT, folder), { recursive: true, encoding: 'utf8' })
    .map((name) => `${folder}/${name.replaceAll('\\', '/')}`)
    .filter((path) => path.endsWith('.ts') && statSync(join(PROJECT, path)).isFile())

test('every page that code names exists', () => {
  const named = ['src', 'pipelines', 'test', 'bench', 'data']
    .flatMap(codeIn)
    .concat(pages())
    .flatMap((path) => [...readPage(path).matchAll(/docs\/[\w/-]+\.md/g)].map(([page]) => ({ path, page })))
  expect(named.length).toBeGreaterThan(20)
  expect(named.filter(({ page }) => !existsSync(join(PROJECT, page)))).toEqual([])
})

test('every file of the project that a page names exists', () => {
  const named = pages().flatMap((page) =>
    [...readPage(page).matchAll(/(?<![\w./-])(?:src|test|bench|etc|pipelines|\.ci)\/[\w./-]*\w/g)].map(
      ([path]) => ({
        page,
        path,
      }),
    ),
  )
  expect(named.length).toBeGreaterThan(30)
  expect(named.filter(({ path }) => !existsSync(join(PROJECT, path)))).toEqual([])
})

test('docs/README.md lists every page below docs/', () => {
  const listed = [...readPage('docs/README.md').matchAll(/\]\(([^)#\s]+\.md)\)/g)].map(
    ([, link = '']) => link,
  )
  const all = pages().filter((page) => /^docs\/(?!README)/.test(page))
  expect(all.filter((page) => !listed.includes(page.replace('docs/', '')))).toEqual([])
})

test('every page is reached from README.md', () => {
  const reached = new Set(['README.md'])
  // A set is walked with what is added to it meanwhile.
  for (const page of reached)
    for (const [, link = ''] of readPage(page).matchAll(/\]\(([^)#\s]+\.md)(?:#[^)]*)?\)/g))
      if (!/^[a-z]+:/.test(link)) reached.add(join(dirname(page), link))
  expect(pages().filter((page) => !reached.has(page))).toEqual([])
})

test('the package holds every page below docs/', () => {
  const { files }: { readonly files: readonly string[] } = JSON.parse(readPage('package.json'))
  expect(files).toContain('docs/**/*.md')
})
