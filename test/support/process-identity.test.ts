import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, readFileSync } from 'node:fs'
import { expect, test } from 'vitest'
import {
  isLeftover,
  livenessOf,
  temporaryLiveness,
  temporaryName,
  thisProcess,
} from '../../src/support/process-identity.ts'

const hasProc = existsSync('/proc/self/stat')

test('livenessOf knows its own process', () => {
  expect(livenessOf(thisProcess())).toBe('alive')
})

test.runIf(hasProc)('livenessOf takes a reused pid for another process', () => {
  expect(livenessOf({ ...thisProcess(), started: '1' })).toBe('gone')
})

test('livenessOf does not take another boot for an earlier one of this machine', () => {
  const here = thisProcess()
  expect(livenessOf({ ...here, boot: 'another one' })).toBe('other-boot')
  expect(livenessOf({ ...here, boot: 'another one', pid: 2 ** 30 })).toBe('other-boot')
  expect(livenessOf({ ...here, boot: '' }, { ...here, boot: 'this one' })).toBe('other-boot')
})

test('livenessOf cannot see processes of another host or container', () => {
  expect(livenessOf({ ...thisProcess(), host: 'elsewhere' })).toBe('unknown')
  expect(livenessOf({ ...thisProcess(), namespace: 'pid:[1]' })).toBe('unknown')
})

test('livenessOf goes by the pid alone where there is no /proc', async () => {
  const here = { ...thisProcess(), boot: '', namespace: '', started: '' }
  expect(livenessOf(here, here)).toBe('alive')
  const child = spawn(process.execPath, ['-e', ''])
  await once(child, 'exit')
  expect(livenessOf({ ...here, pid: child.pid ?? 0 }, here)).toBe('gone')
})

test.runIf(hasProc)('livenessOf takes a killed child that nobody waited for as gone', async () => {
  // The shell becomes another program, which never waits for the child it was given.
  const shell = spawn('sh', ['-c', 'sleep 30 & echo $!; exec sleep 30'])
  const [line] = (await once(shell.stdout, 'data')) as [Buffer]
  const pid = Number(line.toString())
  await expect.poll(() => readFileSync(`/proc/${shell.pid}/comm`, 'utf8'), { timeout: 5000 }).toBe('sleep\n')
  const seen = () => livenessOf({ ...thisProcess(), pid, started: '' })
  expect(seen()).toBe('alive')
  process.kill(pid, 'SIGKILL')
  await expect.poll(seen, { timeout: 5000 }).toBe('gone')
  expect(existsSync(`/proc/${pid}`)).toBe(true)
  shell.kill('SIGKILL')
  await once(shell, 'exit')
})

test('temporaryName gives another name at every call', () => {
  expect(temporaryName()).not.toBe(temporaryName())
})

test('temporaryLiveness tells the maker of a name', () => {
  const here = thisProcess()
  expect(temporaryLiveness(temporaryName())).toBe('alive')
  expect(temporaryLiveness(temporaryName({ ...here, pid: 2 ** 22 + 1 }))).toBe('gone')
  expect(temporaryLiveness(temporaryName({ ...here, host: 'elsewhere' }))).toBe('unknown')
  expect(temporaryLiveness('.tmp-of-somebody')).toBeNull()
})

test.runIf(hasProc)('temporaryLiveness takes a name of a reused pid as left behind', () => {
  expect(temporaryLiveness(temporaryName({ ...thisProcess(), started: '1' }))).toBe('gone')
})

test('isLeftover goes by the process, and by age where that is of another boot or host', () => {
  const [here, now, hour] = [thisProcess(), new Date(), 3_600_000]
  const isLeft = (name: string, hours: number) => isLeftover(name, now.getTime() - hours * hour, { now })
  const gone = temporaryName({ ...here, pid: 2 ** 30 })
  expect([gone, temporaryName(), 'part.parquet'].map((name) => isLeft(name, 0))).toEqual([true, false, false])
  for (const other of [{ boot: 'another one' }, { host: 'elsewhere' }, { namespace: 'pid:[1]' }]) {
    const name = temporaryName({ ...here, ...other })
    expect([23, 25].map((hours) => isLeft(name, hours))).toEqual([false, true])
  }
  expect([temporaryName(), 'part.parquet'].map((name) => isLeft(name, 1000))).toEqual([false, false])
})
