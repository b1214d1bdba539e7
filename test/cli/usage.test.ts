import type { Command } from 'commander'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import { listedCommands, newProgram } from '../../src/cli/new-program.ts'
import { asToolkitError } from '../../src/cli/output/report-error.ts'
import { exitCodeOf } from '../../src/core/exit-codes.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli, errorCode } from './run-cli.ts'

/** The words of a command's innermost commands. */
const innermost = (command: Command): readonly (readonly string[])[] =>
  command.commands.length === 0
    ? [[command.name()]]
    : command.commands.flatMap(innermost).map((words) => [command.name(), ...words])

const COMMANDS = (await newProgram()).commands.flatMap(innermost)

/** The help of a command, made in this very process. */
const helpOf = async (words: readonly string[]): Promise<string> => {
  const program = await newProgram(words)
  const printed: string[] = []
  const withInner = (command: Command): readonly Command[] => [
    command,
    ...command.commands.flatMap(withInner),
  ]
  for (const command of withInner(program))
    command.configureOutput({ writeOut: (text) => printed.push(text) })
  await expect(program.parseAsync([...words, '--help'], { from: 'user' })).rejects.toMatchObject({
    code: 'commander.helpDisplayed',
    exitCode: 0,
  })
  return printed.join('')
}

test.each(COMMANDS.map((words) => [words.join(' '), words] as const))(
  '%s --help prints usage and examples',
  async (_, words) => {
    const help = await helpOf(words)
    expect(help).toContain(`Usage: firmlake ${words.join(' ')}`)
    expect(help).toContain('Examples:\n  # ')
  },
)

test('convert --help ends with 0 and prints to standard output what this process would', async () => {
  const help = { code: 0, stdout: await helpOf(['convert']), stderr: '' }
  expect(await cli(['convert', '--help'])).toEqual(help)
})

test.each(['-v', '-V', 'version'])('%s prints the version too', async (word) => {
  expect(await cli([word])).toMatchObject({ code: 0, stdout: (await cli(['--version'])).stdout })
})

test('the help lists the ten commands that are used most, with --all each one in one group', async () => {
  const short = (await newProgram()).helpInformation()
  const listed = [...(short.split('Most used:')[1] ?? '').matchAll(/^ {2}([a-z]+)\b/gm)].map(
    ([, name]) => name,
  )
  expect(listed).toHaveLength(10)
  const program = await newProgram(['--all'])
  const headings = (text: string): string[] => text.match(/^[A-Z].*:$/gm) ?? []
  const help = program.helpInformation()
  expect(headings(help).slice(0, 2)).toEqual(['Options:', 'Most used:'])
  expect(headings(help)).not.toContain('Commands:')
  const most = /Most used:\n([\s\S]*?)\n\n/.exec(help)?.[1]?.match(/^ {2}[a-z]+/gm) ?? []
  expect(most.map((name) => name.trim())).toEqual(listed)
  for (const { name } of program.commands.map((one) => ({ name: one.name() })))
    expect(help.match(new RegExp(`^  ${name}\\b`, 'gm'))).toHaveLength(1)

  const pull = program.commands.find((one) => one.name() === 'pull')
  const groups = [
    'Limits:',
    'Privacy, and what is left out:',
    'Service:',
    'Targets:',
    'Machine:',
    'Many machines:',
  ]
  expect(headings(pull?.helpInformation() ?? '')).toEqual(['Arguments:', 'Options:', ...groups])
  for (const { long } of pull?.options ?? [])
    expect(pull?.helpInformation().match(new RegExp(`^ .*${long}[ \\n]`, 'gm'))?.length).toBeGreaterThan(0)
})

test.each([
  [['manifest', '--lake', 'l'], 'status --manifest'],
  [['parameters'], 'plan --parameters'],
  [['replay', '--lake', 'l', '--source', 'x'], 'quarantine replay'],
  [['views', '--lake', 'l', '--write'], 'verify --repair'],
])('%j answers with the name that it has now', async (args, name) => {
  const { code, stdout, stderr } = await runCommand(args)
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toMatch(
    new RegExp(`^error USAGE: Cannot run "firmlake [a-z -]+": it is "firmlake ${name}" now\\n`),
  )
})

