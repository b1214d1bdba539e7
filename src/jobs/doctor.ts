/** `doctor`: what this machine has, and what is missing for what; the network is asked when told to. */

import { bucketScheme } from '../core/lake-address.ts'
import {
  checkDuckdb,
  checkMemory,
  checkNode,
  checkParts,
  type Machine,
  machineWithin,
} from '../doctor/check-machine.ts'
import { askService, checkCredentials, type DoctorService } from '../doctor/check-service.ts'
import { askServer, checkBucket, type Needs, needsOf } from '../doctor/check-targets.ts'
import type { MachineFinding } from '../doctor/finding.ts'
import { DOCTOR } from '../options/doctor.ts'
import type { Read } from '../options/entry.ts'
import type { DoctorOptions } from '../options/interfaces.ts'
import { job } from '../options/job.ts'
import { machineLimits } from '../support/machine-limits.ts'

/** The findings of `doctor`. */
export interface Diagnosis {
  /** Whether all is there that the core and what is configured need. */
  readonly well: boolean
  readonly findings: readonly MachineFinding[]
  readonly machine: Machine
}

type Options = Read<DoctorOptions, typeof DOCTOR>

const serviceOf = (
  { url, tokenFile, tokenVariable = 'FIRMLAKE_TOKEN', uses = ['companies'], trustClock }: Options,
  env: NodeJS.ProcessEnv,
): DoctorService | undefined => {
  const address = url ?? (env.FIRMLAKE_URL || undefined)
  const file = tokenFile ?? (env.FIRMLAKE_TOKEN_FILE || undefined)
  return address === undefined
    ? undefined
    : { url: address, tokenFile: file, tokenVariable, uses, trustClock }
}

interface Asked {
  readonly needs: Needs
  readonly service: DoctorService | undefined
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
  ]
  return (await Promise.all(asked)).flat()
}

const diagnosed = async (options: Options): Promise<Diagnosis> => {
  const { lake, env = process.env, online = false, limitMs } = options
  const service = serviceOf(options, env)
  const needs = needsOf(lake, options.sinks ?? env.FIRMLAKE_SINKS?.match(/\S+/g) ?? [])
  const machine = machineWithin(machineLimits())
  const found: readonly MachineFinding[] = [
    ...[checkNode(), checkMemory(machine)],
    ...(await checkDuckdb(env)),
    ...checkParts(new Set([...needs.parts, ...(options.needs ?? [])])),
    ...(service ? [await checkCredentials(service, env)] : []),
  ]
  const findings = online ? [...found, ...(await askAll({ needs, service, found }, env, limitMs))] : found
  return { well: findings.every(({ state }) => state !== 'missing'), findings, machine }
}

const checked: (options: DoctorOptions) => Promise<Diagnosis> = job('doctor', DOCTOR, diagnosed)

/**
 * Says what this machine has and what is missing for what, with the line that mends it. Asks no network without `online`; of secrets it
 * knows whether a variable is set.
 *
 * @returns what was found; `well` where the core and what is configured have all they need
 * @example
 * import { doctor } from 'firmlake'
 *
 * const { well } = await doctor()
 * console.log(well) // true
 */
export const doctor = (options: DoctorOptions = {}): Promise<Diagnosis> => checked(options)
