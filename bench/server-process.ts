/** `firmlake serve` as a process of its own: how long it takes to listen, and what it uses. Reads `/proc` of Linux. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'

const TOKEN = 'benchmark-token-0123456789abcdef'
/** The entry of the command line. */
export const MAIN = join(import.meta.dirname, '../src/cli/main.ts')
/** Ticks a second of the times in `/proc/<pid>/stat`: 100 on all common machines. */
const TICKS = 100

export interface ServerUsage {
  readonly cpuSeconds: number
  readonly peakMegabytes: number
}

export interface ServerProcess {
  readonly url: string
  readonly token: string
  /** From spawn until it listens. */
  readonly startSeconds: number
  /** So far. */
  readonly usage: () => Promise<ServerUsage>
  readonly stop: () => Promise<void>
}

const usageOf = async (pid: number): Promise<ServerUsage> => {
  const stat = await readFile(`/proc/${pid}/stat`, 'utf8')
  const status = await readFile(`/proc/${pid}/status`, 'utf8')
  // Behind the name in brackets, which may hold blanks: the fields from the third on.
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const [user, system] = [fields[11], fields[12]].map(Number)
  const peakKilobytes = Number(/^VmHWM:\s+(\d+)/m.exec(status)?.[1])
  return { cpuSeconds: ((user ?? 0) + (system ?? 0)) / TICKS, peakMegabytes: peakKilobytes / 1024 }
}

const addressOf = (child: ChildProcess): Promise<string> =>
  new Promise((resolve, reject) => {
    let said = ''
    child.stderr?.on('data', (chunk) => {
      said += chunk
      const address = /^Serving .* at (http\S+)$/m.exec(said)?.[1]
      if (address !== undefined) resolve(address)
    })
    child.once('error', reject)
    child.once('exit', (code) => reject(new Error(`The server ended with ${code}: ${said.slice(-2000)}`)))
  })

/** Starts a server over a lake; its serving index is made first where there is none. */
export const startServer = async (lake: string): Promise<ServerProcess> => {
  const begun = performance.now()
  const child = spawn(process.execPath, [MAIN, 'serve', '--lake', lake, '--port', '0'], {
    stdio: ['ignore', 'ignore', 'pipe'],
    env: { ...process.env, FIRMLAKE_SERVE_TOKEN: TOKEN },
  })
  const url = await addressOf(child)
  const startSeconds = (performance.now() - begun) / 1e3
  const { pid } = child
  if (pid === undefined) throw new Error('The server has no process id')
  return {
    url,
    token: TOKEN,
    startSeconds,
    usage: () => usageOf(pid),
    stop: async () => {
      const ended = once(child, 'exit')
      child.kill('SIGTERM')
      await ended
    },
  }
}
