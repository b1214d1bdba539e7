/** A process in which pieces of work are disturbed. */

import { type ChildProcessByStdio, spawn } from 'node:child_process'
import { once } from 'node:events'
import { createInterface } from 'node:readline'
import type { Readable, Writable } from 'node:stream'
import { fileURLToPath } from 'node:url'
import { disarmFaults, type FailingWrites, openFailingWrites } from '../support/failing-writes.ts'
import type { WriteOutcome, WriteTask } from './child-writes.ts'

const CHILD = fileURLToPath(new URL('child-writes.ts', import.meta.url))
const LONGEST_CASE_MS = 120_000

export class DisturbedChild {
  readonly #process: ChildProcessByStdio<Writable, Readable, null>
  readonly #lines: AsyncIterator<string>
  readonly #faults: FailingWrites
  #ready: Promise<unknown> | undefined

  constructor() {
    const faults = openFailingWrites()
    if ('missing' in faults) throw new Error(faults.missing)
    this.#faults = faults
    this.#process = spawn(process.execPath, [CHILD, faults.control], {
      env: { ...process.env, ...faults.env },
      stdio: ['pipe', 'pipe', 'inherit'],
    })
    this.#process.stdin.on('error', () => undefined)
    this.#lines = createInterface({ input: this.#process.stdout })[Symbol.asyncIterator]()
  }

  /** Does one piece of work. @param killMs it is killed after so long; then, as when it ends itself, no more can be done */
  async run(task: WriteTask, killMs = LONGEST_CASE_MS): Promise<WriteOutcome> {
    await this.ready()
    const late = setTimeout(() => this.#process.kill('SIGKILL'), killMs)
    this.#process.stdin.write(`${JSON.stringify(task)}\n`)
    const line = await this.#lines.next()
    clearTimeout(late)
    if (line.done)
      return { ...disarmFaults(this.#faults.control), code: 'ENDED', message: 'its process ended' }
    return JSON.parse(line.value)
  }

  /** Waits until it has loaded what it works with. */
  async ready(): Promise<void> {
    this.#ready ??= this.#lines.next()
    await this.#ready
  }

  async end(): Promise<void> {
    this.#process.stdin.end()
    const { exitCode, signalCode } = this.#process
    if (exitCode === null && signalCode === null) await once(this.#process, 'exit')
    this.#faults.remove()
  }
}
