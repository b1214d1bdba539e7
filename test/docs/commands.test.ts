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
  // It takes a command with the options of that.
  const [name, inner, ...behind] = words
  if (name === 'config' && inner === 'show' && behind.length > 0) return problemOf(behind)
  if (command === program) return `there is no such command: ${line}`
  const known = [...command.options, ...program.options].flatMap(({ long, short }) => [long, short])
  const unknown = words.filter((word) => /^--?\w/.test(word) && !known.includes(word.replace(/=.*/, '')))
  return unknown.length === 0 ? undefined : `${command.name()} has no ${unknown.join(', ')}: ${line}`
}

/** What the parsers of options say about the values that a page gives them. */
const refusalOf = async (words: readonly string[]): Promise<string | undefined> => {
  const fresh = await newProgram()
  let command: Command = fresh
  let rest = words
  for (;;) {
    const inner = command.commands.find((one) => one.name() === rest[0])
    if (inner === undefined) break
    command = inner
    rest = rest.slice(1)
  }
  command.exitOverride().configureOutput({ writeErr: () => undefined })
  try {
    command.parseOptions([...rest])
    return undefined
  } catch (error) {
    return `${String(error)}: ${words.join(' ')}`
  }
}

/** Those of the help too, which docs/reference/commands.md holds. */
const shown = pages().flatMap((page) => commandsIn(page).map((words) => ({ page, words })))

test('the pages show commands and options that there are', () => {
  expect(shown.length).toBeGreaterThan(200)
  expect(shown.flatMap(({ page, words }) => problemOf(words)?.concat(` (${page})`) ?? [])).toEqual([])
})

test('the pages give options values that they take', async () => {
  const found = await Promise.all(shown.map(({ words }) => refusalOf(words)))
  expect(found.filter((one) => one !== undefined)).toEqual([])
  expect(await refusalOf(['check', '--max-gap', '-1'])).toContain('expected a whole number from 0')
  expect(await refusalOf(['batches', 'list', '--content', 'figures'])).toContain('choices are companies')
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
