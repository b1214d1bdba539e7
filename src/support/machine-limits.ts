/** Memory and processors that this process may use: those of the machine, less where a control group (version 1 or 2) sets a limit. */

import { readFileSync } from 'node:fs'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join, relative } from 'node:path'

export interface MachineLimits {
  readonly memoryBytes: number
  /** Whole processors: a part of one counts as one. */
  readonly cpus: number
}

const textOf = (path: string): string => {
  try {
    return readFileSync(path, 'utf8').trim()
  } catch {
    return ''
  }
}

const linesOf = (path: string): readonly string[] => textOf(path).split('\n')

/** The paths of this process's groups by controller: `memory`, `cpu`, and of version 2 an empty name. */
const groupPaths = (root: string): ReadonlyMap<string, string> =>
  new Map(
    linesOf(join(root, 'proc/self/cgroup')).flatMap((line) => {
      const [, names = '', ...path] = line.split(':')
      return names.split(',').map((name) => [name, path.join(':')] as const)
    }),
  )

/** The folders of this process's groups and of those above them. A container may see only its own, as a root. */
const groupFolders = (root: string): readonly string[] => {
  const paths = groupPaths(root)
  return linesOf(join(root, 'proc/self/mountinfo')).flatMap((line) => {
    const [before = '', after = ''] = line.split(' - ')
    const [, , , top = '', at = ''] = before.split(' ')
    const [type, , options = ''] = after.split(' ')
    const names = type === 'cgroup2' ? [''] : type === 'cgroup' ? options.split(',') : []
    const path = names.map((name) => paths.get(name)).find((one) => one !== undefined)
    if (path === undefined) return []
    const mount = join(root, at)
    const below = relative(top, path)
    const folders = [mount]
    if (below !== '' && !below.startsWith('..'))
      for (let folder = join(mount, below); folder !== mount; folder = dirname(folder)) folders.push(folder)
    return folders
  })
}

/** Version 2 writes `max` where there is no limit, version 1 -1 or a number near 2^63. */
const limitOf = (text: string): number => {
  const limit = Number(text)
  return limit > 0 ? limit : Number.POSITIVE_INFINITY
}

const memoryIn = (folder: string): number =>
  Math.min(
    ...['memory.max', 'memory.high', 'memory.limit_in_bytes'].map((name) =>
      limitOf(textOf(join(folder, name))),
    ),
  )

/** Processors' time in a period; version 2 writes both into one file. */
const cpusIn = (folder: string): number => {
  const [quota = '', period = ''] = textOf(join(folder, 'cpu.max')).split(' ', 2)
  const time = Math.min(limitOf(quota), limitOf(textOf(join(folder, 'cpu.cfs_quota_us'))))
  return time / (Number(period) || Number(textOf(join(folder, 'cpu.cfs_period_us'))) || 1)
}

/** @param root folder of the system's files @param machine without a limit */
export const readMachineLimits = (
  root = '/',
  machine: MachineLimits = { memoryBytes: totalmem(), cpus: availableParallelism() },
): MachineLimits => {
  const folders = groupFolders(root)
  return {
    memoryBytes: Math.min(machine.memoryBytes, ...folders.map(memoryIn)),
    cpus: Math.min(machine.cpus, Math.ceil(Math.min(...folders.map(cpusIn)))),
  }
}

let own: MachineLimits | undefined

/** The limits of this process, as they were at the first call. */
export const machineLimits = (): MachineLimits => {
  own ??= readMachineLimits()
  return own
}
