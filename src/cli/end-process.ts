/** Ends the process while DuckDB works: `process.exit` waits for the threads of Node's pool, and so for whatever runs in them. */

/** @param code exit code */
export const endNow = (code: number | string | null | undefined): never => {
  process.exitCode = code ?? 0
  const { execPath, execve } = process
  try {
    // Another program takes the place of this one, with all its threads, and ends with its exit code.
    execve?.(execPath, [execPath, '-e', `process.exit(${Number(process.exitCode)})`], {})
  } catch {
    // Not on every system.
  }
  process.kill(process.pid, 'SIGKILL')
  return process.exit()
}
