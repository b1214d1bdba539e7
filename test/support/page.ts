/** The pages of the documentation, for tests of what they say. */

import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'

export const PROJECT = join(import.meta.dirname, '../..')

/** Every page, as paths below the project. */
export const pages = (): string[] => [
  ...readdirSync(PROJECT).filter((name) => name.endsWith('.md')),
  ...readdirSync(join(PROJECT, 'docs'), { recursive: true, encoding: 'utf8' })
    .filter((name) => name.endsWith('.md'))
    .map((name) => `docs/${name.replaceAll('\\', '/')}`),
  'bench/README.md',
  'data/README.md',
]

export const readPage = (path: string): string => readFileSync(join(PROJECT, path), 'utf8')

/** The code of a language in the section of a page, block by block; without a section in all of it. */
export const examplesIn = (path: string, language: string, section?: string): string[] => {
  const page = readPage(path)
  const part = section === undefined ? page : (page.split(`\n## ${section}\n`)[1]?.split('\n## ')[0] ?? '')
  return [...part.matchAll(/```(\w*)\n([\s\S]*?)```/g)]
    .filter(([, name]) => name === language)
    .map(([, , code = '']) => code)
}

/** Blanks of a table count once: a column may be wider in the whole of it. */
export const squeezed = (line: string): string => line.replaceAll(/\s+/g, ' ').trim()

/** Commands of a block with `$ ` before each, and the lines that follow as what they print. */
export const consoleSteps = (
  block: string,
): readonly { readonly command: string; readonly shows: string[] }[] =>
  block
    .split(/^\$ /m)
    .slice(1)
    .map((step) => {
      // Quoted text goes on over lines.
      const [command = ''] = /^(?:'[^']*'|"[^"]*"|[^'"\n])*/.exec(step) ?? []
      const shows = step.slice(command.length).split('\n').map(squeezed)
      return { command, shows: shows.filter((line) => line !== '') }
    })

/** What a page shows as printed, line by line. */
export const shownIn = (path: string): string[] =>
  examplesIn(path, 'console')
    .flatMap((code) => code.split('\n'))
    .filter((line) => !/^(\$ .*|…|)$/.test(line))
    .map(squeezed)

/** A call as pages show it, up to the end of its line; quoted text and `\\` go on over lines. */
const CALL =
  /^(?:(?: {2})?\$ )?(?:\w+=\S+ )*(?:npm run -s firmlake -- |firmlake )((?:'[^']*'|"[^"]*"|\\\n|[^'"\n])*)/gm

/** The command lines of firmlake that a page shows in blocks of code, as words, up to what belongs to the shell. */
export const commandsIn = (path: string): string[][] =>
  ['', 'sh', 'console', 'text']
    .flatMap((language) => examplesIn(path, language))
    .flatMap((code) => [...code.matchAll(CALL)])
    .map(([, line = '']) => {
      const words = line.match(/'[^']*'|"[^"]*"|[^\s'"\\]+/g) ?? []
      const end = words.findIndex((word) => /^(#.*|&&|\||>>?|<)$/.test(word))
      return words.slice(0, end === -1 ? undefined : end).map((word) => word.replaceAll(/^['"]|['"]$/g, ''))
    })
