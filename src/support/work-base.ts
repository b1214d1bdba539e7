/** The folder of this user on this machine. The entry of the command line loads it before its compile cache: it stays small. */

import { existsSync, mkdirSync, realpathSync, statSync } from 'node:fs'
import { homedir, tmpdir } from 'node:os'
import { dirname, join } from 'node:path'

/**
 * A folder of this user among the temporary files, made at once so that nobody else makes it first.
 *
 * @throws {Error} where somebody else has
 */
const temporaryHome = (temporary: string): string => {
  const folder = join(temporary, `firmlake-home-${process.getuid?.() ?? 'user'}`)
  try {
    mkdirSync(folder, { mode: 0o700 })
  } catch {
    // The folder is there, or whoever writes there says why not.
  }
  if (!existsSync(folder) || isPrivateFolder(folder)) return folder
  throw new Error(
    `Cannot keep files in "${folder}": others can write there, expected HOME or FIRMLAKE_WORK_DIR to name a folder`,
  )
}

/** The home that the system names. Without `HOME` it knows none of some users, as in many containers, and Node throws. */
const ownHome = (): string => {
  try {
    return homedir()
  } catch {
    return ''
  }
}

/**
 * The home of this user, who may have none.
 *
 * @param own home, empty where there is none; then it is a folder below `temporary`
 */
export const homeFolder = (own = ownHome(), temporary = tmpdir()): string => own || temporaryHome(temporary)

/** The folder in which firmlake keeps what belongs to this machine and user alone. */
export const workBase = (env: NodeJS.ProcessEnv, home = homeFolder): string =>
  env.FIRMLAKE_WORK_DIR || join(env.XDG_CACHE_HOME || join(home(), '.cache'), 'firmlake')

export const STICKY = 0o1000

/**
 * Whether nobody else can put files into a folder, or another folder into its place: those above it are this user's or
 * root's, too. What stands there is trusted, and some of it is run.
 *
 * @throws what the file system throws
 */
export const isPrivateFolder = (folder: string): boolean => {
  const [user, group] = [process.getuid?.(), process.getgid?.()]
  if (user === undefined) return true
  const real = realpathSync(folder)
  const { uid, mode } = statSync(real)
  if (uid !== user || (mode & 0o022) !== 0) return false
  for (let at = dirname(real); ; at = dirname(at)) {
    const above = statSync(at)
    const isOpen = (above.mode & 0o002) !== 0 || ((above.mode & 0o020) !== 0 && above.gid !== group)
    if ((above.uid !== user && above.uid !== 0) || (isOpen && (above.mode & STICKY) === 0)) return false
    if (at === dirname(at)) return true
  }
}
