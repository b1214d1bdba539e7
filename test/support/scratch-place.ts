import { existsSync, statfsSync } from 'node:fs'
import { release, tmpdir } from 'node:os'

const IN_MEMORY = '/dev/shm'
/** As `statfs` tells a file system in memory. */
const TMPFS = 0x01_02_19_94
/** The tests of three workers need a tenth of it. */
const ROOM_BYTES = 4 * 1024 ** 3
/** Since then it keeps attributes of files, in which the S3 server keeps what it knows of objects. */
const LINUX = 6.06

/**
 * Where tests write: in memory where there is one with room. On a disk they would wait half of their time for its syncs,
 * of which each file of a lake takes one; that they are asked for is what the tests of failing writes see.
 */
export const scratchPlace = (): string => {
  const [major = 0, minor = 0] = release().split('.').map(Number)
  if (process.env.TMPDIR || major + minor / 100 < LINUX || !existsSync(IN_MEMORY)) return tmpdir()
  const { type, bavail, bsize } = statfsSync(IN_MEMORY)
  return type === TMPFS && bavail * bsize >= ROOM_BYTES ? IN_MEMORY : tmpdir()
}
