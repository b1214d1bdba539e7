/** What a machine has that the toolkit needs, asked of the system; nothing of the network. */

import { chmod, link, mkdtemp, open, readFile, rm, stat, statfs } from 'node:fs/promises'
import { availableParallelism, totalmem } from 'node:os'
import { dirname, join } from 'node:path'

/** Memory and processors of this process. */
export interface Machine {
  readonly memoryBytes: number
  /** What the control group allows; absent where it sets no limit. */
  readonly limitBytes?: number
  readonly cpus: number
}

const limitIn = async (path: string): Promise<number | undefined> => {
  const bytes = Number(await readFile(path, 'utf8').catch(() => ''))
  // Version 1 writes a number near 2^63 where there is no limit.
  return bytes > 0 && bytes < totalmem() ? bytes : undefined
}

export const readMachine = async (): Promise<Machine> => {
  const limitBytes =
    (await limitIn('/sys/fs/cgroup/memory.max')) ??
    (await limitIn('/sys/fs/cgroup/memory/memory.limit_in_bytes'))
  return {
    memoryBytes: totalmem(),
    ...(limitBytes !== undefined && { limitBytes }),
    cpus: availableParallelism(),
  }
}

/** A folder's disk. */
export interface Disk {
  readonly folder: string
  readonly freeBytes: number
  /** What a lake needs of a file system, and this one does not do: `fsync`, `hard links`, `modes`, `write access`. */
  readonly lacks: readonly string[]
}

/** The folder itself, or the one above in which it would be made. */
const standing = async (folder: string): Promise<string> =>
  (await stat(folder).catch(() => null)) !== null || dirname(folder) === folder
    ? folder
    : standing(dirname(folder))

const attempt = async (what: string, work: () => Promise<unknown>): Promise<readonly string[]> => {
  try {
    await work()
    return []
  } catch {
    return [what]
  }
}

/** Tries what a lake needs, in a folder of its own that goes away. */
const lacksOf = async (folder: string): Promise<readonly string[]> => {
  const own = await mkdtemp(join(folder, '.firmlake-doctor-')).catch(() => null)
  if (own === null) return ['write access']
  const [file, second] = [join(own, 'file'), join(own, 'link')]
  try {
    return [
      ...(await attempt('fsync', async () => {
        const handle = await open(file, 'w', 0o600)
        await handle.sync().finally(() => handle.close())
      })),
      ...(await attempt('hard links', () => link(file, second))),
      ...(await attempt('modes', async () => {
        await chmod(file, 0o640)
        if (((await stat(file)).mode & 0o777) !== 0o640) throw new Error('another mode')
      })),
    ]
  } finally {
    await rm(own, { recursive: true, force: true })
  }
}

export const readDisk = async (folder: string): Promise<Disk> => {
  const place = await standing(folder)
  const { bavail, bsize } = await statfs(place)
  return { folder, freeBytes: bavail * bsize, lacks: await lacksOf(place) }
}
