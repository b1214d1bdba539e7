/** `doctor`: what this machine has, what is missing for what, and how a lake stands; the network is asked when told to. */

import { tmpdir } from 'node:os'
import { ToolkitError } from '../../core/errors.ts'
import { bucketScheme } from '../../core/lake-address.ts'
import { OPTIONAL_PART_NAMES, OPTIONAL_PARTS } from '../../core/optional-parts.ts'
import { FORMAT } from '../../manifest/form/root-form.ts'
import { listLeftovers } from '../../manifest/gc/lake-files.ts'
import { listRuns } from '../../manifest/runs/runs.ts'
import { newestRoot } from '../../manifest/snapshots/snapshots.ts'
import { DOCTOR } from '../../options/doctor.ts'
import type { Read } from '../../options/entry.ts'
import type { DoctorOptions } from '../../options/interfaces.ts'
import { job } from '../../options/job.ts'
import { openCatalog } from '../../publish/iceberg/catalog-client.ts'
import { storageOf } from '../../storage/open-storage.ts'
import { machineLimits } from '../../support/machine-limits.ts'
import { workBase } from '../../support/work-base.ts'
import { catalogFromEnvironment } from '../../targets/catalog-environment.ts'
import {
  checkDisk,
  checkDuckdb,
  checkMemory,
  checkNode,
  checkParts,
  type Disk,
  type Machine,
  machineWithin,
  readDisk,
} from './check-machine.ts'
import { type AskedService, askService, checkCredentials } from './check-service.ts'
import { askServer, checkBucket, type Needs, needsOf } from './check-targets.ts'
import { type MachineFinding, withinTime } from './finding.ts'

/** The findings of `doctor`. */
export interface Diagnosis {
  /** Whether all is there that the core and what is configured need. */
  readonly well: boolean
  readonly findings: readonly MachineFinding[]
  /** Variables that are set, of those that hold credentials or proxies: their names alone. */
  readonly variables: readonly string[]
  readonly machine: Machine
  readonly disks: readonly Disk[]
}

type Options = Read<DoctorOptions, typeof DOCTOR>

/** Their values are never shown. */
const VARIABLES = [
  ...['FIRMLAKE_TOKEN', 'FIRMLAKE_SERVE_TOKEN', 'FIRMLAKE_CURSOR_KEY', 'FIRMLAKE_CATALOG_TOKEN'],
  'FIRMLAKE_CATALOG_CREDENTIAL',
  ...OPTIONAL_PART_NAMES.flatMap((part) => OPTIONAL_PARTS[part].credentials ?? []),
  ...['HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'],
]

const serviceOf = (
  { url, tokenFile, tokenVariable = 'FIRMLAKE_TOKEN', uses = ['companies'], trustClock }: Options,
  env: NodeJS.ProcessEnv,
): AskedService | undefined => {
  const address = url ?? (env.FIRMLAKE_URL || undefined)
  const file = tokenFile ?? (env.FIRMLAKE_TOKEN_FILE || undefined)
  return address === undefined
    ? undefined
    : { url: address, tokenFile: file, tokenVariable, uses, trustClock }
}

const askCatalog = async (env: NodeJS.ProcessEnv, limitMs: number): Promise<readonly MachineFinding[]> => {
  const catalog = catalogFromEnvironment(env)
  if (catalog === undefined) return []
  const ask = async (signal: AbortSignal): Promise<string> => {
    await openCatalog(catalog, signal)
    return 'the Iceberg catalog answers'
  }
  return [await withinTime('catalog', limitMs, ask)]
}

interface Asked {
  readonly needs: Needs
  readonly service: AskedService | undefined
  /** The findings about this machine: a part that is missing here is not asked for. */
  readonly found: readonly MachineFinding[]
}

