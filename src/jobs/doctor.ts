/** `doctor`: what this machine has, what is missing for what, and how a lake stands; asks no network. */

import { readFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { ToolkitError } from '../core/errors.ts'
import { installLine, missingPackages, OPTIONAL_PART_NAMES, OPTIONAL_PARTS } from '../core/optional-parts.ts'
import { Engine } from '../lake/duckdb/engine.ts'
import { loadHttpfs } from '../lake/duckdb/httpfs.ts'
import { listLeftovers } from '../manifest/lake-files.ts'
import { NEWEST_FORMAT } from '../manifest/root-form.ts'
import { listRuns } from '../manifest/runs.ts'
import { newestNumber, readFormat } from '../manifest/snapshots.ts'
import { storageOf } from '../storage/open-storage.ts'
import { VERSION } from '../support/tool-version.ts'
import { workBase } from '../support/work-base.ts'
import { type Disk, type Machine, readDisk, readMachine } from './machine-facts.ts'

/** One thing that was looked at. */
export interface MachineFinding {
  readonly about: string
  /** `missing`: the core needs it. `absent`: some commands do. */
  readonly state: 'well' | 'absent' | 'missing'
  readonly says: string
  /** The one line that mends it. */
  readonly mend?: string
}

/** What `doctor` has found. */
export interface Diagnosis {
  /** Whether all is there that the core needs. */
  readonly well: boolean
  readonly findings: readonly MachineFinding[]
  /** Variables that are set, of those that hold credentials or proxies: their names alone. */
  readonly variables: readonly string[]
  readonly machine: Machine
  readonly disks: readonly Disk[]
}

/** Options of `doctor`. */
export interface DoctorOptions {
  /** A lake to be looked at too: a folder, or `s3://bucket/prefix`. @default none */
  readonly lake?: string | undefined
  /** @default those of this process */
  readonly env?: NodeJS.ProcessEnv | undefined
}

const LEAST_MEMORY = 1024 ** 3
const LEAST_DISK = 1024 ** 3

/** Their values are never read. */
const VARIABLES = [
  ...(['FIRMLAKE_TOKEN', 'FIRMLAKE_SERVE_TOKEN', 'FIRMLAKE_CURSOR_KEY', 'FIRMLAKE_CATALOG_TOKEN'] as const),
  ...([
    'FIRMLAKE_CATALOG_CREDENTIAL',
    'AWS_ACCESS_KEY_ID',
    'AWS_SECRET_ACCESS_KEY',
    'AWS_SESSION_TOKEN',
  ] as const),
  ...(['AWS_PROFILE', 'PGPASSWORD', 'HTTPS_PROXY', 'HTTP_PROXY', 'NO_PROXY'] as const),
]

const engines = (): string => {
  const text = readFileSync(new URL('../../package.json', import.meta.url), 'utf8')
  const { engines: own } = JSON.parse(text) as { readonly engines: { readonly node: string } }
  return own.node
}

const checkNode = (version = process.versions.node): MachineFinding => {
  const wanted = engines()
  const least = wanted.replace('>=', '').split('.').map(Number)
  const parts = version.split('.').map(Number)
  const at = parts.findIndex((part, place) => part !== (least[place] ?? 0))
  const isEnough = at < 0 || Number(parts[at]) > (least[at] ?? 0)
  return isEnough
    ? { about: 'node', state: 'well', says: `Node ${version}` }
    : {
        about: 'node',
        state: 'missing',
        says: `Node ${version}, expected ${wanted}`,
        mend: `install Node ${wanted}`,
      }
}

const checkMachine = ({ memoryBytes, limitBytes = memoryBytes, cpus }: Machine): MachineFinding => {
  const says = `${Math.round(limitBytes / 1024 ** 2)} MiB of memory, ${cpus} processors`
  return limitBytes < LEAST_MEMORY
    ? {
        about: 'memory',
        state: 'absent',
        says: `${says}: less than a run takes`,
        mend: 'give --memory 500MiB',
      }
    : { about: 'memory', state: 'well', says }
}

const checkDisk = ({ folder, freeBytes, lacks }: Disk): MachineFinding => {
  const says = `"${folder}": ${Math.round(freeBytes / 1024 ** 2)} MiB free`
  if (lacks.length > 0)
    return { about: 'disk', state: 'missing', says: `${says}, without ${lacks.join(', ')}` }
  return { about: 'disk', state: freeBytes < LEAST_DISK ? 'absent' : 'well', says }
}

const checkDuckdb = async (): Promise<readonly MachineFinding[]> => {
  try {
    const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
    try {
      const session = await engine.connect()
      const [row] = await session.rows('SELECT version() AS version')
      const well: MachineFinding = { about: 'duckdb', state: 'well', says: `DuckDB ${String(row?.version)}` }
      const why = await loadHttpfs(session, {}).catch((error: unknown) => String(error))
      if (why === undefined)
        return [well, { about: 'httpfs', state: 'well', says: 'buckets are read in place' }]
      return [
        well,
        {
          ...{
            about: 'httpfs',
            state: 'absent',
            says: 'without it files of a bucket are copied before they are read',
          },
          mend: 'give --install-extensions, or its file in FIRMLAKE_HTTPFS',
        },
      ]
    } finally {
      engine.close()
    }
  } catch (error) {
    return [
      {
        ...{
          about: 'duckdb',
          state: 'missing',
          says: `DuckDB does not start: ${String(error).split('\n', 1)[0]}`,
        },
        mend: `npm install firmlake@${VERSION}`,
      },
    ]
  }
}

const checkParts = (): readonly MachineFinding[] =>
  OPTIONAL_PART_NAMES.map((part) => {
    const { title, purpose } = OPTIONAL_PARTS[part]
    const missing = missingPackages(part)
    return missing.length === 0
      ? { about: part, state: 'well', says: `${title}: ${purpose}` }
      : {
          about: part,
          state: 'absent',
          says: `${title} is not installed: ${purpose}`,
          mend: installLine(part),
        }
  })

const checkLake = async (lake: string): Promise<readonly MachineFinding[]> => {
  try {
    const newest = await newestNumber(lake)
    const format = newest === 0 ? NEWEST_FORMAT : await readFormat(lake, newest)
    const runs = (await listRuns(lake, { now: new Date() })).length
    const leftovers = (await listLeftovers(lake, { now: new Date() })).length
    return [
      {
        ...{ about: 'lake', state: 'well', says: `snapshot ${newest} in format ${format}` },
        ...(format < NEWEST_FORMAT && { mend: `firmlake upgrade --lake ${lake}` }),
      },
      ...(runs > 0
        ? [
            {
              about: 'runs',
              state: 'absent',
              says: `unfinished runs: ${runs}`,
              mend: `firmlake resume --lake ${lake}`,
            } as const,
          ]
        : []),
      ...(leftovers > 0
        ? [
            {
              about: 'leftovers',
              state: 'absent',
              says: `leftovers: ${leftovers}`,
              mend: `firmlake gc --lake ${lake}`,
            } as const,
          ]
        : []),
    ]
  } catch (error) {
    if (!(error instanceof ToolkitError)) throw error
    return [{ about: 'lake', state: 'missing', says: `${error.code}: ${error.message}` }]
  }
}

/**
 * Says what this machine has and what is missing for what, with the line that mends it. Asks no network, but for the bucket of
 * a lake that is named; of secrets it knows whether a variable is set. In the folders of the lake, of work and for temporary files it
 * tries what a lake needs by files that are gone at the end.
 *
 * @returns what was found; `well` where the core has all it needs, and the lake can be read
 * @example
 * import { doctor } from 'firmlake'
 *
 * const { well } = await doctor()
 * console.log(well) // true
 */
export const doctor = async ({ lake, env = process.env }: DoctorOptions = {}): Promise<Diagnosis> => {
  const machine = await readMachine()
  const isFolder = lake !== undefined && !/^[a-z0-9]+:\/\//i.test(lake)
  const folders = [...new Set([...(isFolder ? [storageOf(lake).local] : []), workBase(env), tmpdir()])]
  const disks = await Promise.all(folders.map((folder) => readDisk(folder)))
  const findings: readonly MachineFinding[] = [
    checkNode(),
    checkMachine(machine),
    ...disks.map(checkDisk),
    ...(await checkDuckdb()),
    ...checkParts(),
    ...(lake === undefined ? [] : await checkLake(lake)),
  ]
  return {
    well: findings.every(({ state }) => state !== 'missing'),
    findings,
    variables: VARIABLES.filter((name) => env[name] !== undefined && env[name] !== ''),
    machine,
    disks,
  }
}
