/** A real S3 server over a temporary folder, in a process of its own: versitygw, which `.ci/install-tools` installs. */

import { type ChildProcess, spawn } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { once } from 'node:events'
import { existsSync } from 'node:fs'
import { mkdir, mkdtemp, rm } from 'node:fs/promises'
import { homedir, tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout } from 'node:timers/promises'
import { onTestFinished, type TestContext, vi } from 'vitest'
import { freePort } from './free-port.ts'
import { needs } from './needs.ts'

export const TOOLS =
  process.env.FIRMLAKE_TEST_TOOLS ||
  join(process.env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'firmlake-test-tools')
const BINARY = join(TOOLS, 'bin', 'versitygw')
const READY_WITHIN_MS = 30_000
const PORT_ATTEMPTS = 5

export interface S3Server {
  /** `http://127.0.0.1:port`, the same after a restart. */
  readonly endpoint: string
  readonly accessKey: string
  readonly secretKey: string
  /** Its buckets are the folders in it, its objects the files in those. */
  readonly folder: string
  readonly makeBucket: (name: string) => Promise<void>
  /** Ends it with SIGKILL and waits for its end. */
  readonly kill: () => Promise<void>
  /** Starts it again after `kill`, on the same port and folder, and waits until it answers. */
  readonly start: () => Promise<void>
}

const hasEnded = (child: ChildProcess): boolean => child.exitCode !== null || child.signalCode !== null

/** Waits until this very process answers: nobody else knows the path that is asked for. */
const isReady = async (child: ChildProcess, health: string): Promise<boolean> => {
  for (const end = Date.now() + READY_WITHIN_MS; Date.now() < end && !hasEnded(child); await setTimeout(10)) {
    const answer = await fetch(health).catch(() => null)
    await answer?.body?.cancel()
    if (answer?.ok) return true
  }
  return false
}

/** What is missing for a server, if anything is. */
export const missingS3Server = (): string | undefined => (existsSync(BINARY) ? undefined : `no "${BINARY}"`)

/** Starts a server that ends with the test. Skips the test where the server is not installed. */
export const startS3Server = async (context: TestContext): Promise<S3Server> => {
  needs(context, 'versitygw, which .ci/install-tools installs', missingS3Server())
  const server = await openS3Server()
  onTestFinished(() => server[Symbol.asyncDispose]())
  return server
}

/** Starts a server that ends when it is disposed of. */
export const openS3Server = async (): Promise<S3Server & AsyncDisposable> => {
  const folder = await mkdtemp(join(tmpdir(), 'firmlake-s3-'))
  const [accessKey, secretKey] = [`AK${randomUUID().slice(0, 8)}`, `sk${randomUUID()}`]
  const health = `/health-${randomUUID()}`
  let child: ChildProcess | undefined

  const kill = async (): Promise<void> => {
    if (child === undefined || hasEnded(child)) return
    child.kill('SIGKILL')
    await once(child, 'exit')
  }
  const startAt = async (port: number): Promise<boolean> => {
    const server = ['--port', `127.0.0.1:${port}`, '--health', health, '--quiet']
    const env = { ...process.env, ROOT_ACCESS_KEY_ID: accessKey, ROOT_SECRET_ACCESS_KEY: secretKey }
    child = spawn(BINARY, [...server, 'posix', folder], { env, stdio: 'ignore' })
    if (await isReady(child, `http://127.0.0.1:${port}${health}`)) return true
    await kill()
    return false
  }

  const close = async (): Promise<void> => {
    await kill()
    await rm(folder, { recursive: true, force: true })
  }
  for (let attempt = 0; attempt < PORT_ATTEMPTS; attempt += 1) {
    const port = await freePort()
    if (!(await startAt(port))) continue
    return {
      endpoint: `http://127.0.0.1:${port}`,
      accessKey,
      secretKey,
      folder,
      makeBucket: async (name) => {
        await mkdir(join(folder, name))
      },
      kill,
      start: async () => {
        if (!(await startAt(port))) throw new Error(`versitygw does not start again on port ${port}`)
      },
      [Symbol.asyncDispose]: close,
    }
  }
  await close()
  throw new Error(`versitygw does not start: see "${BINARY} --help"`)
}

/** Variables; those without a value are taken out. */
export type Environment = Readonly<Record<string, string | undefined>>

/** The environment in which the SDK finds a server, and nothing of this machine's own settings. */
export const s3Environment = (
  { endpoint, accessKey, secretKey }: Pick<S3Server, 'endpoint' | 'accessKey' | 'secretKey'>,
  workFolder: string,
): Environment => ({
  AWS_ENDPOINT_URL_S3: endpoint,
  AWS_ACCESS_KEY_ID: accessKey,
  AWS_SECRET_ACCESS_KEY: secretKey,
  AWS_SESSION_TOKEN: undefined,
  AWS_PROFILE: undefined,
  AWS_CONFIG_FILE: '/dev/null',
  AWS_SHARED_CREDENTIALS_FILE: '/dev/null',
  AWS_EC2_METADATA_DISABLED: 'true',
  AWS_REGION: undefined,
  AWS_ENDPOINT_URL: undefined,
  AWS_MAX_ATTEMPTS: undefined,
  FIRMLAKE_CACHE_BYTES: undefined,
  FIRMLAKE_WORK_DIR: workFolder,
})

/** Sets variables of this process's environment until the test is over. */
export const stubEnvironment = (variables: Environment): void => {
  onTestFinished(() => {
    vi.unstubAllEnvs()
  })
  for (const [name, value] of Object.entries(variables)) vi.stubEnv(name, value)
}