const askAll = async (
  { needs, service, found }: Asked,
  env: NodeJS.ProcessEnv,
  limitMs: number,
): Promise<readonly MachineFinding[]> => {
  const isThere = (about: string | undefined): boolean =>
    found.every((one) => one.about !== about || one.state === 'well')
  const buckets = needs.buckets.filter((address) => isThere(bucketScheme(address)))
  const servers = needs.servers.filter(({ part }) => isThere(part))
  const asked = [
    service && isThere('service') ? askService(service, env, limitMs) : [],
    ...buckets.map((address) => checkBucket(address, limitMs)),
    ...servers.map((server) => askServer(server, limitMs)),
    askCatalog(env, limitMs),
  ]
  return (await Promise.all(asked)).flat()
}

/** Nothing to say where there is none. */
const someOf = (about: string, says: string, count: number, mend: string): readonly MachineFinding[] =>
  count === 0 ? [] : [{ about, state: 'absent', says: `${says}: ${count}`, mend }]

const checkLake = async (lake: string, mayBeNew = false): Promise<readonly MachineFinding[]> => {
  try {
    const newest = await newestRoot(lake)
    const runs = await listRuns(lake, { now: new Date() })
    const leftovers = await listLeftovers(lake, { now: new Date() })
    return [
      { about: 'lake', state: 'well', says: `snapshot ${newest?.snapshot ?? 0} in format ${FORMAT}` },
      ...someOf('runs', 'unfinished runs', runs.length, `firmlake resume --lake ${lake}`),
      ...someOf('leftovers', 'leftovers', leftovers.length, `firmlake gc --lake ${lake}`),
    ]
  } catch (error) {
    if (!(error instanceof ToolkitError)) throw error
    if (mayBeNew && error.code === 'LAKE_NOT_FOUND')
      return [{ about: 'lake', state: 'absent', says: `"${lake}": none yet, the first load makes it` }]
    return [{ about: 'lake', state: 'missing', says: `${error.code}: ${error.message}` }]
  }
}

const diagnosed = async (options: Options): Promise<Diagnosis> => {
  const { lake, env = process.env, online = false, limitMs } = options
  const service = serviceOf(options, env)
  const needs = await needsOf(lake, options.sinks ?? env.FIRMLAKE_SINKS?.match(/\S+/g) ?? [])
  const machine = machineWithin(machineLimits())
  const folders = new Set([
    ...needs.folders.map((folder) => storageOf(folder).local),
    ...[workBase(env), tmpdir()],
  ])
  const disks = await Promise.all([...folders].map((folder) => readDisk(folder)))
  const found: readonly MachineFinding[] = [
    ...[checkNode(), checkMemory(machine), ...disks.map(checkDisk)],
    ...(await checkDuckdb(env)),
    ...checkParts(new Set([...needs.parts, ...(options.needs ?? [])])),
    ...needs.findings,
    ...(service ? [await checkCredentials(service, env)] : []),
  ]
  const asked = online ? await askAll({ needs, service, found }, env, limitMs) : []
  // A bucket that does not answer would be waited for once more.
  const isReached = asked.every(({ about, state }) => about !== 'bucket' || state === 'well')
  const findings = [
    ...found,
    ...asked,
    ...(lake !== undefined && isReached ? await checkLake(lake, options.mayBeNew) : []),
  ]
  return {
    well: findings.every(({ state }) => state !== 'missing'),
    findings,
    variables: VARIABLES.filter((name) => env[name] !== undefined && env[name] !== ''),
    machine,
    disks,
  }
}

const checked: (options: DoctorOptions) => Promise<Diagnosis> = job('doctor', DOCTOR, diagnosed)

/**
 * Says what this machine has and what is missing for what, with the line that mends it. Asks no network without `online`, but for
 * the bucket of a lake that is named; of secrets it knows whether a variable is set. In the folders of the lake, of the sinks, of
 * work and for temporary files it tries what a lake needs by files that are gone at the end.
 *
 * @returns what was found; `well` where the core and what is configured have all they need, and the lake can be read
 * @example
 * import { doctor } from 'firmlake'
 *
 * const { well } = await doctor()
 * console.log(well) // true
 */
export const doctor = (options: DoctorOptions = {}): Promise<Diagnosis> => checked(options)
