/** `firmlake.toml` as defaults of the command line, `config show`, and completion. */

import { spawnSync } from 'node:child_process'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { applyTo } from '../../src/cli/config/apply-config.ts'
import { completionScript } from '../../src/cli/config/completion-script.ts'
import { newProgram } from '../../src/cli/new-program.ts'
import { DEFINITION } from '../../src/config/definition.ts'
import { readSettings } from '../../src/config/read-settings.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { errorCode, SAMPLE_COMPANIES } from './run-cli.ts'

const NO_VARIABLES = { FIRMLAKE_LAKE: '', FIRMLAKE_URL: '', FIRMLAKE_TOKEN: '', FIRMLAKE_CONFIG: '' }

const project = async (text: string, env = ''): Promise<string> => {
  const folder = await temporaryFolder()
  await writeFile(join(folder, 'firmlake.toml'), text, { mode: 0o644 })
  if (env !== '') await writeFile(join(folder, '.env'), env, { mode: 0o600 })
  return folder
}

interface Shown {
  readonly settings: readonly {
    readonly key: string
    readonly value: unknown
    readonly from: string
    readonly at?: string
  }[]
}

const shown = async (cwd: string, args: readonly string[], env = {}) => {
  const { code, stdout, stderr } = await runCommand(['config', 'show', ...args, '--json'], {
    cwd,
    env: { ...NO_VARIABLES, ...env },
  })
  expect(code, stderr).toBe(0)
  const { settings } = JSON.parse(stdout) as Shown
  return (key: string) => settings.find((one) => one.key === key)
}

const commandOf = async (...words: readonly string[]) =>
  words.reduce(
    (command, word) => command.commands.find((one) => one.name() === word) ?? command,
    await newProgram(),
  )

test('options take precedence over variables, variables over .env, and that over the file', async () => {
  const text = 'lake = "lake"\n[service]\nurl = "https://file"\ntoken_env = "MINE"\n[load]\nmax_gone = "5%"\n'
  const cwd = await project(text, 'FIRMLAKE_URL=https://dotenv\nMINE=a-very-secret-token\n')
  const file = join(cwd, 'firmlake.toml')
  const plain = await shown(cwd, [])
  expect(plain('lake')).toEqual({ key: 'lake', value: join(cwd, 'lake'), from: 'file', at: `${file}:1` })
  expect(plain('service.url')).toMatchObject({ value: 'https://dotenv', at: 'FIRMLAKE_URL of .env' })
  expect(plain('service.token_env')).toMatchObject({ value: 'MINE (set)', at: `${file}:4` })
  expect(plain('service.max_wait')).toMatchObject({ value: '15m', from: 'default' })
  const environment = await shown(cwd, [], {
    FIRMLAKE_URL: 'https://user:pass@env',
    FIRMLAKE_LAKE: './other',
  })
  expect(environment('service.url')).toMatchObject({ value: 'https://…@env', at: 'FIRMLAKE_URL' })
  expect(environment('lake')).toMatchObject({ value: './other', from: 'variable', at: 'FIRMLAKE_LAKE' })
  const pull = await shown(cwd, ['pull', 'companies', '--lake', './mine', '--currency', 'SEK'])
  expect(pull('--lake')).toMatchObject({ value: './mine', from: 'option' })
  expect(pull('--currency')).toMatchObject({ value: 'SEK', from: 'option' })
  expect(pull('--max-gone')).toMatchObject({ value: '5%', from: 'file', at: `${file}:6` })
  expect(pull('--url')).toMatchObject({ value: 'https://dotenv', from: 'variable' })
})

test('commands take their defaults from the file that is found or named', async () => {
  const cwd = await project('lake = "lake"\n[targets]\nsinks = ["csv:out"]\n')
  const named = { cwd: await temporaryFolder(), env: NO_VARIABLES }
  const loaded = await runCommand(
    ['--config', join(cwd, 'firmlake.toml'), 'convert', SAMPLE_COMPANIES],
    named,
  )
  expect(loaded).toMatchObject({ code: 0 })
  const status = await runCommand(['status', '--json'], { cwd, env: NO_VARIABLES })
  expect(JSON.parse(status.stdout)).toMatchObject({ lake: join(cwd, 'lake') })
  const missing = await runCommand(['status', '--config', 'none.toml', '--json'], { cwd, env: NO_VARIABLES })
  expect(missing.code).toBe(2)
  expect(errorCode(missing)).toBe('CONFIG_INVALID')
})

test('a variable that the file names and that is not set is reported by line, a fault by line, help and schema need no file', async () => {
  const text = 'lake = "l"\n[service]\nurl = "http://127.0.0.1:1"\ntoken_env = "NOT_SET_HERE"\n'
  const sync = ['sync', '--search', '{"CountryCode":["SE"]}']
  const { code, stderr } = await runCommand(sync, { cwd: await project(text), env: NO_VARIABLES })
  expect(code).toBe(1)
  expect(stderr).toContain(
    'TOKEN_MISSING: Cannot call the service: the variable "NOT_SET_HERE" is not set, which line 4',
  )
  const cwd = await project('lake = 3')
  expect(await runCommand(['status'], { cwd, env: NO_VARIABLES })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('line 1: lake: it is 3'),
  })
  for (const words of ['status --help', 'config schema'])
    expect(await runCommand(words.split(' '), { cwd, env: NO_VARIABLES })).toMatchObject({
      code: 0,
      stderr: '',
    })
})

