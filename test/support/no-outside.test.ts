import { execFileSync, fork, spawn, spawnSync } from 'node:child_process'
import { createServer } from 'node:http'
import { connect } from 'node:net'
import { expect, onTestFinished, test } from 'vitest'
import { forbidOutside } from './no-outside.ts'

test.each([
  ['start a process', () => spawn('true')],
  ['start a process', () => spawnSync('true')],
  ['start a process', () => execFileSync('true')],
  ['start a process', () => fork('true')],
  ['start a server', () => createServer().listen(0)],
  ['connect', () => connect(1)],
])('forbidOutside refuses to %s, and keeps it for who swallows the error: %s', (what, work) => {
  const { tried, lift } = forbidOutside()
  onTestFinished(lift)
  expect(work).toThrow(`Cannot ${what}: `)
  expect(tried()).toEqual([what])
  expect(tried()).toEqual([])
})

test('what forbidOutside forbade works again when it is lifted', () => {
  forbidOutside().lift()
  expect(spawnSync(process.execPath, ['--version']).status).toBe(0)
})
