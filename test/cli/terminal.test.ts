/** What a terminal shows besides what a pipe gets: colours, NULL, types, and of many rows the first and the last. */

import { join } from 'node:path'
import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import { copyLake, sharedLake } from '../support/lakes.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal, needsTerminal } from './at-terminal.ts'
import { SAMPLE_COMPANIES } from './run-cli.ts'

const ESCAPE = '\u001b'
const [RED, YELLOW, DIM] = [31, 33, 2].map((code) => `${ESCAPE}[${code}m`)
const linesOf = (said: string): string[] =>
  stripVTControlCharacters(said)
    .split(/[\r\n]+/)
    .map((line) => line.trimEnd())
    .filter((line) => line !== '')

test('a table at a terminal has types and NULL; of many rows the first and the last', async (context) => {
  needsTerminal(context)
  const lake = await sharedLake('companies')
  const ask = (sql: string, ...more: readonly string[]) =>
    atTerminal('', ['query', '--lake', lake, sql, ...more])
  const one = await ask(`SELECT 1 AS n, NULL::DATE AS "on", 'x' AS a_text`)
  expect(linesOf(one.said).slice(-4)).toEqual([
    '      n  on    a_text',
    'integer  date  varchar',
    '───────  ────  ───────',
    '      1  NULL  x',
  ])
  expect(one.said).toContain(`${DIM}NULL`)
  const piped = await runCommand([
    'query',
    '--lake',
    lake,
    `SELECT 1 AS n, NULL::DATE AS "on", 'x' AS a_text`,
  ])
  expect(piped.stdout).toBe('n  on  a_text\n─  ──  ──────\n1      x\n')

  const numbers = (said: string) => linesOf(said).filter((line) => /^ *[\d,·]+$/.test(line))
  const many = await ask('SELECT i FROM range(1, 101) t(i)')
  expect(numbers(many.said).map((line) => line.trim())).toEqual([
    ...Array.from({ length: 20 }, (_, at) => `${at + 1}`),
    '·',
    ...Array.from({ length: 20 }, (_, at) => `${at + 81}`),
  ])
  expect(linesOf(many.said).at(-1)).toBe('100 rows, 40 shown: --limit 100 shows all.')
  expect(numbers((await ask('SELECT i FROM range(41) t(i)')).said)).toHaveLength(41)
  expect(numbers((await ask('SELECT i FROM range(100) t(i)', '--limit', '90')).said)).toHaveLength(90)
  const more = await ask('SELECT i FROM range(2000) t(i)')
  expect([numbers(more.said).length, linesOf(more.said).at(-1)]).toEqual([
    40,
    'There are more than 40 rows: --limit shows more, --format csv or json all.',
  ])
})

test('a title is as wide as its type; a longer type is cut', async (context) => {
  needsTerminal(context)
  const lake = await sharedLake('companies')
  const { said } = await atTerminal('', ['query', '--lake', lake, 'SELECT {a: 1, b: 2} AS s'])
  expect(linesOf(said).slice(-3)).toEqual(['struct("a" i…', '─────────────', '{"a":1,"b":2}'])
})

test('errors are red and their hints dim, warnings yellow; not with NO_COLOR or --no-color, nor in a pipe', async (context) => {
  needsTerminal(context)
  const args = ['query', '--lake', join(await temporaryFolder(), 'none'), 'SELECT 1']
  const { said, code } = await atTerminal('', args)
  expect(code).toBe(1)
  expect(said).toContain(`${RED}error LAKE_NOT_FOUND:${ESCAPE}[39m Cannot open`)
  expect(said).toContain(`  ${DIM}the folder holds no lake`)
  for (const plain of [
    await atTerminal('', args, { NO_COLOR: '1' }),
    await atTerminal('', ['--no-color', ...args]),
  ])
    expect([plain.code, plain.said.includes(ESCAPE)]).toEqual([1, false])
  expect((await runCommand(args)).stderr).not.toContain(ESCAPE)

  const lake = await sharedLake('companies')
  const own = await copyLake('three', join(await temporaryFolder(), 'lake'))
  const warned = await atTerminal('', ['convert', SAMPLE_COMPANIES, '--lake', own, '--mode', '0770'])
  expect(warned.said).toContain(`${YELLOW}warning:`)
  const checked = await atTerminal('', ['check', '--lake', lake, '--min-companies', '100000'])
  expect(checked.said).toMatch(new RegExp(`${ESCAPE}\\[31mfailed`))
})
