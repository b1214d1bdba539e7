/** Keeps the tests of the project `unit` to themselves: who starts a process, or a server, or connects, fails. */

import processes, { ChildProcess } from 'node:child_process'
import { syncBuiltinESMExports } from 'node:module'
import { Server, Socket } from 'node:net'

export interface Guard {
  /** What was tried since it was last asked. */
  readonly tried: () => string[]
  readonly lift: () => void
}

/** From now on each attempt throws, and is kept for those that swallow the error. */
export const forbidOutside = (): Guard => {
  let tried: string[] = []
  const lifts: (() => void)[] = []
  const forbid = (holder: object, name: string, what: string): void => {
    const before = Object.getOwnPropertyDescriptor(holder, name)
    const refuse = (): never => {
      tried.push(what)
      throw new Error(`Cannot ${what}: a unit test has nothing but its own process; see test/projects.ts`)
    }
    Object.defineProperty(holder, name, { value: refuse, configurable: true, writable: true })
    if (before !== undefined) lifts.push(() => Object.defineProperty(holder, name, before))
  }
  forbid(ChildProcess.prototype, 'spawn', 'start a process')
  for (const name of ['spawnSync', 'execSync', 'execFileSync'] as const)
    forbid(processes, name, 'start a process')
  forbid(Server.prototype, 'listen', 'start a server')
  forbid(Socket.prototype, 'connect', 'connect')
  syncBuiltinESMExports()
  return {
    tried: () => {
      const all = tried
      tried = []
      return all
    },
    lift: () => {
      for (const lift of lifts) lift()
      syncBuiltinESMExports()
    },
  }
}
