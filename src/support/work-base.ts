/** The folder of this user on this machine. The entry of the command line loads it before its compile cache: it stays small. */

import { homedir } from 'node:os'
import { join } from 'node:path'

/** Where firmlake keeps what belongs to this machine and user alone. */
export const workBase = (env: NodeJS.ProcessEnv): string =>
  env.FIRMLAKE_WORK_DIR || join(env.XDG_CACHE_HOME || join(homedir(), '.cache'), 'firmlake')
