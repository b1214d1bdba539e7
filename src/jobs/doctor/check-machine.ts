/** Node, memory, disks and DuckDB: what the core needs of a machine. */

import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Engine } from '../../lake/duckdb/engine.ts'
import { loadHttpfs } from '../../lake/duckdb/httpfs.ts'
import { isInRange, PACKAGE_FOLDER, VERSION } from '../../support/own-package.ts'
import type { MachineFinding } from './finding.ts'
import type { Disk, Machine } from './machine-facts.ts'

const LEAST_MEMORY = 1024 ** 3
const LEAST_DISK = 1024 ** 3

const engines = (): string => {
  const text = readFileSync(join(PACKAGE_FOLDER, 'package.json'), 'utf8')
  const { engines: own } = JSON.parse(text) as { readonly engines: { readonly node: string } }
  return own.node
}

export const checkNode = (version = process.versions.node): MachineFinding => {
  const range = engines()
  const says = `Node ${version}`
  if (isInRange(version, range)) return { about: 'node', state: 'well', says }
  return {
    about: 'node',
    state: 'missing',
    says: `${says}, expected ${range}`,
    mend: `install Node ${range}`,
  }
}

export const checkMemory = ({ memoryBytes, limitBytes = memoryBytes, cpus }: Machine): MachineFinding => {
  const says = `${Math.round(limitBytes / 1024 ** 2)} MiB of memory, ${cpus} processors`
  if (limitBytes >= LEAST_MEMORY) return { about: 'memory', state: 'well', says }
  return {
    about: 'memory',
    state: 'absent',
    says: `${says}: less than a run takes`,
    mend: 'give --memory 500MiB',
  }
}

export const checkDisk = ({ folder, freeBytes, lacks }: Disk): MachineFinding => {
  const says = `"${folder}": ${Math.round(freeBytes / 1024 ** 2)} MiB free`
  if (lacks.length > 0)
    return { about: 'disk', state: 'missing', says: `${says}, without ${lacks.join(', ')}` }
  return { about: 'disk', state: freeBytes < LEAST_DISK ? 'absent' : 'well', says }
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

export const checkDuckdb = async (env: NodeJS.ProcessEnv): Promise<readonly MachineFinding[]> => {
  try {
    const engine = await Engine.open({ memoryBytes: 64 * 1024 ** 2, threads: 1 })
    try {
      const [row] = await (await engine.connect()).rows('SELECT version() AS version')
      return [
        { about: 'duckdb', state: 'well', says: `DuckDB ${String(row?.version)}` },
        await checkHttpfs(engine, env.FIRMLAKE_HTTPFS || undefined),
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
