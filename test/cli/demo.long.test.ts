/** The tour: each command as it is typed, run again, and the explorer that it opens. */

import { chmod, mkdir, readdir, readFile, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, type TestContext, test } from 'vitest'
import { IS_CHECKOUT } from '../../src/support/own-package.ts'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { atTerminal, needsTerminal } from './at-terminal.ts'

const typed = (stdout: string): readonly string[] =>
  [...stdout.matchAll(/^\$ (?:npm run -s firmlake --|firmlake) (\w+)/gm)].map(([, name = '']) => name)

test('demo loads, compares, asks and reports by commands that it shows; run again it loads nothing', async () => {
  const cwd = await temporaryFolder()
  const first = await runCommand(['demo'], { cwd })
  expect(first.code, first.stderr).toBe(0)
  expect(IS_CHECKOUT).toBe(true)
  expect(typed(first.stdout)).toEqual(['convert', 'convert', 'diff', 'query', 'report', 'serve'])
  expect(first.stdout).toContain('1,710 lines: 1,710 records, 0 quarantined')
  expect(first.stdout).toContain('78 lines: 78 records, 0 quarantined')
  expect(first.stdout).toContain('\ncompanies:    12 new, 47 changed, 0 gone\n')
  expect(first.stdout).toMatch(/\nSkasø Energy Inc\. +US +2024 +8056400000 /)
  expect(first.stdout).toMatch(/\n\$ npm run -s firmlake -- serve --lake \.\/lake\n$/)
  expect((await readdir(cwd)).sort()).toEqual(['lake', 'lake-report.html'])
  expect(await readFile(join(cwd, 'lake-report.html'), 'utf8')).toMatch(/^<!doctype html>/i)

  const again = await runCommand(['demo'], { cwd })
  expect(again.code, again.stderr).toBe(0)
  expect(again.stdout).toContain('Nothing new to load: the lake stays as it is.')
  const answers = ({ stdout }: typeof first): string => stdout.slice(stdout.indexOf('== What did it change?'))
  expect(answers(again)).toBe(answers(first))
})

test('demo --open without a terminal is refused before anything is loaded', async () => {
  const cwd = await temporaryFolder()
  const { code, stdout, stderr } = await runCommand(['demo', '--open'], { cwd })
  expect([code, stdout]).toEqual([2, ''])
  expect(stderr).toContain('Cannot open the explorer: standard output is no terminal')
  expect(await readdir(cwd)).toEqual([])
})

test('demo --open serves the lake, opens the explorer with a token that it takes, and ends by Ctrl-C', async (context: TestContext) => {
  needsTerminal(context)
  const folder = await temporaryFolder()
  const [bin, seen] = [join(folder, 'bin'), join(folder, 'seen')]
  await mkdir(bin)
  // Stands for a browser: signs in with the token of the address as the page does, then interrupts the command.
  const browser = `#!${process.execPath}
const { writeFileSync } = require('node:fs')
const [address, token] = process.argv[2].split('/#token=')
fetch(address + '/explorer/api/session', { method: 'POST', headers: { authorization: 'Bearer ' + token, 'content-type': 'application/json' }, body: '{}' })
  .then((answer) => answer.json().then((body) => writeFileSync(${JSON.stringify(seen)}, answer.status + ' ' + typeof body.session)))
  .finally(() => process.kill(process.ppid, 'SIGINT'))
`
  await writeFile(join(bin, 'xdg-open'), browser)
  await chmod(join(bin, 'xdg-open'), 0o755)
  const { code, said } = await atTerminal('', ['demo', '--open', '--lake', join(folder, 'lake')], {
    PATH: `${bin}:${process.env.PATH}`,
  })
  expect(await readFile(seen, 'utf8')).toBe('200 string')
  expect(said).toMatch(/Serving the explorer at http:\/\/127\.0\.0\.1:\d+; Ctrl-C ends it/)
  expect(said).not.toContain('#token=')
  expect(code).toBe(0)
})
