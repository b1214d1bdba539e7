#!/usr/bin/env node
/**
 * The entry of the command line. Enables Node's compile cache and imports all else after that: what is imported before
 * is stripped and compiled at every start.
 */

import { existsSync, mkdirSync } from 'node:fs'
import { enableCompileCache } from 'node:module'
import { dirname, join } from 'node:path'
import { isPrivateFolder, workBase } from '../support/work-base.ts'

/**
 * Makes a folder, and where they are missing two above it, such as `~/.cache/firmlake`: never a home. Node's own
 * `recursive` does not end where a folder takes none, as `/proc`.
 */
const makeFolder = (folder: string, above = 2): void => {
  if (existsSync(folder)) return
  if (above > 0) makeFolder(dirname(folder), above - 1)
  mkdirSync(folder)
}

// DuckDB makes its files by the umask. What a shared folder grants is granted on purpose, and not to everybody meanwhile.
process.umask(process.umask() | 0o077)
try {
  const folder = join(workBase(process.env), 'compiled')
  makeFolder(folder)
  if (isPrivateFolder(folder)) enableCompileCache(folder)
} catch {
  // No home, or a read-only one: the start is slower, and that is all.
}
await import('./run-command.ts')
