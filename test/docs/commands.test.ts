/** Every command line that the pages show is one that firmlake has. */

import type { Command } from 'commander'
import { expect, test } from 'vitest'
import { newProgram } from '../../src/cli/new-program.ts'
import { commandsIn, pages, readPage } from '../support/page.ts'

const program = await newProgram()

const problemOf = (words: readonly string[]): string | undefined => {
  const line = words.join(' ')
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
  .flatMap((page) => commandsIn(page).map((words) => ({ page, words })))

test('the pages show commands and options that there are', () => {
  expect(shown.length).toBeGreaterThan(30)
  expect(shown.flatMap(({ page, words }) => problemOf(words)?.concat(` (${page})`) ?? [])).toEqual([])
})

test('a command or an option that there is none of is found', () => {
  expect(problemOf(['convrt', 'x', '--lake', './lake'])).toContain('no such command')
  expect(problemOf(['convert', 'x', '--lake', './lake', '--lakes'])).toContain('has no --lakes')
  expect(problemOf(['quarantine', 'list', '--lake', './lake'])).toBeUndefined()
})

test('README.md lists every command', () => {
  const [, table = ''] = /\n## Commands\n([\s\S]*?)\n## /.exec(readPage('README.md')) ?? []
  for (const command of program.commands.filter((one) => one.name() !== 'help'))
    expect(table, command.name()).toContain(`\`${command.name()}`)
})
