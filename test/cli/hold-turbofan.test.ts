/** V8's best compiler is held for a while, and no longer. */

import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { MAIN } from './run-cli.ts'

const WATCH = new URL('../../src/cli/output/watch-run.ts', import.meta.url).href
const HOLD = new URL('../../src/cli/hold-turbofan.ts', import.meta.url).href

/** Says whether a function that is called all the time has TurboFan's code, before the hold ends and some time behind it. */
const CHILD = (hold: string): string => `
  const { holdTurboFan, releaseTurboFan } = await import(${JSON.stringify(HOLD)})
  const status = new Function('f', 'return %GetOptimizationStatus(f)')
  const TURBOFANNED = 1 << 6
  const sum = (list) => { let all = 0; for (const one of list) all += one; return all }
  const list = Array.from({ length: 1000 }, (_, at) => at)
  const isReached = (ms) => {
    const end = performance.now() + ms
    while (performance.now() < end) { sum(list); if (status(sum) & TURBOFANNED) return true }
    return false
  }
  ${hold}
  const before = isReached(400)
  await new Promise((resolve) => setTimeout(resolve, 50))
  console.log(before, before || isReached(20_000))
`
const answers = (hold: string): string => {
  const args = ['--allow-natives-syntax', '--input-type=module', '--eval', CHILD(hold)]
  const { stdout, stderr, status } = spawnSync(process.execPath, args, { encoding: 'utf8' })
  expect(status, stderr).toBe(0)
  return stdout.trim()
}

test('holds TurboFan until the time is over, where V8 has Maglev', () => {
  expect(answers('holdTurboFan(100, true)')).toBe('false true')
  expect(answers('holdTurboFan(100, false)')).toBe('true true')
  expect(answers('')).toBe('true true')
})

test('lets TurboFan work at once where the input is large', () => {
  expect(answers('holdTurboFan(60_000, true); releaseTurboFan(16 * 1024 ** 2 + 1)')).toBe('true true')
  expect(answers('holdTurboFan(100, true); releaseTurboFan(16 * 1024 ** 2); releaseTurboFan()')).toBe(
    'false true',
  )
})

test('a load whose sources are large lets it work, one of which nobody knows that does not', () => {
  const hears = (bytesTotal: number | undefined): string => `
    holdTurboFan(100, true)
    const { watchRun } = await import(${JSON.stringify(WATCH)})
    const line = { log: () => undefined, show: () => undefined }
    watchRun(line)({ kind: 'progress', progress: { bytesTotal: ${bytesTotal} } })`
  expect(answers(hears(2 ** 25))).toBe('true true')
  expect(answers(hears(undefined))).toBe('false true')
})

test('a command begins with the hold', () => {
  // No timer is due while a process ends.
  const atExit = `
    const status = new Function('f', 'return %GetOptimizationStatus(f)')
    const sum = (list) => { let all = 0; for (const one of list) all += one; return all }
    const list = Array.from({ length: 1000 }, (_, at) => at)
    process.on('exit', () => {
      const end = performance.now() + 500
      while (performance.now() < end) sum(list)
      console.error((status(sum) & (1 << 6)) !== 0)
    })`
  const isReached = (args: readonly string[]): string => {
    const preload = `data:text/javascript,${encodeURIComponent(atExit)}`
    const { stderr } = spawnSync(process.execPath, ['--allow-natives-syntax', '--import', preload, ...args], {
      encoding: 'utf8',
    })
    return stderr.trim()
  }
  expect(isReached([MAIN, '--version'])).toBe('false')
  expect(isReached(['--eval', ''])).toBe('true')
})
