/** The folder of this user on this machine. The entry of the command line loads it before its compile cache: it stays small. */

import { realpathSync, statSync } from 'node:fs'
import { homedir } from 'node:os'
import { dirname, join } from 'node:path'

/** Where firmlake keeps what belongs to this machine and user alone. */
export const workBase = (env: NodeJS.ProcessEnv): string =>
  env.FIRMLAKE_WORK_DIR || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'firmlake')

const STICKY = 0o1000

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
