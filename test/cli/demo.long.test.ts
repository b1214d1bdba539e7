/** The whole of `demo`, to its end and stopped on its way. */

import { mkdir, readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { runCommand } from '../support/run-command.ts'
import { temporaryFolder } from '../support/temporary-folder.ts'
import { cli } from './run-cli.ts'

/** Two folders: what a command works in, and the system's for temporary files. */
const folders = async (): Promise<{ cwd: string; env: { TMPDIR: string } }> => {
  const folder = await temporaryFolder()
  const [cwd, TMPDIR] = [join(folder, 'work'), join(folder, 'tmp')]
  for (const one of [cwd, TMPDIR]) await mkdir(one)
  return { cwd, env: { TMPDIR } }
}

/** What is left in the system's folder; Node's cache of compiled modules is not ours. */
const leftIn = async (folder: string): Promise<string[]> =>
  (await readdir(folder)).filter((name) => name !== 'node-compile-cache')

const answersOf = ({ stdout }: { readonly stdout: string }): string =>
  stdout.slice(stdout.indexOf('== What the second'), stdout.indexOf('== Served'))

test('demo shows what the second delivery changed, answers three questions, and pulls back over HTTP what it served; once more it loads nothing, and stopped while it serves it leaves nothing but its lake', async () => {
  const { cwd, env } = await folders()
  const first = await runCommand(['demo'], { cwd, env })
  expect(first.code, first.stderr).toBe(0)
  expect(first.stdout).toContain('1,710 lines: 1,710 records, 0 quarantined')
  expect(first.stdout).toContain('78 lines: 78 records, 0 quarantined')
  expect(answersOf(first)).toMatch(/\nSE +160 +146 +91\.3\n/)
  expect(answersOf(first)).toContain('\ncompanies:    12 new, 47 changed, 0 gone\n')
  expect(answersOf(first)).toMatch(/\nSkasø Energy Inc\. +US +2024 +8056400000 /)
  expect(first.stdout).toContain('\n  npm run -s firmlake -- query --lake ./lake\n')
  expect(first.stdout).toContain('Pulled 875 companies by cursor')
  expect(first.stdout).toContain('Pulled 821 relations by cursor')
  expect(first.stdout).toContain('Pulled 37 companies by batch file companies-PL-0001.jsonl.br')
  const compared = first.stdout.slice(first.stdout.indexOf('row by row:'), first.stdout.indexOf('Left out:'))
  for (const [table, rows] of Object.entries({ companies: '912', financials: '48,336', relations: '821' }))
    expect(compared).toMatch(new RegExp(`\\n${table} +${rows} +0 +0\\n`))
  expect(await leftIn(env.TMPDIR)).toEqual([])

  const stopped = await cli(['demo'], {
    cwd,
    env,
    onStart: (child) => {
      child.stdout?.on('data', (text: Buffer) => {
        if (String(text).includes('== Served')) child.kill('SIGINT')
      })
    },
  })
  expect(stopped.code).toBe(130)
  expect(stopped.stderr).toContain('error INTERRUPTED')
  expect(stopped.stdout).toContain('Nothing new to load: the lake stays as it is.')
  expect(answersOf(stopped)).toBe(answersOf(first))
  expect(await leftIn(env.TMPDIR)).toEqual([])
  expect(await readdir(cwd)).toEqual(['lake'])
  expect(await runCommand(['status', '--lake', join(cwd, 'lake')])).toMatchObject({ code: 0 })
})
