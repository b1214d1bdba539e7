/** Runs a whole process and says what it took: time on the wall, CPU of it and its children, peak memory. */

import { spawn } from 'node:child_process'
import { mkdtemp, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'

export interface Usage {
  readonly wallSeconds: number
  readonly cpuSeconds: number
  readonly peakMegabytes: number
  /** Handed to the disk, temporary files included; 0 on a file system in memory, and where GNU time is missing. */
  readonly writtenMegabytes: number
}

const TIME = '/usr/bin/time'
/** In which the system counts what a process writes. */
const BLOCK_BYTES = 512

const run = (command: string, args: readonly string[]): Promise<{ code: number | null; output: string }> =>
  new Promise((resolve, reject) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] })
    let output = ''
    child.stdout.on('data', (chunk) => (output += chunk))
    child.stderr.on('data', (chunk) => (output += chunk))
    child.on('error', reject)
    child.on('close', (code) => resolve({ code, output }))
  })

/** GNU time where it is installed; otherwise a module that a process of Node loads first writes its own usage. */
const measured = async (
  report: string,
  command: string,
  args: readonly string[],
): Promise<{ code: number | null; output: string }> => {
  try {
    return await run(TIME, ['-f', '%U %S %M %O', '-o', report, command, ...args])
  } catch (error) {
    if (!(error instanceof Error && 'code' in error && error.code === 'ENOENT')) throw error
    if (command !== process.execPath)
      throw new Error(`Cannot measure "${command}": ${TIME} is missing, expected GNU time`)
    const reporter = `import('node:fs').then(({ writeFileSync }) => process.on('exit', () => {
      const { userCPUTime, systemCPUTime, maxRSS } = process.resourceUsage()
      writeFileSync(${JSON.stringify(report)}, [userCPUTime / 1e6, systemCPUTime / 1e6, maxRSS].join(' '))
    }))`
    return await run(process.execPath, [
      '--import',
      `data:text/javascript,${encodeURIComponent(reporter)}`,
      ...args,
    ])
  }
}

/** @throws {Error} when it ends with another code than 0 */
export const measureProcess = async (command: string, args: readonly string[]): Promise<Usage> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-usage-'))
  const report = join(folder, 'usage')
  try {
    const started = performance.now()
    const { code, output } = await measured(report, command, args)
    const wallSeconds = (performance.now() - started) / 1e3
    if (code !== 0) {
      throw new Error(
        `Cannot measure "${args[0]}": it ended with ${code}, expected 0\n${output.slice(-2_000)}`,
      )
    }
    const numbers = (await readFile(report, 'utf8')).trim().split(/\s+/).map(Number)
    const [user = 0, system = 0, kilobytes = 0, blocks = 0] = numbers
    return {
      ...{ wallSeconds, cpuSeconds: user + system, peakMegabytes: kilobytes / 1024 },
      writtenMegabytes: (blocks * BLOCK_BYTES) / 1e6,
    }
  } finally {
    await rm(folder, { recursive: true })
  }
}

/** A module that a process of Node loads first: at its end it writes the CPU seconds of its main thread. */
const mainThreadReporter = (report: string): string =>
  `data:text/javascript,${encodeURIComponent(`import { writeFileSync } from 'node:fs'
import { isMainThread } from 'node:worker_threads'
if (isMainThread) process.on('exit', () => {
  const { user, system } = process.threadCpuUsage()
  writeFileSync(${JSON.stringify(report)}, String((user + system) / 1e6))
})`)}`

export interface NodeUsage extends Usage {
  /** CPU of the main thread: what more cores do not take away. */
  readonly mainSeconds: number
}

/** @param args of `node` */
export const measureNode = async (args: readonly string[]): Promise<NodeUsage> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-usage-'))
  const report = join(folder, 'main-thread')
  try {
    const usage = await measureProcess(process.execPath, ['--import', mainThreadReporter(report), ...args])
    return { ...usage, mainSeconds: Number(await readFile(report, 'utf8')) }
  } finally {
    await rm(folder, { recursive: true })
  }
}

export const median = (values: readonly number[]): number => {
  const sorted = [...values].sort((a, b) => a - b)
  const half = Math.floor(sorted.length / 2)
  const [low = Number.NaN, high = Number.NaN] =
    sorted.length % 2 === 1 ? [sorted[half], sorted[half]] : [sorted[half - 1], sorted[half]]
  return (low + high) / 2
}