test('the general help of a list of commands, none of which is loaded, is that of the commands', async () => {
  const listed = await listedCommands()
  for (const args of [['--help'], ['help', '--all']]) {
    const [program, whole] = [await newProgram(args, listed), await newProgram(args, undefined)]
    expect(program.commands.flatMap(({ options }) => options).every(({ long }) => long === '--any')).toBe(
      true,
    )
    expect(program.helpInformation()).toBe(whole.helpInformation())
  }
})

test('the help says how all commands are listed', async () => {
  expect((await runCommand(['--help'])).stdout).toContain('\nAll commands: firmlake --help --all\n')
  expect((await runCommand(['--help', '--all'])).stdout).not.toContain('All commands:')
})

test('--version prints the version', async () => {
  expect(await cli(['--version'])).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^\d+\.\d+\.\d+\n$/),
  })
})

test('without a command the help goes to standard error and the exit code is 2', async () => {
  const { code, stdout, stderr } = await cli([])
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('Exit codes:')
})

describe('wrong usage ends with 2', () => {
  // The demo leaves a lake in the checkout, which a command without --lake would take.
  const checkout = process.cwd()
  beforeEach(async () => process.chdir(await temporaryFolder()))
  afterEach(() => process.chdir(checkout))

  test.each([
    [['nope']],
    [['convert']],
    [['convert', 'x']],
    [['convert', 'x', '--lake', '']],
    [['convert', 'x', '--lake', 'https://example.com/lake']],
    [['status', '--lake', 's3://']],
    [['convert', 'x', '--lake', 'l', '--content', 'people']],
    [['convert', 'x', '--lake', 'l', '--max-quarantined', '101%']],
    [['convert', 'x', '--lake', 'l', '--memory', '-5']],
    [['convert', 'x', '--lake', 'l', '--threads', '0']],
    [['convert', 'x', '--lake', 'l', '--max-ratio', '1.5']],
    [['status']],
    [['status', '--lake', 'l', 'surplus']],
    [['status', '--lake', 'l', '--snapshot', '0']],
    [['gc', '--lake', 'l', '--keep', 'all']],
    [['verify', '--lake']],
    [['status', '--lake', 'l', '--raw']],
    [['status', '--lake', 'l', '--manifest', '--partitions']],
    [['plan', 'companies']],
    [['plan', 'companies', '--parameters', '--search', '{}']],
    [['verify', '--lake', 'l', '--repair', '--snapshot', '1']],
  ])('%j', async (args) => {
    const error = await (await newProgram(args))
      .parseAsync(args, { from: 'user' })
      .then(() => undefined, asToolkitError)
    expect(error).toMatchObject({ code: 'USAGE' })
    expect(exitCodeOf(error, undefined)).toBe(2)
  })

  test.each([[['nope']], [['convert', 'x', '--lake', '']]])('%j, as a process', async (args) => {
    const result = await cli([...args, '--json'])
    expect(result).toMatchObject({ code: 2, stdout: '' })
    expect(errorCode(result)).toBe('USAGE')
  })
})

test('wrong usage is one block for people, without a stack', async () => {
  const { stderr } = await cli(['stats'])
  expect(stderr).toBe(
    'error USAGE: Unknown command "stats" (Did you mean status?)\n  a command or option is used wrongly; see --help\n',
  )
})

test.each([
  [['export', '--foo'], 'Unknown option "--foo"\n'],
  [['convert', '--from', 'x'], 'Unknown option "--from"\n'],
  [['report', '--tu', 'x.html'], 'Unknown option "--tu" (Did you mean --to?)'],
  [['batches', 'pull', '--lkae', 'x'], 'Unknown option "--lkae" (Did you mean --lake?)'],
  [['export', '--lake', 'l', '--', '--foo'], 'Required option "--to <url>" not specified'],
])('%j names the unknown option before one that is missing', async (args, text) => {
  const { code, stderr } = await runCommand(args)
  expect([code, stderr]).toEqual([2, expect.stringContaining(text)])
})

test('--help starts without DuckDB', async () => {
  const { stderr } = await cli(['--help'], { env: { NODE_DEBUG: 'module' } })
  expect(stderr).not.toContain('node-bindings')
})
