/** Each function that a user's SQL may call, called with whatever there is, in a process of its own. */

import { spawnSync } from 'node:child_process'
import { join } from 'node:path'
import { expect, test } from 'vitest'

test('no allowed function ends the process, whatever it is called with', () => {
  const child = join(import.meta.dirname, 'child-call-functions.ts')
  const { status, signal, stdout, stderr } = spawnSync(process.execPath, [child], { encoding: 'utf8' })
  expect([status, signal, stderr]).toEqual([0, null, ''])
  const [, calls, answers] = /^(\d+) calls, (\d+) answers\n$/.exec(stdout) ?? []
  expect(Number(calls)).toBeGreaterThan(10_000)
  expect(Number(answers)).toBeGreaterThan(500)
})
