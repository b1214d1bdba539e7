#!/usr/bin/env node
/**
 * The entry of the command line. Looks at the version of Node before it imports anything, since an older one fails at what the
 * others import, with words that name neither. Answers who asks for the version alone. Then enables Node's compile cache and imports
 * all else: what is imported before is stripped and compiled at every start.
 */

/** The first release that runs the rest; what a later one lacks, such as a safe Brotli decoder, the rest says. */
const [MIN_MAJOR, MIN_MINOR] = [22, 19]

/** `engines` of package.json, in words. */
const NEEDED = 'Node 22.23.4, 24.22.1, 26.12.1 or a later release of these'

const isTooOld = (version: string): boolean => {
  const [major = 0, minor = 0] = version.split('.').map(Number)
  return major < MIN_MAJOR || (major === MIN_MAJOR && minor < MIN_MINOR)
}

/** Ways in which people ask for the version. */
const VERSION_WORDS = /^(-v|-V|--version|version)$/

const printVersion = async (): Promise<void> => {
  const { VERSION } = await import('../support/own-package.ts')
  console.log(VERSION)
}

const start = async (args: readonly string[]): Promise<void> => {
  // Node reads each name of what is imported of its own: of `node:fs` that loads all streams.
  const { existsSync, mkdirSync } = process.getBuiltinModule('node:fs')
  const { enableCompileCache } = process.getBuiltinModule('node:module')
  const { dirname, join } = process.getBuiltinModule('node:path')
  const { isPrivateFolder, workBase } = await import('../support/work-base.ts')

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
  const { runProcess } = await import('./run-command.ts')
  await runProcess(args)
}

if (isTooOld(process.versions.node)) {
  console.error(`firmlake needs ${NEEDED}; this is ${process.version}, in "${process.execPath}"`)
  process.exitCode = 2
} else {
  const args = process.argv.slice(2)
  await (VERSION_WORDS.test(args[0] ?? '') ? printVersion() : start(args))
}

// Makes it a module, which has no import that would.
export {}
