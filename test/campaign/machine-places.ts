/** Where the lakes of a campaign stand: in a folder, in a bucket, in a bucket whose server loses answers. */

import { mkdir, symlink } from 'node:fs/promises'
import { join } from 'node:path'
import { type Fate, openProxy, type Passing } from '../storage/loopback-proxy.ts'
import { type Environment, missingS3Server, openS3Server, s3Environment } from '../support/s3-server.ts'

export const PLACES = ['folder', 'bucket', 'bucket that loses answers'] as const
export type PlaceName = (typeof PLACES)[number]

export interface Place extends AsyncDisposable {
  /** The address of a new lake. */
  readonly lake: (name: string) => string
  /** For the processes of a machine. @param machine a folder of its own */
  readonly environment: (machine: string) => Environment
  /** Answers that were lost so far. */
  readonly lost: () => number
}

export const missingFor = (name: PlaceName): string | undefined =>
  name === 'folder' ? undefined : missingS3Server()

/** Of requests that create something only if it is absent, and of all others that change something. */
const LOST = { creating: 0.15, changing: 0.03 }

/** Loses answers to requests that are carried out; that of one request never twice in a row. */
const losing = (random: () => number, count: () => void): ((passing: Passing) => Fate) => {
  const lost = new Set<string>()
  return ({ method, url, headers }) => {
    if (method === 'GET' || method === 'HEAD') return undefined
    const share = headers['if-none-match'] === undefined ? LOST.changing : LOST.creating
    const request = `${method} ${url}`
    if (lost.delete(request) || random() >= share) return undefined
    lost.add(request)
    count()
    return { kind: 'answer lost' }
  }
}

const inFolder = (folder: string): Place => ({
  lake: (name) => join(folder, name, 'lake'),
  environment: (machine) => ({ FIRMLAKE_WORK_DIR: machine }),
  lost: () => 0,
  [Symbol.asyncDispose]: async () => undefined,
})

/** @param folder for lakes that stand in one */
export const openPlace = async (name: PlaceName, folder: string, random: () => number): Promise<Place> => {
  if (name === 'folder') return inFolder(folder)
  let lost = 0
  const server = await openS3Server()
  await server.makeBucket('lakes')
  const decide = losing(random, () => {
    lost += 1
  })
  const proxy = name === 'bucket' ? undefined : await openProxy(server.endpoint, decide)
  const { accessKey, secretKey } = server
  const { endpoint } = proxy ?? server
  return {
    lake: (lake) => `s3://lakes/${lake}`,
    environment: (machine) => s3Environment({ endpoint, accessKey, secretKey }, machine),
    lost: () => lost,
    [Symbol.asyncDispose]: async () => {
      await proxy?.[Symbol.asyncDispose]()
      await server[Symbol.asyncDispose]()
    },
  }
}

/** Folders of machines. What Node has compiled for one is there for all: it would take most of the time. */
export const makeMachines = async (folder: string, count: number): Promise<readonly string[]> => {
  const machines = Array.from({ length: count }, (_, at) => join(folder, `machine-${at}`))
  const compiled = join(folder, 'compiled')
  await mkdir(compiled, { mode: 0o700 })
  for (const machine of machines) {
    await mkdir(machine)
    await symlink(compiled, join(machine, 'compiled'))
  }
  return machines
}

/** Does something with variables in this process's environment. */
export const withEnvironment = async <T>(variables: Environment, work: () => Promise<T>): Promise<T> => {
  const before = Object.keys(variables).map((name) => [name, process.env[name]] as const)
  const set = (name: string, value: string | undefined): void => {
    if (value === undefined) delete process.env[name]
    else process.env[name] = value
  }
  for (const [name, value] of Object.entries(variables)) set(name, value)
  try {
    return await work()
  } finally {
    for (const [name, value] of before) set(name, value)
  }
}
