/** Steps of a run in processes of their own, which are killed, stopped and continued at any moment. */

import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { setTimeout as pause } from 'node:timers/promises'
import { MAIN } from '../support/run-command.ts'
import type { Environment } from '../support/s3-server.ts'

/** How a process ended: its exit code, or the signal that ended it. */
export interface StepEnd {
  readonly end: number | NodeJS.Signals
  readonly stdout: string
  readonly stderr: string
}

export class Step {
  readonly name: string
  readonly ended: Promise<StepEnd>
  readonly #child: ChildProcess

  constructor(name: string, args: readonly string[], cwd: string, environment: Environment) {
    this.name = name
    const env = { ...process.env, ...environment, NODE_NO_WARNINGS: '1' }
    this.#child = spawn(process.execPath, [MAIN, ...args], { cwd, env, stdio: ['ignore', 'pipe', 'pipe'] })
    this.ended = this.#end()
  }

  async #end(): Promise<StepEnd> {
    let [stdout, stderr] = ['', '']
    this.#child.stdout?.setEncoding('utf8').on('data', (text: string) => {
      stdout += text
    })
    this.#child.stderr?.setEncoding('utf8').on('data', (text: string) => {
      stderr += text
    })
    const [code, signal] = (await once(this.#child, 'close')) as [number | null, NodeJS.Signals | null]
    return { end: code ?? signal ?? 'SIGKILL', stdout, stderr }
  }

  get isOver(): boolean {
    return this.#child.exitCode !== null || this.#child.signalCode !== null
  }

  signal(signal: NodeJS.Signals): void {
    if (!this.isOver) this.#child.kill(signal)
  }

  /** Sends a signal after a time. @returns whether it ran until then */
  async signalAfter(signal: NodeJS.Signals, ms: number): Promise<boolean> {
    await Promise.race([pause(ms), this.ended])
    if (this.isOver) return false
    this.signal(signal)
    return true
  }
}

/** How long steps take that nobody disturbs: moments are chosen by it. */
export class UsualTimes {
  readonly #ms = new Map<string, number>()

  of(kind: string): number {
    return this.#ms.get(kind) ?? 2500
  }

  learn(kind: string, ms: number): void {
    const before = this.#ms.get(kind)
    this.#ms.set(kind, before === undefined ? ms : 0.7 * before + 0.3 * ms)
  }
}
