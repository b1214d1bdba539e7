/** Every command line that the pages show is one that firmlake has. */

import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { newProgram } from '../../src/cli/program.ts'
import { pages, readPage } from '../support/page.ts'

const program = newProgram()

/** The words of a command line, up to what belongs to the shell; quoted text is one word. */
const wordsOf = (line: string): string[] => {
  const words = line.match(/'[^']*'|"[^"]*"|[^\s'"]+/g) ?? []
  const end = words.findIndex((word) => /^(#.*|&&|\||>>?|<)$/.test(word))
  return end === -1 ? words : words.slice(0, end)
}

const CALL = /^(?:\$ )?(?:\w+=\S+ )*(?:npm run -s firmlake -- |firmlake )(.*)$/

/** What is shown in blocks of code, with lines that go on put together. */
const linesIn = (page: string): string[] =>
  [...readPage(page).matchAll(/```(?:sh|console)?\n([\s\S]*?)```/g)].flatMap(([, code = '']) =>
    code
      .replaceAll(/\\\n\s*/g, '')
      .split('\n')
      .flatMap((line) => CALL.exec(line)?.[1] ?? []),
  )

const problemOf = (line: string): string | undefined => {
  const words = wordsOf(line)
  let command: Command = program
  for (const word of words) {
    const inner = command.commands.find((one) => one.name() === word)
    if (inner === undefined) break
    command = inner
  }
  if (command === program) return `there is no such command: ${line}`
  const known = command.options.flatMap(({ long, short }) => [long, short])
  const unknown = words.filter((word) => /^--?\w/.test(word) && !known.includes(word.replace(/=.*/, '')))
  return unknown.length === 0 ? undefined : `${command.name()} has no ${unknown.join(', ')}: ${line}`
}

const shown = pages()
  .filter((page) => page !== 'docs/reference/commands.md')
  .flatMap((page) => linesIn(page).map((line) => ({ page, line })))

test('the pages show commands and options that there are', () => {
  expect(shown.length).toBeGreaterThan(30)
  expect(shown.flatMap(({ page, line }) => problemOf(line)?.concat(` (${page})`) ?? [])).toEqual([])
})

test('a command or an option that there is none of is found', () => {
  expect(problemOf('convrt x --lake ./lake')).toContain('no such command')
  expect(problemOf('convert x --lake ./lake --lakes')).toContain('has no --lakes')
  expect(problemOf(`quarantine list --lake ./lake # --none`)).toBeUndefined()
})

test('README.md lists every command', () => {
  const [, table = ''] = /\n## Commands\n([\s\S]*?)\n## /.exec(readPage('README.md')) ?? []
  for (const command of program.commands.filter((one) => one.name() !== 'help'))
    expect(table, command.name()).toContain(`\`${command.name()}`)
})
