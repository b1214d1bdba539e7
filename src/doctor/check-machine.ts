/** Node, memory, DuckDB and the optional packages: what the toolkit needs of a machine. Asks nothing of the network. */

import { totalmem } from 'node:os'
import { FIXED_NODE } from '../core/brotli.ts'
import { defaultMemory } from '../core/memory-shares.ts'
import {
  installedVersion,
  installLine,
  OPTIONAL_PART_NAMES,
  OPTIONAL_PARTS,
  type OptionalPartName,
  type Resolve,
} from '../core/optional-parts.ts'
import { Engine, type Session } from '../lake/duckdb/engine.ts'
import { loadHttpfs } from '../lake/duckdb/httpfs.ts'
import { formatBytes, formatCounted } from '../support/format.ts'
import type { MachineLimits } from '../support/machine-limits.ts'
import { ENGINES, isInRange, VERSION } from '../support/own-package.ts'
import type { MachineFinding } from './finding.ts'

/** With so much memory every command has two threads by default. */
const MIN_MEMORY = 1024 ** 3

export const checkNode = (version = process.versions.node): MachineFinding => {
  const says = `Node ${version}`
  if (isInRange(version, ENGINES)) return { about: 'node', state: 'well', says }
  return {
    about: 'node',
    state: 'missing',
    says: `${says}: Brotli data can overwrite its memory (CVE-2026-111497)`,
    mend: `install ${FIXED_NODE}`,
  }
}

/** Memory and processors of this process. */
export interface Machine {
  readonly memoryBytes: number
  /** The limit of the control group; absent if it sets none. */
  readonly limitBytes?: number
  readonly cpus: number
}

export const machineWithin = (
  { memoryBytes: limitBytes, cpus }: MachineLimits,
  memoryBytes = totalmem(),
): Machine => ({
  memoryBytes,
  ...(limitBytes < memoryBytes && { limitBytes }),
  cpus,
})

export const checkMemory = ({ memoryBytes, limitBytes = memoryBytes, cpus }: Machine): MachineFinding => {
  const says = `${formatBytes(limitBytes)} of memory, ${formatCounted(cpus, 'processor')}`
  if (limitBytes >= MIN_MEMORY) return { about: 'memory', state: 'well', says }
  return {
    about: 'memory',
    state: 'absent',
    says: `${says}: commands take at most ${formatBytes(defaultMemory(limitBytes))} of it`,
    mend: 'give it 1 GiB, so that compactions and loads have two threads',
  }
}

const WITHOUT_HTTPFS: MachineFinding = {
  about: 'httpfs',
  state: 'absent',
  says: 'without it files of a bucket are copied before they are read',
  mend: 'bring its file to this machine, and name it in FIRMLAKE_HTTPFS',
}

const checkHttpfs = async (engine: Engine, httpfs: string | undefined): Promise<MachineFinding> => {
  try {
    const why = await loadHttpfs(await engine.connect(), httpfs)
    return why === undefined
      ? { about: 'httpfs', state: 'well', says: 'files of buckets are read in place' }
      : WITHOUT_HTTPFS
  } catch {
    return {
      about: 'httpfs',
      state: 'missing',
      says: `"${httpfs}" of FIRMLAKE_HTTPFS is no httpfs of this version of DuckDB`,
      mend: 'name its file, or leave FIRMLAKE_HTTPFS out',
    }
  }
}

/**
 * Whether DuckDB has the extension with which it attaches a `lake.ducklake`: firmlake itself takes none. Nothing is downloaded.
 *
 * @param session its settings say where extensions are looked for
 */
export const checkDuckLake = async (session: Session, version: string): Promise<MachineFinding> => {
  try {
    await session.run('LOAD ducklake')
    return { about: 'ducklake', state: 'well', says: 'DuckDB attaches a lake.ducklake here' }
  } catch {
    return {
      about: 'ducklake',
      state: 'absent',
      says: `DuckDB ${version} has no ducklake here, with which it attaches a lake.ducklake; lake.duckdb needs none`,
      mend: 'run INSTALL ducklake in DuckDB of this version',
    }
  }
}

export const checkDuckdb = async (env: NodeJS.ProcessEnv): Promise<readonly MachineFinding[]> => {
  try {
    const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
    try {
      const session = await engine.connect()
      const [row] = await session.rows('SELECT version() AS version')
      const version = String(row?.version)
      return [
        { about: 'duckdb', state: 'well', says: `DuckDB ${version}` },
        await checkHttpfs(engine, env.FIRMLAKE_HTTPFS || undefined),
        await checkDuckLake(session, version),
      ]
    } finally {
      engine.close()
    }
  } catch (error) {
    return [
      {
        about: 'duckdb',
        state: 'missing',
        says: `DuckDB does not start: ${String(error).split('\n', 1)[0]}`,
        mend: `npm install firmlake@${VERSION}`,
      },
    ]
  }
}

interface FoundPackage {
  readonly name: string
  readonly range: string
  readonly version: string | undefined
}

const wrongText = ({ name, range, version }: FoundPackage): string => `${name} ${version}, expected ${range}`

const checkPart = (
  part: OptionalPartName,
  isNeeded: boolean,
  resolve: Resolve | undefined,
): MachineFinding => {
  const { title, purpose, packages } = OPTIONAL_PARTS[part]
  const found = packages.map(
    ({ name, range }): FoundPackage => ({ name, range, version: installedVersion(name, resolve) }),
  )
  const mend = { state: isNeeded ? 'missing' : 'absent', mend: installLine(part) } as const
  const missing = found.filter(({ version }) => version === undefined)
  if (missing.length === found.length)
    return { about: part, says: `${title} is not installed: ${purpose}`, ...mend }
  if (missing.length > 0) {
    const names = missing.map(({ name }) => name).join(', ')
    return { about: part, says: `${title} is installed without ${names}: ${purpose}`, ...mend }
  }
  const wrong = found.filter(({ version = '', range }) => !isInRange(version, range))
  if (wrong.length > 0)
    return { about: part, says: `${title} is installed as ${wrong.map(wrongText).join('; ')}`, ...mend }
  const [first, ...others] = found.map(({ version }) => version)
  const versions = others.every((version) => version === first)
    ? first
    : `(${found.map(({ name, version }) => `${name} ${version}`).join(', ')})`
  return { about: part, state: 'well', says: `${title} ${versions}: ${purpose}` }
}

/** @param needed parts that the configuration needs */
export const checkParts = (
  needed: ReadonlySet<OptionalPartName>,
  resolve?: Resolve,
): readonly MachineFinding[] => OPTIONAL_PART_NAMES.map((part) => checkPart(part, needed.has(part), resolve))