test('config show refuses an option that the command does not have', async () => {
  const args = ['config', 'show', 'pull', 'companies', '--curency', 'SEK']
  expect(await runCommand(args, { cwd: await temporaryFolder(), env: NO_VARIABLES })).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('Cannot show the settings of "pull": it has no option "--curency"'),
  })
})

test('a token that the file names and that is not set stops no work on files', async () => {
  const cwd = await project(
    'lake = "lake"\n[service]\nurl = "http://127.0.0.1:1"\ntoken_env = "NOT_SET_HERE"\n',
  )
  const at = { cwd, env: NO_VARIABLES }
  const planned = await runCommand(['convert', '--plan-only', SAMPLE_COMPANIES, '--json'], at)
  const { run } = JSON.parse(planned.stdout)
  expect(await runCommand(['resume'], at)).toMatchObject({ code: 0 })
  expect(await runCommand(['run', 'work', run, '--unit', '0'], at)).toMatchObject({ code: 0 })
})

test('what the command line gives replaces a list of the file', async () => {
  const file = readSettings(
    '[targets]\nsinks = ["csv:/a", "csv:/b"]\n[load]\nskip_bad_files = true',
    'f',
    '/',
  )
  const command = await commandOf('convert')
  await applyTo(command, file)
  expect(command.opts()).toMatchObject({ sink: ['csv:/a', 'csv:/b'], skipBadFiles: true })
  command.parseOptions(['--sink', 'csv:/c', '--sink', 'csv:/d'])
  expect(command.opts().sink).toEqual(['csv:/c', 'csv:/d'])
})

test('a section is for its commands alone, and demo plays with no lake of the file', async () => {
  const text =
    'lake = "real"\n[load]\nmax_quarantined = 7\n[check]\nmax_quarantined = "3%"\ndata = false\nnew_drift = false'
  const file = readSettings(text, 'f', '/')
  const optionsOf = async (...words: readonly string[]) => {
    const command = await commandOf(...words)
    await applyTo(command, file)
    return command.opts()
  }
  expect(await optionsOf('check')).toMatchObject({
    maxQuarantined: 0.03,
    data: false,
    newDrift: false,
    lake: '/real',
  })
  expect(await optionsOf('batches', 'pull')).toMatchObject({ maxQuarantined: { kind: 'count', lines: 7 } })
  expect((await optionsOf('demo')).lake).not.toBe('/real')
})

test('each setting with an option is one of a command, with the default that it has', async () => {
  const program = await newProgram()
  const commands = [program, ...program.commands, ...program.commands.flatMap((one) => one.commands)]
  for (const [section, field] of Object.entries(DEFINITION)) {
    const fields = field.kind === 'setting' ? { [section]: field } : field.fields
    for (const [name, one] of Object.entries(fields)) {
      const { option: long, default: value } = one
      if (long === undefined) continue
      const options = commands.flatMap(({ options: all }) => all.filter((other) => other.long === long))
      expect(options.length, `${section}.${name}`).toBeGreaterThan(0)
      const said = options.map(({ defaultValue, defaultValueDescription, description }) =>
        [defaultValueDescription, String(defaultValue), description].join(' '),
      )
      if (value !== undefined && !/^(true|false)$/.test(value))
        expect(said.join('\n'), `${section}.${name}`).toContain(value)
    }
  }
})

/** What bash would offer for a line. */
const offered = async (line: readonly string[]): Promise<readonly string[]> => {
  const script = completionScript(await newProgram(), 'bash')
  const words = ['firmlake', ...line].map((word) => `'${word}'`).join(' ')
  const asked = `COMP_WORDS=(${words}); COMP_CWORD=${line.length}; _firmlake; printf '%s\\n' "\${COMPREPLY[@]}"`
  const { stdout, stderr, status } = spawnSync('bash', ['-c', `${script}\n${asked}`], { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout.split('\n').filter((one) => one !== '')
}

test('bash completes commands, their commands, options and choices', async () => {
  expect(await offered(['co'])).toEqual(['convert', 'compact', 'copy', 'config', 'completion'])
  expect(await offered(['batches', ''])).toEqual(['make', 'list', 'pull'])
  expect(await offered(['pull', ''])).toEqual(['companies', 'relations'])
  expect(await offered(['batches', 'pull', '--conte'])).toEqual(['--content'])
  expect(await offered(['batches', 'pull', '--content', 'c'])).toEqual(['companies'])
  expect(await offered(['--json', 'check', '--form'])).toEqual(['--format'])
})

test('completion names every option of every command, for each shell', async () => {
  const program = await newProgram()
  const longs = program.commands.flatMap(({ options }) => options.flatMap(({ long }) => long ?? []))
  for (const shell of ['bash', 'zsh', 'fish'] as const) {
    const script = completionScript(program, shell)
    for (const long of new Set(longs))
      expect(script).toContain(shell === 'fish' ? `-l ${long.slice(2)}` : long)
  }
})
