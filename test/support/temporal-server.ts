/** A real Temporal server in a process of its own, on this machine only; `.ci/install-tools` installs it. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdtemp, readdir, rm } from 'node:fs/promises'
import { connect } from 'node:net'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { freePort } from './free-port.ts'

const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'firmlake-test-tools')
const BINARY = join(TOOLS, 'temporal', 'bin', 'temporal')
const READY_WITHIN_MS = 60_000
const PORT_ATTEMPTS = 5

export interface TemporalServer extends AsyncDisposable {
  /** `127.0.0.1:port`, the same after a restart. */
  readonly address: string
  /** Of its process, since it was started last. */
  readonly pid: () => number
  /** Ends it with SIGKILL and waits for its end. */
  readonly kill: () => Promise<void>
  /** Starts it again after `kill`, with all that it knew. */
  readonly start: () => Promise<void>
  /** Removes all that a killed server knew. */
  readonly forget: () => Promise<void>
}

/** What is missing for a server, if anything is. */
export const missingTemporal = (): string | undefined => (existsSync(BINARY) ? undefined : `no "${BINARY}"`)

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

const accepts = (port: number): Promise<boolean> =>
  new Promise((resolve) => {
    const socket = connect(port, '127.0.0.1')
    const end = (accepted: boolean) => () => {
      socket.destroy()
      resolve(accepted)
    }
    socket.once('connect', end(true)).once('error', end(false))
  })

/** Starts a server that ends when it is disposed of. @param settings of its own, `name=value` */
export const openTemporal = async (settings: readonly string[] = []): Promise<TemporalServer> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-temporal-'))
  let child: ChildProcess | undefined
  const kill = async (): Promise<void> => {
    if (child === undefined || hasEnded(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const startAt = async (port: number): Promise<boolean> => {
    const where = ['--ip', '127.0.0.1', '--port', String(port), '--db-filename', join(folder, 'state.db')]
    const more = settings.flatMap((one) => ['--dynamic-config-value', one])
    const started = spawn(
      BINARY,
      ['server', 'start-dev', '--headless', '--log-level', 'never', ...where, ...more],
      {
        cwd: folder,
        stdio: ['ignore', 'pipe', 'ignore'],
      },
    )
    child = started
    // It says its address when it is ready; before that the port may be anybody's.
    const ready = once(started.stdout, 'data').then(
      () => accepts(port),
      () => false,
    )
    const late = new AbortController()
    const isReady = await Promise.race([
      ready,
      once(started, 'exit').then(() => false),
      setTimeout(READY_WITHIN_MS, false, { signal: late.signal }).catch(() => false),
    ])
    late.abort()
    started.stdout.resume()
    if (!isReady) await kill()
    return isReady
  }
  const close = async (): Promise<void> => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const port = await freePort()
    if (!(await startAt(port))) continue
    return {
      address: `127.0.0.1:${port}`,
      pid: () => child?.pid ?? 0,
      kill,
      start: async () => {
        if (!(await startAt(port))) throw new Error(`Temporal does not start again on port ${port}`)
      },
      forget: async () => {
        for (const name of await readdir(folder)) await rm(join(folder, name))
      },
      [Symbol.asyncDispose]: close,
    }
  }
  await close()
  throw new Error(`Temporal does not start: see "${BINARY} server start-dev --help"`)
}
